//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// Thread: offsets up to how are known to entry_amd64.s.
type Thread struct {
	frame                            abi.Frame
	x14, x15                         [2]uint64
	fx                               [64]uint64
	how                              uint64 // 0 iret, 1 syscall, 2 recv
	fp                               uint64 // 0 dead (ring-0 recv), 1 XMM in fx and x87 riding in the CPU, 2 all in fx
	as                               *AddressSpace
	fs                               uint64
	tid, pid                         uint64
	next                             *Thread // run queue / wait queue / idle handlers
	client                           *Thread
	clearTid                         uint64
	fkey, fuaddr                     uint64
	fas                              *AddressSpace
	deadline                         uint64
	tnext                            *Thread
	sleeping                         bool // on the timer list
	blocked                          uint64
	sigmask, pending, altsp, altsize uint64
	idle                             bool
	all                              *Thread
	step                             stepState
}

func newThread(c *CPU, as *AddressSpace, ring0 bool) *Thread {
	t := (*Thread)(ptr(directMap + allocZero()))
	t.as = as
	t.frame.CS, t.frame.SS = uCS, uSS
	if ring0 {
		t.frame.CS, t.frame.SS = kCS, kSS
	}
	t.frame.Flags = 0x202
	t.tid = nextTid
	t.pid = t.tid
	nextTid++
	t.fx[0] = 0x37f  // FCW
	t.fx[3] = 0x1f80 // MXCSR (byte 24)
	t.fp = 3
	t.all = allT
	allT = t
	return t
}

func taddr(t *Thread) uint64 { return uint64(uintptr(unsafe.Pointer(t))) }

func fxaddr(t *Thread) uint64 {
	return uint64(uintptr(unsafe.Pointer(&t.fx)))
}

func findThread(tid uint64) *Thread {
	for t := allT; t != nil; t = t.all {
		if t.tid == tid {
			return t
		}
	}
	return nil
}

func sysClone(c *CPU, t *Thread) {
	if t.frame.DI&0x100 == 0 {
		t.frame.AX = neg(38)
		return
	}
	n := newThread(c, t.as, t.frame.CS == kCS)
	n.pid = t.pid
	n.frame.R15, n.frame.R14, n.frame.R13, n.frame.R12, n.frame.BP, n.frame.BX = t.frame.R15, t.frame.R14, t.frame.R13, t.frame.R12, t.frame.BP, t.frame.BX
	n.frame.R10, n.frame.R9, n.frame.R8, n.frame.DX, n.frame.SI, n.frame.DI = t.frame.R10, t.frame.R9, t.frame.R8, t.frame.DX, t.frame.SI, t.frame.DI
	n.frame.IP, n.frame.Flags, n.frame.SP = t.frame.IP, t.frame.Flags, t.frame.SP
	if t.frame.SI != 0 {
		n.frame.SP = t.frame.SI
	}
	n.frame.AX = 0
	n.how = 1
	n.sigmask = t.sigmask
	n.fs = x86.ReadFS()
	if t.frame.DI&0x80000 != 0 {
		n.fs = t.frame.R8
	}
	if t.frame.DI&0x100000 != 0 {
		t.as.put32(c, t.frame.DX, uint32(n.tid))
	}
	if t.frame.DI&0x1000000 != 0 {
		t.as.put32(c, t.frame.R10, uint32(n.tid))
	}
	if t.frame.DI&0x200000 != 0 {
		n.clearTid = t.frame.R10
	}
	t.frame.AX = n.tid
	enqueue(c, n)
}

func exitThread(c *CPU, t *Thread) {
	if t.clearTid != 0 && t.as != nil {
		t.as.put32(c, t.clearTid, 0)
		futexWake(c, t.as, t.clearTid, 1)
	}
	for p := &allT; *p != nil; p = &(*p).all {
		if *p == t {
			*p = t.all
			break
		}
	}
	t.how = 2 // nothing to save
	schedule(c)
	freeFrame(taddr(t) - directMap)
}
