package runq

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/order"
)

// entityOf is the entity whose first field n is.
func entityOf(n *order.Node) *Entity { return (*Entity)(unsafe.Pointer(n)) }
