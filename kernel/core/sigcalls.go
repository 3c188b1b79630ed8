//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// sysRtSigaction: rt_sigaction(2).
func sysRtSigaction(c *CPU, t *Thread) {
	sig := t.DI
	if t.R10 != 8 || sig == 0 || sig > 64 {
		t.AX = eINVAL
		return
	}
	p := t.process
	a := &p.actions[sig]
	var n sigAction
	if t.SI != 0 {
		if !copyIn(c, unsafe.Pointer(&n), t.SI, 32) {
			t.AX = eFAULT
			return
		}
		if bit(sig)&unblockable != 0 {
			t.AX = eINVAL
			return
		}
	}
	if t.DX != 0 && !copyOut(c, t.DX, unsafe.Pointer(a), 32) {
		t.AX = eFAULT
		return
	}
	if t.SI != 0 {
		a.handler, a.flags, a.restorer = n.handler, n.flags, n.restorer
		a.mask = n.mask &^ unblockable
		if a.handler == sigIgnore || a.handler == sigDefault && bit(sig)&ignored != 0 {
			dropPending(p, bit(sig))
		}
	}
	t.AX = 0
}

// dropPending forgets the pending signals in set: they are ignored now.
func dropPending(p *Process, set uint64) {
	if p.pending&set != 0 {
		p.pending &^= set
		flush(&p.queue, set)
	}
	for t := p.first; t != nil; t = t.groupNext {
		if t.pending&set != 0 {
			t.pending &^= set
			flush(&t.queue, set)
		}
	}
}

// sysRtSigprocmask: rt_sigprocmask(2).
func sysRtSigprocmask(c *CPU, t *Thread) {
	if t.R10 != 8 {
		t.AX = eINVAL
		return
	}
	old, mask := t.mask, t.mask
	if t.SI != 0 {
		set, ok := read64(c, t.SI)
		if !ok {
			t.AX = eFAULT
			return
		}
		switch t.DI {
		case 0:
			mask |= set
		case 1:
			mask &^= set
		case 2:
			mask = set
		default:
			t.AX = eINVAL
			return
		}
		setMask(t, mask)
	}
	if t.DX != 0 && !write64(c, t.DX, old) {
		t.AX = eFAULT
		return
	}
	t.AX = 0
}

// sysRtSigpending: rt_sigpending(2).
func sysRtSigpending(c *CPU, t *Thread) {
	if t.SI > 8 {
		t.AX = eINVAL
		return
	}
	set := (t.pending | t.process.pending) & t.mask
	if !copyOut(c, t.DI, unsafe.Pointer(&set), t.SI) {
		t.AX = eFAULT
		return
	}
	t.AX = 0
}

// waitSignal blocks t until a signal's handler has run; interrupted is what the
// call returns then.
func waitSignal(c *CPU, t *Thread, interrupted uint64) {
	t.AX = interrupted
	if signalPending(t) {
		t.work |= workSignal
		return
	}
	t.interrupted = interrupted
	t.sigwait = 0
	block(c, t, stateSignal)
}

// sysPause: pause(2).
func sysPause(c *CPU, t *Thread) { waitSignal(c, t, eRESTARTNOHAND) }

// sysRtSigsuspend: rt_sigsuspend(2).
func sysRtSigsuspend(c *CPU, t *Thread) {
	if t.SI != 8 {
		t.AX = eINVAL
		return
	}
	mask, ok := read64(c, t.DI)
	if !ok {
		t.AX = eFAULT
		return
	}
	temporaryMask(t, mask)
	waitSignal(c, t, eRESTARTNOHAND)
}

// temporaryMask is t's mask until the call is over; a handler's frame gets
// the one before.
func temporaryMask(t *Thread, mask uint64) {
	if !t.restore {
		t.saved = t.mask
		t.restore = true
	}
	setMask(t, mask)
}

// sysRtSigtimedwait: rt_sigtimedwait(2).
func sysRtSigtimedwait(c *CPU, t *Thread) {
	if t.R10 != 8 {
		t.AX = eINVAL
		return
	}
	set, ok := read64(c, t.DI)
	if !ok {
		t.AX = eFAULT
		return
	}
	set &^= unblockable
	deadline := t.deadline
	var zero bool
	if !t.retry {
		deadline = 0
		if t.DX != 0 {
			ns, e := readTimespec(c, t.DX)
			if e != 0 {
				t.AX = e
				return
			}
			zero = ns == 0
			deadline = later(nowNS(), ns)
		}
	}
	info := &sigScratch.Info
	if sig := take(t, ^set, info); sig != 0 {
		if t.SI != 0 && !copyOut(c, t.SI, infoPointer(info), 128) {
			t.AX = eFAULT
			return
		}
		t.AX = sig
		return
	}
	if zero || t.timedOut {
		t.AX = eAGAIN
		return
	}
	if signalPending(t) {
		t.AX = eINTR
		t.work |= workSignal
		return
	}
	t.interrupted = eINTR
	t.sigwait = set
	t.deadline = deadline
	if deadline != 0 {
		addTimer(c, &t.timer, deadline)
	}
	block(c, t, stateSignal)
}

// sysSigaltstack: sigaltstack(2).
func sysSigaltstack(c *CPU, t *Thread) {
	var old, n struct {
		sp    uint64
		flags uint64 // an int and padding
		size  uint64
	}
	if t.DI != 0 && !copyIn(c, unsafe.Pointer(&n), t.DI, 24) {
		t.AX = eFAULT
		return
	}
	old.sp, old.flags, old.size = t.altStack, uint64(t.altState(t.SP)), t.altSize
	r := uint64(0)
	if t.DI != 0 {
		if t.onAltStack(t.SP) {
			r = ePERM
		} else {
			r = setAltStack(t, n.sp, uint32(n.flags), n.size)
		}
	}
	if r == 0 && t.SI != 0 && !copyOut(c, t.SI, unsafe.Pointer(&old), 24) {
		r = eFAULT
	}
	t.AX = r
}

func setAltStack(t *Thread, sp uint64, flags uint32, size uint64) uint64 {
	mode := flags &^ ssAutodisarm
	if mode != 0 && mode != 1 && mode != 2 {
		return eINVAL
	}
	if mode == 2 {
		t.altStack, t.altSize, t.altFlags = 0, 0, 0
		return 0
	}
	if size < minSigStack {
		return eNOMEM
	}
	t.altStack, t.altSize, t.altFlags = sp, size, flags&ssAutodisarm
	return 0
}

const minSigStack = 2048 // MINSIGSTKSZ

// sysKill: kill(2). The only processes are init and services, which is none.
func sysKill(c *CPU, t *Thread) {
	pid, sig := int32(t.DI), t.SI
	if uint32(sig) > 64 {
		t.AX = eINVAL
		return
	}
	p := t.process
	switch {
	case pid > 0:
		p = findProcess(uint32(pid))
		if p == nil {
			if o := findThread(uint32(pid)); o != nil {
				p = o.process
			}
		}
	case pid == -1:
		t.AX = eSRCH
		return
	case pid < -1:
		if uint32(-pid) != p.group {
			t.AX = eSRCH
			return
		}
	}
	if p == nil || p.ring0 != t.ring0() {
		t.AX = eSRCH
		return
	}
	t.AX = 0
	t.AX = sendAsUser(c, t, p, nil, sig&0xffffffff, siUser)
}

// sysTgkill: tgkill(2).
func sysTgkill(c *CPU, t *Thread) { tkill(c, t, int32(t.DI), int32(t.SI), t.DX) }

// sysTkill: tkill(2).
func sysTkill(c *CPU, t *Thread) { tkill(c, t, 0, int32(t.DI), t.SI) }

func tkill(c *CPU, t *Thread, pid, tid int32, sig uint64) {
	if tid <= 0 || pid <= 0 && t.call == unix.SYS_TGKILL || uint32(sig) > 64 {
		t.AX = eINVAL
		return
	}
	o := findThread(uint32(tid))
	if o == nil || pid != 0 && o.PID != uint32(pid) || o.ring0() != t.ring0() {
		t.AX = eSRCH
		return
	}
	t.AX = 0
	t.AX = sendAsUser(c, t, o.process, o, sig&0xffffffff, siTkill)
}

// sysRtSigqueueinfo: rt_sigqueueinfo(2).
func sysRtSigqueueinfo(c *CPU, t *Thread) { queueInfo(c, t, int32(t.DI), 0, t.SI, t.DX) }

// sysRtTgsigqueueinfo: rt_tgsigqueueinfo(2).
func sysRtTgsigqueueinfo(c *CPU, t *Thread) {
	queueInfo(c, t, int32(t.DI), int32(t.SI), t.DX, t.R10)
}

func queueInfo(c *CPU, t *Thread, pid, tid int32, sig, from uint64) {
	var info [16]uint64
	if !copyIn(c, unsafe.Pointer(&info), from, 128) {
		t.AX = eFAULT
		return
	}
	code := uint32(info[1])
	if (int32(code) >= 0 || code == siTkill) && uint32(pid) != t.PID {
		t.AX = ePERM
		return
	}
	if uint32(sig) > 64 {
		t.AX = eINVAL
		return
	}
	p := findProcess(uint32(pid))
	var o *Thread
	if tid != 0 {
		o = findThread(uint32(tid))
		if o == nil || o.process != p {
			t.AX = eSRCH
			return
		}
	}
	if p == nil || p.ring0 != t.ring0() {
		t.AX = eSRCH
		return
	}
	t.AX = 0
	if sig != 0 {
		var fields [14]uint64
		for i := range fields {
			fields[i] = info[i+2]
		}
		t.AX = send(c, p, o, sig&0xffffffff, code, &fields)
	}
}
