//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"github.com/leveret-os/leveret/kernel/core/slab"
	"golang.org/x/sys/unix"
)

var epollItems slab.Pool[ready.Item]

// newEpoll makes an epoll instance; nil when there is no memory.
func newEpoll(flags uint32) *File {
	x := newFile(abi.KindEpoll, flags&^unix.O_ACCMODE|unix.O_RDWR)
	if x != nil {
		x.set.Init()
		x.ready = &x.set.Object
	}
	return x
}

// sysEpollCreate1: epoll_create1(2).
func sysEpollCreate1(c *CPU, t *Thread) {
	if !t.ring0() {
		forward(c, t)
		return
	}
	ownFile(c, t, newEpoll(0))
}

// maxEpollItems is how many registrations there may be: they take 1/25 of
// memory at most (max_user_watches, epoll(7)).
func maxEpollItems() uint64 {
	return memory.Total() * pageSize / 25 / uint64(unsafe.Sizeof(ready.Item{}))
}

// epollEvent is struct epoll_event, which is packed.
type epollEvent struct {
	events, lo, hi uint32
}

// sysEpollCtl: epoll_ctl(2).
func sysEpollCtl(c *CPU, t *Thread) {
	var ev epollEvent
	op := uint32(t.SI)
	if op != unix.EPOLL_CTL_DEL && !copyIn(c, unsafe.Pointer(&ev), t.R10, 12) {
		t.AX = eFAULT
		return
	}
	e, x := t.file(t.DI), t.file(t.DX)
	switch {
	case e == nil || x == nil:
		t.AX = eBADF
		return
	case x.ready == nil:
		t.AX = ePERM
		return
	case e == x || e.Kind != abi.KindEpoll:
		t.AX = eINVAL
		return
	}
	fd := uint64(uint32(t.DX))
	data := uint64(ev.lo) | uint64(ev.hi)<<32
	it := e.set.Find(fd, uintptr(unsafe.Pointer(x)))
	var woken ready.Chain
	t.AX = 0
	switch op {
	case unix.EPOLL_CTL_ADD:
		if ev.events&ready.Exclusive != 0 && (x.Kind == abi.KindEpoll || ev.events&^uint32(ready.Exclusive|ready.Edge|ready.WakeUp|ready.In|ready.Out|ready.Always) != 0) {
			t.AX = eINVAL
			return
		}
		if it != nil {
			t.AX = eEXIST
			return
		}
		if x.Kind == abi.KindEpoll && x.set.Reaches(&e.set, e.set.Depth()) {
			t.AX = eLOOP
			return
		}
		if epollItems.Used() >= maxEpollItems() && !t.ring0() { // the runtime of services cannot do without
			t.AX = eNOSPC
			return
		}
		if it = epollItems.Get(); it == nil {
			t.AX = eNOMEM
			return
		}
		it.File, it.Events, it.Data = uintptr(unsafe.Pointer(x)), ev.events, data
		e.set.Add(it, fd, x.ready, &woken)
	case unix.EPOLL_CTL_MOD:
		if it == nil {
			t.AX = eNOENT
			return
		}
		if (ev.events|it.Events)&ready.Exclusive != 0 {
			t.AX = eINVAL
			return
		}
		e.set.Modify(it, ev.events, data, &woken)
	case unix.EPOLL_CTL_DEL:
		if it == nil {
			t.AX = eNOENT
			return
		}
		e.set.Delete(it)
		epollItems.Put(it)
	default:
		t.AX = eINVAL
		return
	}
	wakeChain(c, &woken)
}

// sysEpollWait: epoll_wait(2).
func sysEpollWait(c *CPU, t *Thread) {
	epollWait(c, t, millisecondDeadline(t, int32(t.R10)))
}

// sysEpollPwait: epoll_pwait(2).
func sysEpollPwait(c *CPU, t *Thread) {
	if !pollMask(c, t, t.R8, t.R9) {
		return
	}
	epollWait(c, t, millisecondDeadline(t, int32(t.R10)))
	endPollMask(c, t)
}

// sysEpollPwait2: epoll_pwait2(2).
func sysEpollPwait2(c *CPU, t *Thread) {
	deadline := uint64(0)
	if t.R10 != 0 {
		ns, e := readTimespec(c, t.R10)
		if e != 0 {
			t.AX = e
			return
		}
		deadline = t.timespecDeadline(ns)
	}
	if !pollMask(c, t, t.R8, t.R9) {
		return
	}
	epollWait(c, t, deadline)
	endPollMask(c, t)
}

// noWait is the deadline of a call that only looks.
const noWait = 1

// millisecondDeadline is the deadline that a timeout of poll(2) means: 0 for
// none, noWait for a look.
func millisecondDeadline(t *Thread, ms int32) uint64 {
	switch {
	case ms < 0:
		return 0
	case ms == 0:
		return noWait
	case t.retry:
		return t.deadline
	}
	return later(nowNS(), uint64(ms)*1000000)
}

func (t *Thread) timespecDeadline(ns uint64) uint64 {
	switch {
	case ns == 0:
		return noWait
	case t.retry:
		return t.deadline
	}
	return later(nowNS(), ns)
}

// pollMask applies the signal mask of ppoll and its like, false on an error.
func pollMask(c *CPU, t *Thread, addr, size uint64) bool {
	if addr == 0 || t.retry && t.restore {
		return true
	}
	if size != 8 {
		t.AX = eINVAL
		return false
	}
	mask, ok := read64(c, addr)
	if !ok {
		t.AX = eFAULT
		return false
	}
	temporaryMask(t, mask)
	return true
}

// endPollMask puts the mask back when the call is over without a signal.
func endPollMask(c *CPU, t *Thread) {
	if t.restore && c.cur == t && t.state == stateRun && t.work&workSignal == 0 {
		t.restore = false
		setMask(t, t.saved)
	}
}

func epollWait(c *CPU, t *Thread, deadline uint64) {
	n := int32(t.DX)
	if n <= 0 || n > 1<<31/12 {
		t.AX = eINVAL
		return
	}
	if badRange(t, t.SI, uint64(n)*12) {
		t.AX = eFAULT
		return
	}
	e := t.file(t.DI)
	switch {
	case e == nil:
		t.AX = eBADF
		return
	case e.Kind != abi.KindEpoll:
		t.AX = eINVAL
		return
	}
	told := uint64(0)
	for left := e.set.Ready(); left > 0 && told < uint64(n); left-- {
		it, bits := e.set.Pop()
		if it == nil {
			break
		}
		if bits == 0 {
			continue
		}
		ev := epollEvent{bits, uint32(it.Data), uint32(it.Data >> 32)}
		if !copyOut(c, t.SI+told*12, unsafe.Pointer(&ev), 12) {
			e.set.Keep(it)
			if told == 0 {
				t.AX = eFAULT
				return
			}
			break
		}
		e.set.Report(it)
		told++
	}
	t.AX = told
	if told != 0 || deadline == noWait || t.timedOut {
		return
	}
	waitReady(c, t, e.ready, ready.In, deadline, eINTR)
}
