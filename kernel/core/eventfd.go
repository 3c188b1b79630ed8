//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"golang.org/x/sys/unix"
)

const maxEvent = ^uint64(0) - 1

// newEventfd makes an eventfd(2); nil when there is no memory.
func newEventfd(count uint64, flags uint32) *File {
	x := newFile(abi.KindEventfd, flags&^unix.O_ACCMODE|unix.O_RDWR)
	if x != nil {
		x.count = count
		x.clock = int32(flags & efdSemaphore)
		x.ready = &x.own
		x.own.Bits = eventBits(count)
	}
	return x
}

func eventBits(count uint64) uint32 {
	bits := uint32(0)
	if count != 0 {
		bits |= ready.In
	}
	if count < maxEvent {
		bits |= ready.Out
	}
	return bits
}

// efdSemaphore is EFD_SEMAPHORE, kept in File.clock, which an eventfd has no other
// use for.
const efdSemaphore = 1

func readEventfd(c *CPU, t *Thread, x *File, addr, n uint64) {
	if n < 8 {
		t.AX = eINVAL
		return
	}
	if x.count == 0 {
		if x.nonblock() {
			t.AX = eAGAIN
			return
		}
		waitReady(c, t, x.ready, ready.In, 0, eRESTARTSYS)
		return
	}
	v := x.count
	if x.clock&efdSemaphore != 0 {
		v = 1
	}
	if !write64(c, addr, v) {
		t.AX = eFAULT
		return
	}
	x.count -= v
	t.AX = 8
	post(c, x.ready, eventBits(x.count)&ready.Out, ready.In)
	x.own.Bits = eventBits(x.count)
}

func writeEventfd(c *CPU, t *Thread, x *File, addr, n uint64) {
	if n < 8 {
		t.AX = eINVAL
		return
	}
	v, ok := read64(c, addr)
	switch {
	case !ok:
		t.AX = eFAULT
	case v == ^uint64(0):
		t.AX = eINVAL
	case v <= maxEvent-x.count:
		x.count += v
		t.AX = 8
		x.own.Bits = eventBits(x.count)
		post(c, x.ready, x.own.Bits&ready.In, 0)
	case x.nonblock():
		t.AX = eAGAIN
	default:
		waitReady(c, t, x.ready, ready.Out, 0, eRESTARTSYS)
	}
}

// sysEventfd2: eventfd2(2).
func sysEventfd2(c *CPU, t *Thread) {
	if !t.ring0() {
		forward(c, t)
		return
	}
	ownFile(c, t, newEventfd(uint64(uint32(t.DI)), uint32(t.SI)))
}
