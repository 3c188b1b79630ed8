//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/slab"
	"golang.org/x/sys/unix"
)

// alarmExpired is the end of an ITIMER_REAL.
func alarmExpired(c *CPU, p *Process) {
	if p.alarmEvery != 0 {
		addTimer(c, &p.alarm, later(p.alarm.Deadline(), p.alarmEvery))
	}
	send(c, p, nil, uint64(unix.SIGALRM), siKern, nil)
}

// alarmLeft is how long p's alarm has to go, in ns, 0 when there is none.
func alarmLeft(p *Process) uint64 {
	if !p.alarm.Armed() {
		return 0
	}
	now := nowNS()
	if d := p.alarm.Deadline(); d > now {
		return d - now
	}
	return 1
}

func setAlarm(c *CPU, p *Process, value, every uint64) {
	p.alarmEvery = every
	if value == 0 {
		delTimer(&p.alarm)
		return
	}
	addTimer(c, &p.alarm, later(nowNS(), value))
}

// sysAlarm: alarm(2).
func sysAlarm(c *CPU, t *Thread) {
	p := t.process
	left := alarmLeft(p)
	setAlarm(c, p, uint64(uint32(t.DI))*second, 0)
	t.AX = (left + second - 1) / second
}

// sysGetitimer: getitimer(2). Only ITIMER_REAL ever runs.
func sysGetitimer(c *CPU, t *Thread) {
	if uint32(t.DI) > 2 {
		t.AX = eINVAL
		return
	}
	var value, every uint64
	if t.DI == 0 {
		value, every = alarmLeft(t.process), t.process.alarmEvery
	}
	t.AX = 0
	if !writeTimeval(c, t.SI, every) || !writeTimeval(c, t.SI+16, value) {
		t.AX = eFAULT
	}
}

// sysSetitimer: setitimer(2).
func sysSetitimer(c *CPU, t *Thread) {
	if uint32(t.DI) > 2 {
		t.AX = eINVAL
		return
	}
	p := t.process
	var value, every uint64
	if t.SI != 0 {
		var e uint64
		if every, e = readTimeval(c, t.SI); e == 0 {
			value, e = readTimeval(c, t.SI+16)
		}
		if e != 0 {
			t.AX = e
			return
		}
	}
	if t.DX != 0 {
		var left, again uint64
		if t.DI == 0 {
			left, again = alarmLeft(p), p.alarmEvery
		}
		if !writeTimeval(c, t.DX, again) || !writeTimeval(c, t.DX+16, left) {
			t.AX = eFAULT
			return
		}
	}
	if t.DI == 0 {
		setAlarm(c, p, value, every)
	} else if value != 0 {
		t.AX = eINVAL // no clock of virtual time
		return
	}
	t.AX = 0
}

// posixTimer is a timer of timer_create(2).
type posixTimer struct {
	timer   Timer
	next    *posixTimer
	process *Process
	thread  uint32 // SIGEV_THREAD_ID
	id      int32
	clock   int32
	notify  int32
	signal  uint64
	value   uint64 // sigev_value
	every   uint64 // ns
	overrun int32
}

var posixTimers slab.Pool[posixTimer]

const maxPosixTimers = 1024

func findPosix(p *Process, id int32) *posixTimer {
	for x := p.timerList; x != nil; x = x.next {
		if x.id == id {
			return x
		}
	}
	return nil
}

const (
	sigevSignal   = 0
	sigevNone     = 1
	sigevThreadID = 4
)

// sysTimerCreate: timer_create(2).
func sysTimerCreate(c *CPU, t *Thread) {
	p := t.process
	clock := int32(t.DI)
	if _, ok := readClock(t, clock); !ok {
		t.AX = eINVAL
		return
	}
	if clock == unix.CLOCK_PROCESS_CPUTIME_ID || clock == unix.CLOCK_THREAD_CPUTIME_ID || clock < 0 {
		t.AX = eOPNOTSUPP
		return
	}
	ev := [8]uint64{0, uint64(unix.SIGALRM)}
	if t.SI != 0 && !copyIn(c, unsafe.Pointer(&ev), t.SI, 64) {
		t.AX = eFAULT
		return
	}
	sig, notify := uint64(uint32(ev[1])), int32(ev[1]>>32)
	tid := uint32(ev[2])
	if notify != sigevNone && (sig == 0 || sig > 64) || notify != sigevNone && notify != sigevSignal && notify != sigevThreadID {
		t.AX = eINVAL
		return
	}
	if notify == sigevThreadID {
		if o := findThread(tid); o == nil || o.process != p {
			t.AX = eINVAL
			return
		}
	}
	if p.timerCount() >= maxPosixTimers {
		t.AX = eAGAIN
		return
	}
	x := posixTimers.Get()
	if x == nil {
		t.AX = eAGAIN
		return
	}
	x.timer.Kind = timerPosix
	x.process, x.id, x.clock = p, p.timerNext, clock
	x.notify, x.signal, x.value = notify, sig, ev[0]
	if notify == sigevThreadID {
		x.thread = tid
	}
	if t.SI == 0 {
		x.value = uint64(x.id)
	}
	if !write32(c, t.DX, uint32(x.id)) {
		posixTimers.Put(x)
		t.AX = eFAULT
		return
	}
	p.timerNext++
	x.next, p.timerList = p.timerList, x
	t.AX = 0
}

func (p *Process) timerCount() (n int) {
	for x := p.timerList; x != nil; x = x.next {
		n++
	}
	return n
}

// posixExpired is the end of a POSIX timer.
func posixExpired(c *CPU, x *posixTimer) {
	if x.every != 0 {
		next := x.timer.Deadline() + x.every
		now := nowNS()
		missed := uint64(0)
		if next <= now {
			missed = (now-next)/x.every + 1
			next += missed * x.every
		}
		x.overrun = int32(min(missed, 1<<31-1))
		addTimer(c, &x.timer, next)
	}
	if x.notify == sigevNone {
		return
	}
	var fields [14]uint64
	fields[0] = uint64(uint32(x.id)) | uint64(uint32(x.overrun))<<32
	fields[1] = x.value
	var o *Thread
	if x.thread != 0 {
		if o = findThread(x.thread); o == nil || o.process != x.process {
			return
		}
	}
	send(c, x.process, o, x.signal, siTimer, &fields)
}

// left is how long x has to go, in ns, 0 when it is not armed.
func (x *posixTimer) left() uint64 {
	if !x.timer.Armed() {
		return 0
	}
	now := nowNS()
	if d := x.timer.Deadline(); d > now {
		return d - now
	}
	return 1
}

// sysTimerSettime: timer_settime(2).
func sysTimerSettime(c *CPU, t *Thread) {
	every, e := readTimespec(c, t.DX)
	var value uint64
	if e == 0 {
		value, e = readTimespec(c, t.DX+16)
	}
	x := findPosix(t.process, int32(t.DI))
	switch {
	case e != 0:
		t.AX = e
		return
	case x == nil:
		t.AX = eINVAL
		return
	}
	if t.R10 != 0 && (!writeTimespec(c, t.R10, x.every) || !writeTimespec(c, t.R10+16, x.left())) {
		t.AX = eFAULT
		return
	}
	delTimer(&x.timer)
	x.every, x.overrun = every, 0
	if value != 0 {
		switch {
		case t.SI&1 == 0:
			value = later(nowNS(), value)
		case x.clock == unix.CLOCK_REALTIME || x.clock == unix.CLOCK_TAI:
			value = fromRealtime(value)
		}
		addTimer(c, &x.timer, value)
	}
	t.AX = 0
}

// sysTimerGettime: timer_gettime(2).
func sysTimerGettime(c *CPU, t *Thread) {
	x := findPosix(t.process, int32(t.DI))
	if x == nil {
		t.AX = eINVAL
		return
	}
	t.AX = 0
	if !writeTimespec(c, t.SI, x.every) || !writeTimespec(c, t.SI+16, x.left()) {
		t.AX = eFAULT
	}
}

// sysTimerGetoverrun: timer_getoverrun(2).
func sysTimerGetoverrun(c *CPU, t *Thread) {
	x := findPosix(t.process, int32(t.DI))
	if x == nil {
		t.AX = eINVAL
		return
	}
	t.AX = uint64(x.overrun)
}

// sysTimerDelete: timer_delete(2).
func sysTimerDelete(c *CPU, t *Thread) {
	for q := &t.process.timerList; *q != nil; q = &(*q).next {
		if x := *q; x.id == int32(t.DI) {
			*q = x.next
			delTimer(&x.timer)
			posixTimers.Put(x)
			t.AX = 0
			return
		}
	}
	t.AX = eINVAL
}

// endTimers drops all timers of a process that ends.
func endTimers(p *Process) {
	delTimer(&p.alarm)
	for x := p.timerList; x != nil; x = p.timerList {
		p.timerList = x.next
		delTimer(&x.timer)
		posixTimers.Put(x)
	}
}
