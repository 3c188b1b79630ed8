//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/timers"
)

// Timer is a timer of core: armed in the queue of one processor, whose
// interrupt it will come with.
type Timer struct {
	timers.Timer
	cpu *CPU
}

// What a Timer is embedded in.
const (
	timerThread = iota
	timerAlarm  // of a Process
	timerPosix
	timerFile    // of a File: timerfd
	timerVirtual // of a Process, as the next two
	timerProfile
	timerLimit
)

// addTimer arms x for deadline, in ns of the monotonic clock.
func addTimer(c *CPU, x *Timer, deadline uint64) {
	if x.Armed() {
		x.cpu.timers.Remove(&x.Timer)
	}
	x.cpu = c
	if c.timers.Add(&x.Timer, deadline) && deadline < c.armed {
		arm(c, deadline)
	}
}

// delTimer disarms x if it is armed.
func delTimer(x *Timer) {
	if x.Armed() {
		x.cpu.timers.Remove(&x.Timer)
	}
}

// maxExpired bounds the timers that one interrupt serves; the rest follow in
// the next one.
const maxExpired = 64

// timerIRQ is the timer's interrupt: what is due happens, and slices end.
func timerIRQ(c *CPU) {
	endOfInterrupt()
	if t := c.cur; t != c.idleT {
		sample(c, t, inSystem(c, t))
	}
	timersDue(c)
}

// timersDue does what the timer's interrupt is for; long calls look for it
// themselves between their steps.
func timersDue(c *CPU) {
	c.armed = timers.Never
	account(c)
	reapSpaces(c)
	for range maxExpired {
		x := c.timers.Expired(c.since)
		if x == nil {
			break
		}
		expire(c, x)
	}
	cur := c.cur
	if c.run.Len() != 0 && (cur == c.idleT || c.run.SliceOver(&cur.sched)) {
		cur.work |= workResched
		c.preempted = cur != c.idleT
	}
	next := c.timers.Next()
	if s := c.run.Slice(&cur.sched); s != 0 && cur != c.idleT && c.since+s < next {
		next = c.since + s
	}
	if cur != c.idleT {
		next = min(next, c.since+samplePeriod)
	}
	if next < c.armed {
		arm(c, next)
	}
}

// expire does what a due timer is for.
func expire(c *CPU, x *timers.Timer) {
	switch x.Kind {
	case timerThread:
		timeout(c, threadOfTimer(x))
	case timerAlarm:
		alarmExpired(c, (*Process)(unsafe.Add(unsafe.Pointer(x), -int(unsafe.Offsetof(Process{}.alarm)))))
	case timerPosix:
		posixExpired(c, (*posixTimer)(unsafe.Add(unsafe.Pointer(x), -int(unsafe.Offsetof(posixTimer{}.timer)))))
	case timerVirtual, timerProfile, timerLimit:
		expireProcess(c, x.Kind, unsafe.Pointer(x))
	case timerFile:
		timerfdExpired(c, (*File)(unsafe.Add(unsafe.Pointer(x), -int(unsafe.Offsetof(File{}.timer)))))
	}
}

// timeout ends t's wait because its deadline has passed.
func timeout(c *CPU, t *Thread) {
	switch t.state {
	case stateFutex:
		futexes.Remove(&t.futex)
		t.AX = eTIMEDOUT
	case stateSleep:
		t.AX = 0
	case stateReady:
		dropWaiters(t)
		t.timedOut = true
		t.work |= workRetry
	case stateSignal:
		t.AX = eAGAIN
		t.sigwait = 0
	case stateParked:
		t.waiter.Remove()
		t.Ready = 0
		t.work |= workForward
	default:
		return
	}
	enqueue(c, t, queueWake)
}
