//go:build amd64

package main

// How a program's time on the processor divides into its own and the system's
// is sampled, as Linux does without VIRT_CPU_ACCOUNTING_GEN: calls take no
// time stamp. A timer interrupt counts the time since the last account for one
// of the two; what runtime says, which is exact, is divided in that proportion
// (cputime_adjust, kernel/sched/cputime.c, does the same).

// samplePeriod is how long a thread runs at most without a sample, in ns.
const samplePeriod = 10_000_000

// cpuTimes is one thread's division.
type cpuTimes struct {
	user, system         uint64 // samples, in units of 1024 ns
	lastUser, lastSystem uint64 // as told before, ns: neither ever falls
}

// sample counts the time since c's last account for what t, the thread that
// runs there, did when its timer was due.
func sample(c *CPU, t *Thread, system bool) {
	n := (nowNS()-c.since)>>10 + 1
	if u := t.client; u != nil { // a handler works for its caller
		t, system = u, true
	}
	if system {
		t.times.system += n
	} else {
		t.times.user += n
	}
}

// armSample makes the timer of c, whose account is of this moment, interrupt in
// a samplePeriod: arm without what it has to compute.
func armSample(c *CPU) {
	c.armed = c.since + samplePeriod
	wr32(lapic+lapicInitial, uint32(lapicKHz*(samplePeriod/1000000)))
}

// inSystem tells whether a timer interrupt of t, the current thread, came in
// services, or had waited for core to return: CX and R11 are then as SYSRET
// has left them, or IP is that of a page fault.
func inSystem(c *CPU, t *Thread) bool {
	return t.CS&3 == 0 || t.CX == t.IP && t.R11 == t.Flags || t.IP == c.faultIP
}

// split returns t's runtime in ns as the program's own and the system's.
func (t *Thread) split() (user, system uint64) {
	s := &t.times
	total := t.runtime()
	if n := s.user + s.system; n != 0 {
		part := s.system << 20 / n
		system = total>>20*part + total&(1<<20-1)*part>>20
	}
	system = max(system, s.lastSystem)
	user = total - min(system, total)
	if user < s.lastUser {
		user = s.lastUser
		system = max(total-min(user, total), s.lastSystem)
	}
	s.lastUser, s.lastSystem = user, system
	return user, system
}

// split is that of all of p's threads.
func (p *Process) split() (user, system uint64) {
	user, system = p.deadRuntime-p.deadSystem, p.deadSystem
	for t := p.first; t != nil; t = t.groupNext {
		u, s := t.split()
		user += u
		system += s
	}
	return user, system
}
