//go:build amd64

package main

import (
	"math/bits"
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/sigframe"
	"golang.org/x/sys/unix"
)

// sigAction is struct sigaction of the system call.
type sigAction struct{ handler, flags, restorer, mask uint64 }

const (
	sigDefault = 0
	sigIgnore  = 1

	saNoCldStop = 0x1
	saSiginfo   = 0x4
	saRestorer  = 0x04000000
	saOnStack   = 0x08000000
	saRestart   = 0x10000000
	saNodefer   = 0x40000000
	saResethand = 0x80000000

	// Codes of siginfo_t (sigaction(2)).
	siUser  = 0
	siQueue = ^uint32(0)     // -1
	siTimer = ^uint32(0) - 1 // -2
	siTkill = ^uint32(0) - 5 // -6
	siKern  = 0x80
)

// signal is a queued signal.
type signal struct {
	next    *signal
	process *Process // whose count it is in
	info    sigframe.Info
}

func bit(sig uint64) uint64 { return 1 << (sig - 1) }

// Signals that cannot be blocked, caught or ignored, and what the default
// action is (signal(7)).
const (
	unblockable = 1<<(unix.SIGKILL-1) | 1<<(unix.SIGSTOP-1)
	ignored     = 1<<(unix.SIGCHLD-1) | 1<<(unix.SIGURG-1) | 1<<(unix.SIGWINCH-1) | 1<<(unix.SIGCONT-1)
	stopping    = 1<<(unix.SIGSTOP-1) | 1<<(unix.SIGTSTP-1) | 1<<(unix.SIGTTIN-1) | 1<<(unix.SIGTTOU-1)
	dumping     = 1<<(unix.SIGQUIT-1) | 1<<(unix.SIGILL-1) | 1<<(unix.SIGTRAP-1) | 1<<(unix.SIGABRT-1) | 1<<(unix.SIGFPE-1) |
		1<<(unix.SIGSEGV-1) | 1<<(unix.SIGBUS-1) | 1<<(unix.SIGSYS-1) | 1<<(unix.SIGXCPU-1) | 1<<(unix.SIGXFSZ-1)
	synchronous = 1<<(unix.SIGSEGV-1) | 1<<(unix.SIGBUS-1) | 1<<(unix.SIGILL-1) | 1<<(unix.SIGTRAP-1) | 1<<(unix.SIGFPE-1) | 1<<(unix.SIGSYS-1)
)

// firstRealTime is the first signal of which several are queued.
const firstRealTime = 32

// signalPending tells whether t must not begin to wait.
func signalPending(t *Thread) bool {
	return (t.pending|t.process.pending)&^t.mask != 0 || t.work&workDie != 0
}

// setMask changes t's mask; signals that it lets through are delivered on the
// way out.
func setMask(t *Thread, mask uint64) {
	t.mask = mask &^ unblockable
	if (t.pending|t.process.pending)&^t.mask != 0 {
		t.work |= workSignal
	}
}

// isIgnored tells whether sig has no effect on p. The first process gets no
// signal that it has no handler for, not even SIGKILL (kill(2)).
func (p *Process) isIgnored(sig uint64) bool {
	h := p.actions[sig&63|sig&64].handler
	return h == sigIgnore || h == sigDefault && (bit(sig)&ignored != 0 || p.unkillable)
}

// send makes sig pending: for thread t when it is not nil, else for any of p's.
// It returns 0 or a negative errno value.
func send(c *CPU, p *Process, t *Thread, sig uint64, code uint32, fields *[14]uint64) uint64 {
	if p.dying {
		return 0
	}
	if bit(sig)&stopping != 0 {
		dropPending(p, 1<<(unix.SIGCONT-1))
	} else if sig == uint64(unix.SIGCONT) {
		dropPending(p, stopping)
	}
	pending, queue := &p.pending, &p.queue
	target := t
	if t != nil {
		pending, queue = &t.pending, &t.queue
	} else {
		target = chooseThread(p, sig)
	}
	// A signal that is ignored is kept while it is blocked: the action may
	// change until it is delivered. Of the process's, the first thread decides.
	if one := target; p.isIgnored(sig) {
		if one == nil {
			one = p.first
		}
		waited := one.state == stateSignal && one.sigwait&bit(sig) != 0
		if !waited && one.mask&bit(sig) == 0 {
			return 0
		}
	}
	if sig < firstRealTime && *pending&bit(sig) != 0 {
		return 0 // one is enough
	}
	if s := newSignal(p, sig, code, fields); s != nil {
		q := queue
		for *q != nil {
			q = &(*q).next
		}
		*q = s
	} else if sig >= firstRealTime && code != siUser && code != siKern {
		return eAGAIN
	}
	*pending |= bit(sig)
	if target != nil {
		notice(c, target, sig)
	}
	return 0
}

func newSignal(p *Process, sig uint64, code uint32, fields *[14]uint64) *signal {
	if sig >= firstRealTime && uint64(p.queued) >= p.limits[rlimitSigpending].Cur {
		return nil
	}
	s := signals.Get()
	if s == nil {
		return nil
	}
	s.process = p
	p.queued++
	s.info.Signo, s.info.Code = int32(sig), int32(code)
	if fields != nil {
		//lint:ignore S1001 a copy as a whole goes through vector registers, which are the program's
		for i := range fields {
			s.info.Fields[i] = fields[i]
		}
	}
	return s
}

func freeSignal(s *signal) {
	s.process.queued--
	signals.Put(s)
}

// chooseThread is who should get a signal of the process: the first thread if
// it takes it, else another that does; nil when none does.
func chooseThread(p *Process, sig uint64) *Thread {
	var best *Thread
	for t := p.first; t != nil; t = t.groupNext {
		if t.state == stateSignal && t.sigwait&bit(sig) != 0 {
			return t
		}
		if best == nil && t.mask&bit(sig) == 0 {
			best = t
		} else if preferRunning && best != nil && t.isRunning() && !best.isRunning() && t.mask&bit(sig) == 0 {
			best = t
		}
	}
	return best
}

// notice makes t look at a signal that has become pending.
func notice(c *CPU, t *Thread, sig uint64) {
	if t.state == stateSignal && t.sigwait&bit(sig) != 0 {
		t.work |= workRetry // sigtimedwait takes it
		t.sigwait = 0
		wake(c, t)
		return
	}
	if t.mask&bit(sig) != 0 {
		return
	}
	t.work |= workSignal
	interrupt(c, t)
}

// interrupt ends t's wait, if a signal may end it, or makes the processor
// that runs t look at its work.
func interrupt(c *CPU, t *Thread) {
	switch t.state {
	case stateRun:
		if t.cpu != c && t.cpu.cur == t {
			interruptCPU(c, t.cpu)
		}
		return
	case stateFutex:
		futexes.Remove(&t.futex)
		t.AX = t.interrupted
	case stateSleep, stateSignal:
		t.sigwait = 0
		t.AX = t.interrupted
	case stateReady:
		dropWaiters(t)
		t.AX = t.interrupted
	case stateParked:
		t.waiter.Remove()
		cancel(t)
	case stateReceive:
		for p := &handlers; *p != nil; p = &(*p).next {
			if *p == t {
				*p = t.next
				break
			}
		}
		t.next = nil
		t.AX = 0
	default:
		return // delivered when services have replied
	}
	wake(c, t)
}

// take removes the signal that t should get next from what is pending for it
// and not in blocked, and tells its number, 0 when there is none.
func take(t *Thread, blocked uint64, info *sigframe.Info) uint64 {
	own, shared := t.pending&^blocked, t.process.pending&^blocked
	all := own // before the process's, whatever the numbers
	if all == 0 {
		all = shared
	}
	if all == 0 {
		return 0
	}
	if first := all & synchronous; first != 0 {
		all = first
	}
	sig := uint64(bits.TrailingZeros64(all)) + 1
	pending, queue := &t.pending, &t.queue
	if own&bit(sig) == 0 {
		pending, queue = &t.process.pending, &t.process.queue
	}
	info.Signo, info.Errno, info.Code = int32(sig), 0, siUser
	for i := range info.Fields {
		info.Fields[i] = 0
	}
	found, more := false, false
	for q := queue; *q != nil; {
		s := *q
		if s.info.Signo != int32(sig) {
			q = &s.next
			continue
		}
		if found {
			more = true
			break
		}
		found = true
		info.Errno, info.Code = s.info.Errno, s.info.Code
		for i := range info.Fields {
			info.Fields[i] = s.info.Fields[i]
		}
		*q = s.next
		freeSignal(s)
	}
	if !more {
		*pending &^= bit(sig)
	}
	return sig
}

// flush drops the queued signals of a list, of the numbers in set.
func flush(queue **signal, set uint64) {
	for q := queue; *q != nil; {
		s := *q
		if bit(uint64(s.info.Signo))&set == 0 {
			q = &s.next
			continue
		}
		*q = s.next
		freeSignal(s)
	}
}

// force sends a signal that t itself has caused, by an exception: it cannot
// be blocked or ignored.
func force(c *CPU, t *Thread, sig uint64, code uint32, addr uint64) {
	a := &t.process.actions[sig]
	if a.handler == sigIgnore || t.mask&bit(sig) != 0 {
		a.handler = sigDefault
		t.mask &^= bit(sig)
	}
	if a.handler == sigDefault {
		t.process.unkillable = false
	}
	if sig < firstRealTime && t.pending&bit(sig) != 0 {
		flush(&t.queue, bit(sig))
	}
	s := newSignal(t.process, sig, code, nil)
	if s != nil {
		s.info.Fields[0] = addr
		s.next = t.queue
		t.queue = s
	}
	t.pending |= bit(sig)
	t.work |= workSignal
}

// kill makes p end with a wait status; its threads leave when they are next
// to resume.
func kill(c *CPU, p *Process, status uint64) {
	if p.dying {
		return
	}
	p.dying = true
	p.code = status
	for t := p.first; t != nil; t = t.groupNext {
		t.work |= workDie
		interrupt(c, t)
	}
}

// senderInfo fills the fields of a signal that t sends by kill(2).
func senderInfo(t *Thread, fields *[14]uint64) {
	fields[0] = uint64(t.PID) | uint64(t.process.cred.UID)<<32
}

// sendAsUser is kill(2)'s and tgkill(2)'s signal.
func sendAsUser(c *CPU, from *Thread, p *Process, t *Thread, sig uint64, code uint32) uint64 {
	if sig > 64 {
		return eINVAL
	}
	if sig == 0 {
		return 0
	}
	var fields [14]uint64
	senderInfo(from, &fields)
	return send(c, p, t, sig, code, &fields)
}

func infoPointer(info *sigframe.Info) unsafe.Pointer { return unsafe.Pointer(info) }
