package ready

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/order"
)

// itemOf is the item whose first field n is.
func itemOf(n *order.Node) *Item { return (*Item)(unsafe.Pointer(n)) }
