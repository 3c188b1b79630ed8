//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/runq"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// enqueue makes t, which waits for nothing, runnable on a processor and
// preempts what runs there if it should.
func enqueue(c *CPU, t *Thread, q queueing) {
	t.state = stateRun
	to := t.cpu
	if ncpu > 1 {
		to = chooseCPU(c, t)
		if to != t.cpu {
			runq.Migrate(&t.sched, &t.cpu.run, &to.run)
			t.cpu = to
		}
	}
	running := to.cur
	if running == to.idleT {
		to.run.Wake(&t.sched)
		poke(c, to)
		return
	}
	switch q {
	case queueWake:
		account(to)
		to.run.Wake(&t.sched)
		if to.run.Preempts(&t.sched, &running.sched) {
			to.preempted = true
			poke(c, to)
			return
		}
	case queueNew:
		to.run.Start(&t.sched)
	}
	if to != c {
		if s := to.run.Slice(&running.sched); s != 0 && to.armed > to.since+s {
			poke(c, to) // its timer is its own to set
		}
		return
	}
	limitSlice(to)
}

// queueing is how a thread comes into a run queue.
type queueing int

const (
	queueWake queueing = iota // from a wait
	queueNew
)

// poke makes a processor look at its run queue.
func poke(c, to *CPU) {
	to.cur.work |= workResched
	if to != c {
		interruptCPU(c, to)
	}
}

// chooseCPU is where t should run: where it last ran if that processor is
// idle, else an idle one, else where it last ran, as its affinity allows.
func chooseCPU(c *CPU, t *Thread) *CPU {
	last := t.cpu
	if t.affinity>>last.number&1 != 0 && last.idle() {
		return last
	}
	var allowed *CPU
	for i := range ncpu {
		o := cpus[i]
		if t.affinity>>o.number&1 == 0 || o.idleT == nil { // the latter is being started
			continue
		}
		if o.idle() {
			return o
		}
		if allowed == nil || o == last || allowed != last && o.run.Len() < allowed.run.Len() {
			allowed = o
		}
	}
	if allowed == nil {
		return last
	}
	return allowed
}

// idle tells whether c runs and has nothing to do.
func (c *CPU) idle() bool { return c.cur == c.idleT && c.idleT != nil && c.run.Len() == 0 }

// account charges what runs on a processor for its time until now.
func account(c *CPU) {
	now := nowNS()
	t := c.cur
	t.sched.Account(now - c.since)
	if u := t.client; u != nil { // a handler's time is its caller's
		t.sched.Runtime -= now - c.since
		u.sched.Runtime += now - c.since
	}
	c.since = now
}

// limitSlice sees to it that a timer interrupt comes when the slice of what
// runs is over; nothing is to be done while nobody waits.
func limitSlice(c *CPU) {
	if c.armed <= c.since+runq.Latency/2 && c.run.Len() <= 1 { // two threads have slices of that
		return
	}
	s := c.run.Slice(&c.cur.sched)
	if s != 0 && c.armed > c.since+s {
		arm(c, c.since+s)
	}
}

// setCur is the bare switch: which thread the exit path resumes.
func setCur(c *CPU, t *Thread) {
	c.cur = t
	t.cpu = c
	setTrapFrame(c, taddr(t)+trapFrameSize)
	if t.rseq != 0 && t.rseqCPU != uint32(c.number) {
		t.work |= workRseq
	}
	if t.as != nil && t.as != c.curAS {
		c.curAS = t.as
		x86.WriteCR3(t.as.pml4)
	}
}

// trapFrameSize is how many bytes of Thread the processor and trapEntry push.
const trapFrameSize = 176

// switchTo makes t the current thread; the state of the one before is saved
// as far as it has any.
func switchTo(c *CPU, t *Thread) {
	old := c.cur
	if old == t {
		return
	}
	c.switches++
	switchFP(old, t)
	setCur(c, t)
}

// schedule gives the processor to the next thread: the current one waits, or
// is in the run queue already.
func schedule(c *CPU) {
	c.preempted = false
	account(c)
	e := c.run.Take()
	if e == nil {
		if ncpu > 1 {
			e = steal(c)
		}
		if e == nil {
			switchTo(c, c.idleT)
			return
		}
	}
	switchTo(c, threadOfEntity(e))
	if c.armed > c.since+samplePeriod {
		armSample(c)
	}
	if c.run.Len() != 0 {
		limitSlice(c)
	}
}

// steal takes a thread from the longest run queue of another processor that
// may run here.
func steal(c *CPU) *runq.Entity {
	var from *CPU
	for i := range ncpu {
		o := cpus[i]
		if o != c && o.run.Len() > 0 && (from == nil || o.run.Len() > from.run.Len()) {
			from = o
		}
	}
	if from == nil {
		return nil
	}
	e := from.run.First()
	t := threadOfEntity(e)
	if t.affinity>>c.number&1 == 0 {
		return nil
	}
	from.run.Remove(e)
	runq.Migrate(e, &from.run, &c.run)
	return e
}

// block gives up the processor: t, the current thread, waits as state says.
func block(c *CPU, t *Thread, state uint8) {
	t.state = state
	t.switches++
	schedule(c)
}

// preempt is what workResched asks for.
func preempt(c *CPU, t *Thread) {
	if t == c.idleT {
		if c.run.Len() != 0 || ncpu > 1 {
			schedule(c)
		}
		return
	}
	if t.affinity>>c.number&1 == 0 { // it has been changed while t ran
		account(c)
		t.preempted++
		moveAway(c, t)
		schedule(c)
		return
	}
	if !c.preempted { // who set it has decided
		first := c.run.First()
		if first == nil {
			return
		}
		account(c)
		if !c.run.SliceOver(&t.sched) && !c.run.Preempts(first, &t.sched) {
			limitSlice(c)
			return
		}
	}
	t.preempted++
	if t.rseq != 0 {
		t.work |= workRseq
	}
	c.run.PutBack(&t.sched)
	schedule(c)
}

// wake ends t's wait: with or without its timer, it is runnable. The caller
// has taken it off what it waited for and has set its result.
func wake(c *CPU, t *Thread) {
	if t.timer.Armed() {
		delTimer(&t.timer)
	}
	enqueue(c, t, queueWake)
}

// sysSchedYield: sched_yield(2).
func sysSchedYield(c *CPU, t *Thread) {
	t.AX = 0
	if c.run.Len() == 0 {
		return
	}
	account(c)
	c.run.Yield(&t.sched)
	c.run.Put(&t.sched)
	schedule(c)
}

// onlineMask has a bit for each processor that runs.
func onlineMask() uint64 { return 1<<ncpu - 1 }

// interruptCPU makes another processor look at its work.
func interruptCPU(c, to *CPU) { sendIPI(to.apic, vecReschedule) }
