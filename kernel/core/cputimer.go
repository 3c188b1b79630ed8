//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuTimer is a timer of the time that a process or a thread runs. Nothing is
// counted at switches: a Timer comes when it may be due, and looks.
type cpuTimer struct {
	timer Timer
	due   uint64 // on the clock of CPU time, in ns; 0: not armed
	every uint64 // ns
}

// cpuLookMost is how late a timer of CPU time may look, in ns; Linux has the
// period of its tick.
const cpuLookMost = 4000000

// cpuLookLeast is the shortest time between two looks, in ns.
const cpuLookLeast = 50000

// cpuLook is after how long, in ns, to look at a clock of CPU time that has
// left ns to go and that running threads move on.
func cpuLook(left, running uint64) uint64 {
	switch safe := left / ncpu; {
	case safe > cpuLookMost:
		return safe
	case running == 0:
		return cpuLookMost
	default:
		return max(left/running, cpuLookLeast)
	}
}

// isRunning tells whether a processor has t now.
func (t *Thread) isRunning() bool { return t.cpu != nil && t.cpu.cur == t }

// running counts the threads of p that processors have now.
func (p *Process) running() (n uint64) {
	for t := p.first; t != nil; t = t.groupNext {
		if t.isRunning() {
			n++
		}
	}
	return n
}

// start arms x for due on p's clock; 0 disarms it.
func (x *cpuTimer) start(c *CPU, p *Process, due uint64) {
	x.due = due
	if due == 0 {
		delTimer(&x.timer)
		return
	}
	left := uint64(0)
	if used := p.runtime(); due > used {
		left = due - used
	}
	addTimer(c, &x.timer, later(nowNS(), cpuLook(left, p.running())))
}

// left is how long x has to go, in ns, 0 when it is not armed.
func (x *cpuTimer) left(p *Process) uint64 {
	if x.due == 0 {
		return 0
	}
	if used := p.runtime(); x.due > used {
		return x.due - used
	}
	return 1
}

// afterCPU is the next time after used of a timer that was due.
func afterCPU(due, used, every uint64) uint64 { return due + ((used-due)/every+1)*every }

// cpuTimerExpired looks at an ITIMER_VIRTUAL or ITIMER_PROF. The time that a
// program spends in the system is told by samples only (split), so both see
// the same clock, of all of it.
func cpuTimerExpired(c *CPU, p *Process, x *cpuTimer, sig uint64) {
	used := p.runtime()
	if used < x.due {
		x.start(c, p, x.due)
		return
	}
	next := uint64(0)
	if x.every != 0 {
		next = afterCPU(x.due, used, x.every)
	}
	x.start(c, p, next)
	sendToRunning(c, p, sig)
}

// sendToRunning sends a signal of a process's CPU time: a thread that runs
// takes it rather than another, as in Linux, which profilers rely on.
func sendToRunning(c *CPU, p *Process, sig uint64) {
	preferRunning = true
	send(c, p, nil, sig, siKern, nil)
	preferRunning = false
}

// preferRunning is set while such a signal is sent.
var preferRunning bool

// limitCPU arms the timer of RLIMIT_CPU.
func (p *Process) limitCPU(c *CPU) {
	due := min(p.limits[unix.RLIMIT_CPU].Cur, p.limits[unix.RLIMIT_CPU].Max)
	if due >= forever/second {
		p.cpuLimit.start(c, p, 0)
		return
	}
	p.cpuLimit.start(c, p, max(due, 1)*second)
}

// cpuLimitExpired looks at RLIMIT_CPU: SIGXCPU at the soft limit and every
// second from then, SIGKILL at the hard one (setrlimit(2)).
func cpuLimitExpired(c *CPU, p *Process) {
	used := p.runtime()
	if used < p.cpuLimit.due {
		p.cpuLimit.start(c, p, p.cpuLimit.due)
		return
	}
	if hard := p.limits[unix.RLIMIT_CPU].Max; hard < forever/second && used >= hard*second {
		p.unkillable = false
		send(c, p, nil, uint64(unix.SIGKILL), siKern, nil)
		return
	}
	next := afterCPU(p.cpuLimit.due, used, second)
	p.limits[unix.RLIMIT_CPU].Cur = next / second
	p.limitCPU(c)
	sendToRunning(c, p, uint64(unix.SIGXCPU))
}

// expireProcess is expire for the timers that lie in a Process.
func expireProcess(c *CPU, kind uint8, x unsafe.Pointer) {
	switch kind {
	case timerVirtual:
		p := (*Process)(unsafe.Add(x, -int(unsafe.Offsetof(Process{}.virtual))))
		cpuTimerExpired(c, p, &p.virtual, uint64(unix.SIGVTALRM))
	case timerProfile:
		p := (*Process)(unsafe.Add(x, -int(unsafe.Offsetof(Process{}.profile))))
		cpuTimerExpired(c, p, &p.profile, uint64(unix.SIGPROF))
	case timerLimit:
		cpuLimitExpired(c, (*Process)(unsafe.Add(x, -int(unsafe.Offsetof(Process{}.cpuLimit)))))
	}
}
