//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/slab"
	"golang.org/x/sys/unix"
)

// Process is what threads share by CLONE_THREAD; one frame of memory.
type Process struct {
	pid, parent, group, session uint32

	as    *AddressSpace
	files *Files
	word  uint64 // services' own
	ring0 bool   // services
	dying bool   // exit_group, or a fatal signal
	// unkillable: it is the first process, and none of its threads has caused
	// an exception that nothing handles.
	unkillable bool
	code       uint64 // wait status when dying

	first, last *Thread
	threads     int
	next        *Process // all processes

	actions [65]sigAction // [0] unused
	pending uint64        // signals for any thread
	queue   *signal
	queued  int // signals in queues of the process and its threads

	limits [16]unix.Rlimit
	cred   abi.Credentials // services change them

	alarm       Timer // ITIMER_REAL
	alarmEvery  uint64
	virtual     cpuTimer // ITIMER_VIRTUAL
	profile     cpuTimer // ITIMER_PROF
	cpuLimit    cpuTimer // RLIMIT_CPU
	timerList   *posixTimer
	timerNext   int32
	start       uint64 // ns
	deadRuntime uint64 // of threads that ended, ns
	deadSystem  uint64 // of that, the system's
	deadLeaves  uint64
	switches    uint64 // of threads that ended
	preempted   uint64
	faults      uint64
	layout      stackLayout
	dumpable    uint32
	membarrier  uint32
	personality uint32

	faultTicks   uint64      // TSC ticks in page faults
	forwardTicks uint64      // … from forwarding calls to their replies
	callTicks    *callCounts // … of core in calls, by number; nil without acct=full

	calls     *callCounts // by number
	forwards  *callCounts // of those, forwarded to services
	subreaper uint32      // of prctl(2)
}

// callCounts is one frame of counters by number of the system call.
type callCounts [maxSyscall]uint64

const _ = uint(pageSize - unsafe.Sizeof(Process{}))

var (
	processes       *Process
	servicesProcess *Process
	signals         slab.Pool[signal]
)

// newProcess makes a process without threads; nil when there is no memory.
func newProcess(c *CPU, as *AddressSpace, ring0 bool) *Process {
	p := (*Process)(allocPage())
	calls := (*callCounts)(allocPage())
	forwards := (*callCounts)(allocPage())
	files := newFiles()
	if p == nil || calls == nil || forwards == nil || files == nil {
		return nil // only at boot, which ends then
	}
	p.calls, p.forwards, p.files = calls, forwards, files
	p.as, p.ring0 = as, ring0
	p.start = nowNS()
	p.dumpable = 1
	p.alarm.Kind = timerAlarm
	p.virtual.timer.Kind, p.profile.timer.Kind, p.cpuLimit.timer.Kind = timerVirtual, timerProfile, timerLimit
	for i := range p.limits {
		p.limits[i].Cur, p.limits[i].Max = unix.RLIM_INFINITY, unix.RLIM_INFINITY
	}
	p.limits[unix.RLIMIT_STACK].Cur = 8 << 20
	p.limits[unix.RLIMIT_CORE].Cur = 0
	p.limits[unix.RLIMIT_NOFILE].Cur, p.limits[unix.RLIMIT_NOFILE].Max = 1024, 4096
	p.limits[unix.RLIMIT_MEMLOCK].Cur, p.limits[unix.RLIMIT_MEMLOCK].Max = 8<<20, 8<<20
	p.limits[unix.RLIMIT_NPROC].Cur, p.limits[unix.RLIMIT_NPROC].Max = 4096, 4096
	p.limits[rlimitSigpending].Cur, p.limits[rlimitSigpending].Max = 4096, 4096
	p.limits[rlimitMsgqueue].Cur, p.limits[rlimitMsgqueue].Max = 819200, 819200
	p.limits[rlimitNice].Cur, p.limits[rlimitNice].Max = 0, 0
	p.limits[rlimitRtprio].Cur, p.limits[rlimitRtprio].Max = 0, 0
	p.limitsChanged()
	p.next, processes = processes, p
	return p
}

// Limits that golang.org/x/sys/unix does not name (uapi/asm-generic/resource.h).
const (
	rlimitSigpending = 11
	rlimitMsgqueue   = 12
	rlimitNice       = 13
	rlimitRtprio     = 14
)

func findProcess(pid uint32) *Process {
	for p := processes; p != nil; p = p.next {
		if p.pid == pid {
			return p
		}
	}
	return nil
}

func dropProcess(p *Process) {
	for q := &processes; *q != nil; q = &(*q).next {
		if *q == p {
			*q = p.next
			break
		}
	}
	freePage(unsafe.Pointer(p.calls))
	freePage(unsafe.Pointer(p.forwards))
	if p.callTicks != nil {
		freePage(unsafe.Pointer(p.callTicks))
	}
	freePage(unsafe.Pointer(p))
}

// runtime is how long p's threads ran, in ns.
func (p *Process) runtime() uint64 {
	n := p.deadRuntime
	for t := p.first; t != nil; t = t.groupNext {
		n += t.runtime()
	}
	return n
}

// runtime is how long t ran, in ns, up to now.
func (t *Thread) runtime() uint64 {
	n := t.sched.Runtime
	if c := t.cpu; c != nil && c.cur == t {
		n += nowNS() - c.since
	}
	return n
}

// stackLayout is where what a program was started with lies.
type stackLayout struct {
	stack, auxStart, auxEnd  uint64
	words, argsEnd, wordsEnd uint64 // the strings, of arguments and of the environment
}
