//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/runq"
	"golang.org/x/sys/unix"
)

// reschedule changes how o is scheduled; it may be queued, run or wait.
func reschedule(c *CPU, o *Thread, policy, priority uint8, nice int8) {
	e := &o.sched
	q := &o.cpu.run
	if o.cpu.cur == o {
		account(o.cpu)
	}
	queued := e.Queued()
	if queued {
		q.Remove(e)
	}
	e.SetPolicy(policy, priority, nice)
	if queued {
		q.Put(e)
	}
	if o.state == stateRun {
		poke(c, o.cpu)
	}
}

// sysSchedSetscheduler: sched_setscheduler(2).
func sysSchedSetscheduler(c *CPU, t *Thread) {
	setScheduler(c, t, int32(t.SI), t.DX)
}

// sysSchedSetparam: sched_setparam(2).
func sysSchedSetparam(c *CPU, t *Thread) {
	if o := threadArg(t, t.DI); o != nil {
		setScheduler(c, t, int32(o.sched.Policy), t.SI)
	}
}

const resetOnFork = 0x40000000

func setScheduler(c *CPU, t *Thread, policy int32, param uint64) {
	if int32(t.DI) < 0 || param == 0 {
		t.AX = eINVAL
		return
	}
	prio, ok := read32(c, param)
	if !ok {
		t.AX = eFAULT
		return
	}
	o := threadArg(t, t.DI)
	if o == nil {
		return
	}
	policy &^= resetOnFork
	if e := checkPolicy(policy, prio); e != 0 {
		t.AX = e
		return
	}
	if !t.maySchedule(o, policy, prio, int32(o.sched.Nice)) {
		t.AX = ePERM
		return
	}
	reschedule(c, o, uint8(policy), uint8(prio), o.sched.Nice)
	t.AX = 0
}

// mayNice tells whether t may give o a nice value: RLIMIT_NICE counts from 20
// down (getrlimit(2)).
func (t *Thread) mayNice(o *Thread, nice int32) bool {
	return t.capable() || uint64(20-nice) <= o.process.limits[rlimitNice].Cur
}

// maySchedule is what who has no capability may change (sched(7)): with
// RLIMIT_RTPRIO priorities up to it, or lower ones than before.
func (t *Thread) maySchedule(o *Thread, policy int32, priority uint32, nice int32) bool {
	if t.capable() {
		return true
	}
	now := &o.sched
	switch policy {
	case runq.FIFO, runq.RR:
		limit := o.process.limits[rlimitRtprio].Cur
		return (int32(now.Policy) == policy || limit != 0) && (priority <= uint32(now.Priority) || uint64(priority) <= limit)
	case runq.Idle:
		return true
	}
	return (nice >= int32(now.Nice) && now.Policy != runq.Idle) || t.mayNice(o, nice)
}

func checkPolicy(policy int32, prio uint32) uint64 {
	switch policy {
	case runq.FIFO, runq.RR:
		if prio < 1 || prio > runq.MaxPriority {
			return eINVAL
		}
	case runq.Other, runq.Batch, runq.Idle:
		if prio != 0 {
			return eINVAL
		}
	default:
		return eINVAL
	}
	return 0
}

// sysSchedGetscheduler: sched_getscheduler(2).
func sysSchedGetscheduler(c *CPU, t *Thread) {
	if int32(t.DI) < 0 {
		t.AX = eINVAL
		return
	}
	if o := threadArg(t, t.DI); o != nil {
		t.AX = uint64(o.sched.Policy)
	}
}

// sysSchedGetparam: sched_getparam(2).
func sysSchedGetparam(c *CPU, t *Thread) {
	if int32(t.DI) < 0 || t.SI == 0 {
		t.AX = eINVAL
		return
	}
	if o := threadArg(t, t.DI); o != nil {
		t.AX = 0
		if !write32(c, t.SI, uint32(o.sched.Priority)) {
			t.AX = eFAULT
		}
	}
}

// schedAttr is struct sched_attr, version 0.
type schedAttr struct {
	size, policy               uint32
	flags                      uint64
	nice                       int32
	priority                   uint32
	runtime, deadline, period_ uint64
}

// sysSchedGetattr: sched_getattr(2).
func sysSchedGetattr(c *CPU, t *Thread) {
	if int32(t.DI) < 0 || t.SI == 0 || t.R10 != 0 || t.DX < 48 || t.DX > pageSize {
		t.AX = eINVAL
		return
	}
	o := threadArg(t, t.DI)
	if o == nil {
		return
	}
	a := schedAttr{size: 48, policy: uint32(o.sched.Policy), priority: uint32(o.sched.Priority)}
	if !o.sched.RealTime() {
		a.nice = int32(o.sched.Nice)
	}
	t.AX = 0
	if !copyOut(c, t.SI, unsafe.Pointer(&a), 48) {
		t.AX = eFAULT
	}
}

// sysSchedSetattr: sched_setattr(2).
func sysSchedSetattr(c *CPU, t *Thread) {
	if int32(t.DI) < 0 || t.SI == 0 || t.DX != 0 {
		t.AX = eINVAL
		return
	}
	var a schedAttr
	size, ok := read32(c, t.SI)
	if !ok {
		t.AX = eFAULT
		return
	}
	if size == 0 {
		size = 48
	}
	if size < 48 {
		t.AX = e2BIG
		return
	}
	if !copyIn(c, unsafe.Pointer(&a), t.SI, 48) {
		t.AX = eFAULT
		return
	}
	o := threadArg(t, t.DI)
	if o == nil {
		return
	}
	if e := checkPolicy(int32(a.policy), a.priority); e != 0 {
		t.AX = e
		return
	}
	nice := max(min(a.nice, 19), -20)
	if !t.maySchedule(o, int32(a.policy), a.priority, nice) {
		t.AX = ePERM
		return
	}
	reschedule(c, o, uint8(a.policy), uint8(a.priority), int8(nice))
	t.AX = 0
}

// sysSchedGetPriorityMax, sysSchedGetPriorityMin: sched_get_priority_max(2).
func sysSchedGetPriorityMax(c *CPU, t *Thread) { priorityBound(t, runq.MaxPriority) }
func sysSchedGetPriorityMin(c *CPU, t *Thread) { priorityBound(t, 1) }

func priorityBound(t *Thread, bound uint64) {
	switch int32(t.DI) {
	case runq.FIFO, runq.RR:
		t.AX = bound
	case runq.Other, runq.Batch, runq.Idle, 6:
		t.AX = 0
	default:
		t.AX = eINVAL
	}
}

// sysSchedRrGetInterval: sched_rr_get_interval(2).
func sysSchedRrGetInterval(c *CPU, t *Thread) {
	if int32(t.DI) < 0 {
		t.AX = eINVAL
		return
	}
	o := threadArg(t, t.DI)
	if o == nil {
		return
	}
	ns := uint64(0)
	switch o.sched.Policy {
	case runq.RR:
		ns = runq.RRSlice
	case runq.Other, runq.Batch:
		ns = runq.MinSlice
	}
	t.AX = 0
	if !writeTimespec(c, t.SI, ns) {
		t.AX = eFAULT
	}
}

// sysSchedSetaffinity: sched_setaffinity(2).
func sysSchedSetaffinity(c *CPU, t *Thread) {
	var mask uint64
	if n := min(t.SI, 8); !copyIn(c, unsafe.Pointer(&mask), t.DX, n) {
		t.AX = eFAULT
		return
	}
	o := threadArg(t, t.DI)
	if o == nil {
		return
	}
	mask &= onlineMask()
	if mask == 0 {
		t.AX = eINVAL
		return
	}
	o.affinity = mask
	t.AX = 0
	if mask>>o.cpu.number&1 != 0 || o.state != stateRun {
		return
	}
	if o == t {
		account(c)
		schedule2 := o
		t.preempted++
		moveAway(c, schedule2)
		schedule(c)
		return
	}
	if o.sched.Queued() {
		o.cpu.run.Remove(&o.sched)
		moveAway(c, o)
		return
	}
	poke(c, o.cpu) // it runs elsewhere: preempt sees that it may not
}

// moveAway queues t, which is in no queue, on a processor that it may use.
func moveAway(c *CPU, t *Thread) {
	to := chooseCPU(c, t)
	runq.Migrate(&t.sched, &t.cpu.run, &to.run)
	t.cpu = to
	to.run.Put(&t.sched)
	poke(c, to)
}

// sysSchedGetaffinity: sched_getaffinity(2).
func sysSchedGetaffinity(c *CPU, t *Thread) {
	if t.SI&7 != 0 || t.SI*8 < ncpu {
		t.AX = eINVAL
		return
	}
	o := threadArg(t, t.DI)
	if o == nil {
		return
	}
	mask := o.affinity & onlineMask()
	t.AX = 8
	if t.SI == 0 || !write64(c, t.DX, mask) {
		t.AX = eFAULT
	}
}

// sysGetpriority: getpriority(2) of a thread or this process: 20 - nice.
func sysGetpriority(c *CPU, t *Thread) {
	o := priorityArg(t)
	if o != nil {
		t.AX = uint64(20 - int64(o.sched.Nice))
	}
}

// sysSetpriority: setpriority(2).
func sysSetpriority(c *CPU, t *Thread) {
	nice := max(min(int32(t.DX), 19), -20)
	o := priorityArg(t)
	switch {
	case o == nil:
	case nice < int32(o.sched.Nice) && !t.mayNice(o, nice):
		t.AX = eACCES
	default:
		reschedule(c, o, o.sched.Policy, o.sched.Priority, int8(nice))
		t.AX = 0
	}
}

func priorityArg(t *Thread) *Thread {
	switch int32(t.DI) {
	case unix.PRIO_PROCESS:
		return threadArg(t, t.SI)
	case unix.PRIO_PGRP, unix.PRIO_USER:
		if id := uint32(t.SI); id == 0 || int32(t.DI) == unix.PRIO_PGRP && id == t.process.group {
			return t
		}
		t.AX = eSRCH
		return nil
	}
	t.AX = eINVAL
	return nil
}

// Commands of membarrier(2).
const (
	membarrierQuery             = 0
	membarrierGlobal            = 1
	membarrierGlobalExpedited   = 2
	membarrierRegisterGlobal    = 4
	membarrierPrivate           = 8
	membarrierRegisterPrivate   = 16
	membarrierSyncCore          = 32
	membarrierRegisterSyncCore  = 64
	membarrierRseq              = 128
	membarrierRegisterRseq      = 256
	membarrierGetRegistrations  = 512
	membarrierRegistrationsMask = membarrierRegisterGlobal | membarrierRegisterPrivate | membarrierRegisterSyncCore | membarrierRegisterRseq
)

// sysMembarrier: membarrier(2). Every entry of core takes and leaves a lock,
// which is a full barrier on this processor; the others are interrupted.
func sysMembarrier(c *CPU, t *Thread) {
	cmd, p := uint32(t.DI), t.process
	if t.SI != 0 && cmd != membarrierRseq {
		t.AX = eINVAL
		return
	}
	t.AX = 0
	switch cmd {
	case membarrierQuery:
		t.AX = membarrierGlobal | membarrierGlobalExpedited | membarrierPrivate | membarrierSyncCore | membarrierRseq | membarrierRegistrationsMask | membarrierGetRegistrations
	case membarrierGlobal, membarrierGlobalExpedited:
		barrier(c)
	case membarrierRegisterGlobal, membarrierRegisterPrivate, membarrierRegisterSyncCore, membarrierRegisterRseq:
		p.membarrier |= cmd
	case membarrierPrivate, membarrierSyncCore, membarrierRseq:
		if p.membarrier&(cmd<<1) == 0 {
			t.AX = ePERM
			return
		}
		barrier(c)
	case membarrierGetRegistrations:
		t.AX = uint64(p.membarrier)
	default:
		t.AX = eINVAL
	}
}

// barrier interrupts all other processors, which makes them see what this one
// wrote, and waits for them.
func barrier(c *CPU) { flushOthers(c, servicesSpace, 0, 0) }
