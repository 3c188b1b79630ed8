//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/futex"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"github.com/leveret-os/leveret/kernel/core/runq"
	"github.com/leveret-os/leveret/kernel/core/timers"
)

// Thread is one frame of memory. The processor pushes trap frames into its
// head (IST1 of the processor's TSS points behind Request.Frame), services
// read the Request of a forwarded call in place, and the vector state is at a
// fixed, 64-byte aligned offset. The entry assembly takes the offsets from
// go_asm.h.
type Thread struct {
	abi.Request

	how    uint8  // how the thread resumes: howTrap, …
	fp     uint8  // where its vector state is: fpLive, …
	state  uint8  // what it waits for: stateRun, …
	work   uint32 // what is to be done before it resumes: workSignal, …
	call   uint64 // number of the system call that it is in
	fs     uint64 // FS base while it does not run
	leaves uint64 // calls answered by the entry assembly
	parent uint32 // id of the process's parent

	_     [4]byte
	xsave [xsaveMax]byte // at offset xsaveOffset

	// Fields that the assembly does not know.

	process *Process
	as      *AddressSpace // its own, or that of the caller which a handler serves; nil for other ring-0 threads
	cpu     *CPU          // where it runs, or ran last
	sched   runq.Entity
	times   cpuTimes
	timer   Timer // of a sleep or a wait with a deadline

	hashNext             *Thread // threads with the same hash of tid
	groupNext, groupPrev *Thread // threads of the process
	next                 *Thread // idle handlers, callers without a handler

	// Forwarded calls.

	client  *Thread // a handler's request
	handed  uint64  // TSC when the request was given to a handler
	action  uint8   // how a parked request is cancelled: abi.ReplyWait, …
	handler bool

	// Waiting.

	deadline    uint64 // of the call that is retried, ns; 0: none
	retry       bool   // deadline and progress are those of an earlier try
	timedOut    bool   // the retried call's deadline has passed
	restart     uint64 // number of the call that restart_syscall goes on with
	futex       futex.Waiter
	waiter      ready.Waiter
	extra       *pollBlock // more waiters of poll and select
	interrupted uint64     // what the call returns when a signal ends its wait
	sigwait     uint64     // signals that sigtimedwait waits for
	progress    uint64     // of a call that works in steps
	step        stepState  // of a call of the mmap family

	// Signals.

	pending  uint64 // bits of this thread's own
	queue    *signal
	mask     uint64
	saved    uint64 // mask to restore after sigsuspend, ppoll, …
	restore  bool   // saved counts
	altStack uint64
	altSize  uint64
	altFlags uint32
	faultCR2 uint64 // address of the last page fault
	trapNo   uint64 // vector and error of the last exception
	trapErr  uint64

	// What user space registered.

	clearTID   uint64
	robust     uint64
	robustSize uint64
	rseq       uint64
	rseqSig    uint32
	rseqSize   uint32
	rseqCPU    uint32 // the processor that it was told

	affinity   uint64
	switches   uint64 // by waiting
	preempted  uint64
	name       [16]byte
	pdeathsig  int32
	timerslack uint64
	exitCode   uint64
	noNewPrivs bool
	membarrier uint32
	gs         uint64 // GS base while it does not run
}

// How a thread resumes.
const (
	howTrap    = 0 // by IRETQ, all registers
	howSyscall = 1 // by SYSRETQ or a jump, all but RCX and R11
	howReceive = 2 // a handler in receive: SP, BP, R14 and AX
)

// Where a thread's vector state is.
const (
	fpDead   = 0 // nowhere: nothing to keep
	fpLive   = 1 // in the processor, X14 and X15 in xsave
	fpLight  = 2 // in xsave: MXCSR, FCW, X0–X15; the rest is in its initial state
	fpFull   = 3 // in xsave, by XSAVE
	fpRiding = 4 // MXCSR and X0–X15 in xsave, the rest in the processor, under the handler that serves the thread
)

// What a thread waits for. Only stateRun threads run or are in a run queue.
const (
	stateRun     = iota
	stateFutex   // a futex
	stateSleep   // its timer alone
	stateReady   // readiness objects: the call is made again
	stateSignal  // a signal: pause, sigsuspend, sigtimedwait
	stateReceive // a handler without a request
	stateSend    // a caller for whom there is no idle handler
	stateServed  // a caller whose request a handler has
	stateParked  // a caller whose request waits for readiness
	stateStopped // stopped by a signal
	stateDead
)

// What is to be done before a thread resumes, tested by the exit path.
const (
	workSignal  = 1 << iota // a signal may be deliverable
	workResched             // another thread should run
	workRetry               // the system call is made again
	workDie                 // the process ends
	workGone                // the thread has left its process
	workForward             // the parked request is forwarded again
	workRseq                // the registered struct rseq is out of date
	workMask                // saved is the mask again when no handler runs
)

const (
	xsaveOffset = 320
	xsaveMax    = 2688 // up to AVX-512 and PKRU
	pageSize    = 4096
)

// The assembly and XSAVE rely on these.
const (
	_ = uint(xsaveOffset - unsafe.Offsetof(Thread{}.xsave))
	_ = uint(unsafe.Offsetof(Thread{}.xsave) - xsaveOffset)
	_ = uint(pageSize - unsafe.Sizeof(Thread{}))
	_ = uint(abi.RequestSize - unsafe.Sizeof(abi.Request{}))
	_ = uint(unsafe.Sizeof(abi.Request{}) - abi.RequestSize)
)

const (
	tidBuckets      = 1024
	firstServiceTID = 1 << 24 // above Linux's limit of pids: those are programs'
)

var (
	servicesSpace *AddressSpace

	tids           [tidBuckets]*Thread
	nextTID        uint32 = 1
	nextServiceTID uint32 = firstServiceTID
	nthreads       int
)

func (t *Thread) ring0() bool { return t.CS == kCS }

// newThread makes a thread of p that will run with the registers that the
// caller sets; nil when there is no memory.
func newThread(c *CPU, p *Process) *Thread {
	t := (*Thread)(allocPage())
	if t == nil {
		return nil
	}
	t.CS, t.SS = uCS, uSS
	if p.ring0 {
		t.CS, t.SS = kCS, kSS
	} else {
		t.as = p.as
	}
	t.Flags = 0x202
	t.TID, t.PID = newTID(p.ring0), p.pid
	if t.PID == 0 { // the first thread names the process
		p.pid, t.PID = t.TID, t.TID
	}
	t.Process, t.Files = p.word, addressOf(p.files)
	t.process = p
	t.cpu = c
	t.affinity = ^uint64(0)
	t.initVector()
	t.sched.Init()
	t.timer.Kind = timerThread
	b := &tids[t.TID%tidBuckets]
	t.hashNext, *b = *b, t
	t.groupPrev, t.groupNext = p.last, nil
	if p.last == nil {
		p.first = t
	} else {
		p.last.groupNext = t
	}
	p.last = t
	p.threads++
	nthreads++
	return t
}

// maxTID is Linux's limit of ids on 64 bits (pid_max, proc(5)); behind it they
// begin again at firstReusedTID.
const (
	maxTID         = 1 << 22
	firstReusedTID = 300
)

// newTID is an id that no thread or process has.
func newTID(ring0 bool) uint32 {
	if ring0 {
		nextServiceTID++
		return nextServiceTID - 1
	}
	for {
		if nextTID >= maxTID {
			nextTID = firstReusedTID
		}
		tid := nextTID
		nextTID++
		if findThread(tid) == nil && findProcess(tid) == nil {
			return tid
		}
	}
}

// initVector gives t the vector state of a program's start.
func (t *Thread) initVector() {
	t.fp = fpLight
	p := unsafe.Pointer(&t.xsave)
	*(*uint16)(p) = 0x37f
	*(*uint32)(unsafe.Add(p, 24)) = 0x1f80
}

// dropThread takes t out of all tables; its memory is freed by the caller.
func dropThread(t *Thread) {
	for b := &tids[t.TID%tidBuckets]; *b != nil; b = &(*b).hashNext {
		if *b == t {
			*b = t.hashNext
			break
		}
	}
	p := t.process
	if t.groupPrev == nil {
		p.first = t.groupNext
	} else {
		t.groupPrev.groupNext = t.groupNext
	}
	if t.groupNext == nil {
		p.last = t.groupPrev
	} else {
		t.groupNext.groupPrev = t.groupPrev
	}
	p.threads--
	nthreads--
}

// findThread is the thread with that id, nil when there is none.
func findThread(tid uint32) *Thread {
	for t := tids[tid%tidBuckets]; t != nil; t = t.hashNext {
		if t.TID == tid {
			return t
		}
	}
	return nil
}

// threadOf… are the threads that the nodes are embedded in.

func threadOfEntity(e *runq.Entity) *Thread {
	return (*Thread)(unsafe.Add(unsafe.Pointer(e), -int(unsafe.Offsetof(Thread{}.sched))))
}

func threadOfTimer(x *timers.Timer) *Thread {
	return (*Thread)(unsafe.Add(unsafe.Pointer(x), -int(unsafe.Offsetof(Thread{}.timer))))
}

func threadOfFutex(w *futex.Waiter) *Thread {
	return (*Thread)(unsafe.Add(unsafe.Pointer(w), -int(unsafe.Offsetof(Thread{}.futex))))
}

func taddr(t *Thread) uint64 { return uint64(uintptr(unsafe.Pointer(t))) }
