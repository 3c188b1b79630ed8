//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"golang.org/x/sys/unix"
)

// newTimerfd makes a timerfd_create(2); nil when there is no memory.
func newTimerfd(clock int32, flags uint32) *File {
	x := newFile(abi.KindTimerfd, flags&^unix.O_ACCMODE|unix.O_RDWR)
	if x != nil {
		x.clock = clock
		x.ready = &x.own
		x.timer.Kind = timerFile
	}
	return x
}

// timerfdExpired is the end of a timerfd's timer.
func timerfdExpired(c *CPU, x *File) {
	x.count++
	if x.every != 0 {
		next, now := x.timer.Deadline()+x.every, nowNS()
		if next <= now {
			missed := (now-next)/x.every + 1
			x.count += missed
			next += missed * x.every
		}
		addTimer(c, &x.timer, next)
	}
	post(c, x.ready, ready.In, 0)
}

func readTimerfd(c *CPU, t *Thread, x *File, addr, n uint64) {
	switch {
	case n < 8:
		t.AX = eINVAL
	case x.count != 0:
		if !write64(c, addr, x.count) {
			t.AX = eFAULT
			return
		}
		x.count = 0
		x.own.Bits = 0
		t.AX = 8
	case x.nonblock():
		t.AX = eAGAIN
	default:
		waitReady(c, t, x.ready, ready.In, 0, eRESTARTSYS)
	}
}

// left is how long a timerfd has to go, in ns, 0 when it is not armed.
func (x *File) left() uint64 {
	if !x.timer.Armed() {
		return 0
	}
	now := nowNS()
	if d := x.timer.Deadline(); d > now {
		return d - now
	}
	return 1
}

func timerfd(t *Thread) (*File, uint64) {
	x := t.file(t.DI)
	switch {
	case x == nil:
		return nil, eBADF
	case x.Kind != abi.KindTimerfd:
		return nil, eINVAL
	}
	return x, 0
}

// sysTimerfdSettime: timerfd_settime(2).
func sysTimerfdSettime(c *CPU, t *Thread) {
	if t.SI&^3 != 0 {
		t.AX = eINVAL
		return
	}
	every, e := readTimespec(c, t.DX)
	var value uint64
	if e == 0 {
		value, e = readTimespec(c, t.DX+16)
	}
	if e != 0 {
		t.AX = e
		return
	}
	x, e := timerfd(t)
	if e != 0 {
		t.AX = e
		return
	}
	if t.R10 != 0 && (!writeTimespec(c, t.R10, x.every) || !writeTimespec(c, t.R10+16, x.left())) {
		t.AX = eFAULT
		return
	}
	delTimer(&x.timer)
	x.every, x.count, x.own.Bits = every, 0, 0
	if value != 0 {
		switch {
		case t.SI&1 == 0:
			value = later(nowNS(), value)
		case x.clock == unix.CLOCK_REALTIME || x.clock == unix.CLOCK_REALTIME_ALARM:
			value = fromRealtime(value)
		}
		addTimer(c, &x.timer, value)
	}
	t.AX = 0
}

// sysTimerfdGettime: timerfd_gettime(2).
func sysTimerfdGettime(c *CPU, t *Thread) {
	x, e := timerfd(t)
	if e != 0 {
		t.AX = e
		return
	}
	t.AX = 0
	if !writeTimespec(c, t.SI, x.every) || !writeTimespec(c, t.SI+16, x.left()) {
		t.AX = eFAULT
	}
}
