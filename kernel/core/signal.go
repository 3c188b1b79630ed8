//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

type sigAct struct{ handler, flags, restorer, mask uint64 }

func sysSigaction(c *CPU, t *Thread) {
	sig := t.frame.DI
	if sig == 0 || sig > 64 {
		t.frame.AX = neg(22)
		return
	}
	as := asOf(t)
	sa := &as.sig[sig&63]
	if t.frame.DX != 0 {
		o := asFor(t, t.frame.DX)
		if o == nil || !o.put64(c, t.frame.DX, sa.handler) || !o.put64(c, t.frame.DX+8, sa.flags) || !o.put64(c, t.frame.DX+16, sa.restorer) || !o.put64(c, t.frame.DX+24, sa.mask) {
			t.frame.AX = neg(14)
			return
		}
	}
	if t.frame.SI != 0 {
		o := asFor(t, t.frame.SI)
		if o == nil {
			t.frame.AX = neg(14)
			return
		}
		h, ok := o.get64(c, t.frame.SI)
		fl, ok2 := o.get64(c, t.frame.SI+8)
		re, ok3 := o.get64(c, t.frame.SI+16)
		m, ok4 := o.get64(c, t.frame.SI+24)
		if !ok || !ok2 || !ok3 || !ok4 {
			t.frame.AX = neg(14)
			return
		}
		sa.handler, sa.flags, sa.restorer, sa.mask = h, fl, re, m
	}
	t.frame.AX = 0
}

func sysSigprocmask(c *CPU, t *Thread) {
	old := t.sigmask
	if t.frame.SI != 0 {
		o := asFor(t, t.frame.SI)
		if o == nil {
			t.frame.AX = neg(14)
			return
		}
		m, _ := o.get64(c, t.frame.SI)
		switch t.frame.DI {
		case 0:
			t.sigmask |= m
		case 1:
			t.sigmask &^= m
		case 2:
			t.sigmask = m
		}
	}
	if t.frame.DX != 0 {
		if o := asFor(t, t.frame.DX); o != nil {
			o.put64(c, t.frame.DX, old)
		}
	}
	t.frame.AX = 0
	sigCheck(c, t)
}

func sysSigaltstack(c *CPU, t *Thread) {
	if t.frame.SI != 0 {
		if o := asFor(t, t.frame.SI); o != nil {
			o.put64(c, t.frame.SI, t.altsp)
			f := uint64(0)
			if t.altsize == 0 {
				f = 2
			}
			o.put64(c, t.frame.SI+8, f)
			o.put64(c, t.frame.SI+16, t.altsize)
		}
	}
	if t.frame.DI != 0 {
		if o := asFor(t, t.frame.DI); o != nil {
			sp, _ := o.get64(c, t.frame.DI)
			fl, _ := o.get64(c, t.frame.DI+8)
			sz, _ := o.get64(c, t.frame.DI+16)
			t.altsp, t.altsize = sp, sz
			if fl&2 != 0 {
				t.altsp, t.altsize = 0, 0
			}
		}
	}
	t.frame.AX = 0
}

// sigBreak: a signal came in (from another CPU) on the way to a blocking
// wait: do not wait.
func sigBreak(c *CPU, t *Thread, r uint64) bool {
	if t.pending&^t.sigmask == 0 {
		return false
	}
	t.frame.AX = r
	sigCheck(c, t)
	return true
}

// sendSig: to thread t (maybe the current one, then its syscall result is
// already in t.frame.AX).
func sendSig(c *CPU, t *Thread, sig uint64) {
	nkick++
	t.pending |= 1 << (sig - 1)
	if t.pending&^t.sigmask == 0 {
		return
	}
	switch t.blocked {
	case bFutex:
		futexDel(t)
		t.frame.AX = neg(4)
		wake(c, t)
	case bSleep, bEpoll:
		t.frame.AX = neg(4)
		wake(c, t)
	case bRecv:
		for p := &handlers; *p != nil; p = &(*p).next {
			if *p == t {
				*p = t.next
				break
			}
		}
		t.frame.AX = 0
		wake(c, t)
	case bSend, bServed:
		return // delivered when the reply comes
	}
	sigCheck(c, t)
}

func sigCheck(c *CPU, t *Thread) {
	for {
		p := t.pending &^ t.sigmask
		if p == 0 {
			return
		}
		sig := uint64(1)
		for p&1 == 0 {
			p >>= 1
			sig++
		}
		t.pending &^= 1 << (sig - 1)
		deliver(c, t, sig, 0, 0)
	}
}

func deliver(c *CPU, t *Thread, sig, code, addr uint64) bool {
	sa := &asOf(t).sig[sig&63]
	if sa.handler <= 1 {
		return false
	}
	if t == c.cur && t.how != 2 {
		x86.Fxsave(fxaddr(t))
		t.fp = 3
		c.x87Dirty = true
	}
	sp := t.frame.SP - 128
	if t.altsize != 0 && !(t.frame.SP >= t.altsp && t.frame.SP < t.altsp+t.altsize) {
		sp = t.altsp + t.altsize
	}
	sp = (sp-1200)&^15 - 8
	as := asFor(t, sp)
	if as == nil || as.pageFor(c, sp, true) == 0 || as.pageFor(c, sp+1100, true) == 0 {
		return false
	}
	uc := sp + 8
	as.put64(c, sp, sa.restorer)
	as.put64(c, uc, 0)
	as.put64(c, uc+8, 0)
	as.put64(c, uc+16, t.altsp)
	as.put64(c, uc+24, 0)
	as.put64(c, uc+32, t.altsize)
	r := [...]uint64{t.frame.R8, t.frame.R9, t.frame.R10, t.frame.R11, t.frame.R12, t.frame.R13, t.frame.R14, t.frame.R15, t.frame.DI, t.frame.SI, t.frame.BP, t.frame.BX, t.frame.DX, t.frame.AX, t.frame.CX, t.frame.SP, t.frame.IP, t.frame.Flags}
	for i := range r {
		as.put64(c, uc+40+uint64(i)*8, r[i])
	}
	as.put64(c, uc+184, t.frame.CS&0xffff)
	as.put64(c, uc+192, t.frame.Error)
	as.put64(c, uc+200, t.frame.Vector)
	as.put64(c, uc+216, addr)
	as.put64(c, uc+224, 0)
	as.put64(c, uc+296, t.sigmask)
	si := uc + 304
	as.put64(c, si, sig)
	as.put64(c, si+8, code)
	as.put64(c, si+16, addr)
	for i := range t.fx {
		as.put64(c, uc+448+uint64(i)*8, t.fx[i])
	}
	as.put64(c, uc+960, t.x14[0])
	as.put64(c, uc+968, t.x14[1])
	as.put64(c, uc+976, t.x15[0])
	as.put64(c, uc+984, t.x15[1])
	t.sigmask |= sa.mask | 1<<(sig-1)
	t.frame.IP = sa.handler
	t.frame.SP = sp
	t.frame.DI, t.frame.SI, t.frame.DX = sig, si, uc
	t.frame.AX = 0
	t.frame.Flags = 0x202
	t.how = 0
	return true
}

func sysSigreturn(c *CPU, t *Thread) {
	as := asFor(t, t.frame.SP)
	if as == nil {
		die("sigreturn: bad frame")
	}
	uc := t.frame.SP
	var r [18]uint64
	for i := range r {
		r[i], _ = as.get64(c, uc+40+uint64(i)*8)
	}
	t.frame.R8, t.frame.R9, t.frame.R10, t.frame.R11, t.frame.R12, t.frame.R13, t.frame.R14, t.frame.R15 = r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]
	t.frame.DI, t.frame.SI, t.frame.BP, t.frame.BX, t.frame.DX, t.frame.AX, t.frame.CX, t.frame.SP, t.frame.IP = r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15], r[16]
	t.frame.Flags = r[17]&0x40cd5 | 0x202 // AC too: ucopy runs with it under SMAP
	if t.frame.CS == uCS && t.frame.IP >= userTop {
		t.frame.IP = 0
	}
	for i := range t.fx {
		t.fx[i], _ = as.get64(c, uc+448+uint64(i)*8)
	}
	t.fx[3] &= 0x0000ffbf // MXCSR: no reserved bits
	t.x14[0], _ = as.get64(c, uc+960)
	t.x14[1], _ = as.get64(c, uc+968)
	t.x15[0], _ = as.get64(c, uc+976)
	t.x15[1], _ = as.get64(c, uc+984)
	t.sigmask, _ = as.get64(c, uc+296)
	t.fp = 3
	t.fs = x86.ReadFS()
	loadFP(c, t)
	t.how = 0
	sigCheck(c, t)
}
