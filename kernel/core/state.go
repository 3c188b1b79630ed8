//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/space"

// CPU is the state of one processor. The GS base points at it in core;
// offsets up to flush are in offsets.h.
type CPU struct {
	cur             *Thread
	stack           uint64 // top of the kernel stack
	scratch         uint64
	g               uint64
	tss             uint64
	self            uint64
	flush           uint64 // a TLB flush is asked of this CPU
	curAS           *AddressSpace
	idleT           *Thread
	armed, sliceEnd uint64
	x87Dirty        bool
	poked           bool
	apic, number    uint64
	nmis            uint64
	mm              space.Local
}

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
	recvFn    = recv

	crashFn    = brokenCore
	paranoidFn = paranoid
	apFn       = apMain

	recvAddr uint64
	coreText uint64 // bounds of core's image
	coreEnd  uint64
)
