//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/runq"
	"github.com/leveret-os/leveret/kernel/core/space"
	"github.com/leveret-os/leveret/kernel/core/timers"
)

// CPU is the state of one processor. The GS base points at it in core;
// offsets up to flush are in offsets.h.
type CPU struct {
	cur          *Thread
	stack        uint64 // top of the kernel stack
	scratch      uint64
	g            uint64
	tss          uint64
	self         uint64
	flush        uint64 // a TLB flush is asked of this CPU
	curAS        *AddressSpace
	idleT        *Thread
	fpDirty      bool   // x87 or upper halves of vector registers are not in their initial state
	armed        uint64 // when the timer will interrupt
	since        uint64 // when cur was last charged for its time
	switches     uint64
	preempted    bool // another thread should run: no need to look
	apic, number uint64
	nmis         uint64
	mm           space.Local
	faultFrame   [192]byte // of a fault in user_amd64.s
	faultIP      uint64    // where the last page fault was
	timers       timers.Queue
	run          runq.Queue
}

const (
	_ = uint(areaStacks - areaCPU - unsafe.Sizeof(CPU{}))
	_ = -(unsafe.Offsetof(CPU{}.faultFrame) & 15) // aligned as the processor aligns it
)

// panicStackSize is PANIC_STACK of offsets.h.
const panicStackSize = 16384

var (
	lock       uint64 // the big lock, taken by the entry assembly
	panicG     [8]uint64
	panicStack [panicStackSize]byte

	// Entry code calls through these: a direct call from assembly would go by
	// an ABI0 wrapper.
	bootFn    = boot
	trapFn    = trap
	syscallFn = syscall
	panicFn   = panicked

	crashFn    = brokenCore
	paranoidFn = paranoid
	apFn       = apMain

	receiveAddr uint64
	coreText    uint64 // bounds of core's image
	coreEnd     uint64
)
