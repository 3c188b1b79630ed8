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

// itimer is what getitimer(2) tells of a timer, in ns.
func (p *Process) itimer(which uint64) (value, every uint64) {
	switch which {
	case unix.ITIMER_REAL:
		return alarmLeft(p), p.alarmEvery
	case unix.ITIMER_VIRTUAL:
		return p.virtual.left(p), p.virtual.every
	}
	return p.profile.left(p), p.profile.every
}

// setItimer is setitimer(2).
func (p *Process) setItimer(c *CPU, which, value, every uint64) {
	x := &p.profile
	switch which {
	case unix.ITIMER_REAL:
		setAlarm(c, p, value, every)
		return
	case unix.ITIMER_VIRTUAL:
		x = &p.virtual
	}
	x.every = every
	if value != 0 {
		value = later(p.runtime(), value)
	}
	x.start(c, p, value)
}

// sysGetitimer: getitimer(2).
func sysGetitimer(c *CPU, t *Thread) {
	if uint32(t.DI) > 2 {
		t.AX = eINVAL
		return
	}
	value, every := t.process.itimer(uint64(uint32(t.DI)))
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
		left, again := p.itimer(uint64(uint32(t.DI)))
		if !writeTimeval(c, t.DX, again) || !writeTimeval(c, t.DX+16, left) {
			t.AX = eFAULT
			return
		}
	}
	p.setItimer(c, uint64(uint32(t.DI)), value, every)
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
	cpu     bool   // of CPU time: timer only looks
	of      uint32 // the thread whose time it is, 0: the process
	due     uint64 // on that clock, in ns; 0: not armed
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
	cpu := clock == unix.CLOCK_PROCESS_CPUTIME_ID || clock == unix.CLOCK_THREAD_CPUTIME_ID || clock < 0
	of := cpuClockOwner(t, clock)
	if cpu && of == cpuOther {
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
	x.cpu, x.of = cpu, of
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
	if x.cpu {
		used, n, ok := x.used()
		if !ok {
			x.due = 0
			return
		}
		if used < x.due {
			addTimer(c, &x.timer, later(nowNS(), cpuLook(x.due-used, n)))
			return
		}
		due := x.due
		x.due = 0
		if x.every != 0 {
			x.overrun = int32(min((used-due)/x.every, 1<<31-1))
			x.due = afterCPU(due, used, x.every)
			addTimer(c, &x.timer, later(nowNS(), cpuLook(x.due-used, n)))
		}
	} else if x.every != 0 {
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

// cpuOther is the owner of a clock that no timer of the caller can have.
const cpuOther = ^uint32(0)

// cpuClockOwner is the thread whose CPU time a clock tells, 0 for the process.
func cpuClockOwner(t *Thread, clock int32) uint32 {
	switch {
	case clock == unix.CLOCK_THREAD_CPUTIME_ID:
		return t.TID
	case clock >= 0:
		return 0
	}
	who := uint32(^clock >> 3)
	if clock&4 == 0 {
		if who != 0 && who != t.PID {
			return cpuOther
		}
		return 0
	}
	if who == 0 {
		return t.TID
	}
	return who
}

// used is what x's clock of CPU time tells, in ns, and how many processors
// move it on; false: its thread is gone.
func (x *posixTimer) used() (ns, running uint64, ok bool) {
	if x.of == 0 {
		return x.process.runtime(), x.process.running(), true
	}
	o := findThread(x.of)
	if o == nil || o.process != x.process {
		return 0, 0, false
	}
	if o.isRunning() {
		running = 1
	}
	return o.runtime(), running, true
}

// left is how long x has to go, in ns, 0 when it is not armed.
func (x *posixTimer) left() uint64 {
	if x.cpu {
		used, _, ok := x.used()
		switch {
		case x.due == 0 || !ok:
			return 0
		case x.due > used:
			return x.due - used
		}
		return 1
	}
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
	x.due = 0
	if x.cpu && value != 0 {
		used, n, ok := x.used()
		if !ok {
			t.AX = eINVAL
			return
		}
		if t.SI&1 == 0 {
			value = later(used, value)
		}
		x.due = value
		addTimer(c, &x.timer, later(nowNS(), cpuLook(max(value, used)-used, n)))
	} else if value != 0 {
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
	delTimer(&p.virtual.timer)
	delTimer(&p.profile.timer)
	delTimer(&p.cpuLimit.timer)
	for x := p.timerList; x != nil; x = p.timerList {
		p.timerList = x.next
		delTimer(&x.timer)
		posixTimers.Put(x)
	}
}
