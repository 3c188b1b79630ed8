package timers

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/order"
)

// timerOf is the timer whose first field n is.
func timerOf(n *order.Node) *Timer { return (*Timer)(unsafe.Pointer(n)) }
