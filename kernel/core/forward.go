//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// forward: user thread t made a syscall core does not serve.
func forward(c *CPU, t *Thread) {
	h := handlers
	if h == nil {
		t.next = nil
		if sendTail == nil {
			sendHead = t
		} else {
			sendTail.next = t
		}
		sendTail = t
		t.blocked = bSend
		schedule(c)
		return
	}
	nfwd++
	handlers = h.next
	h.next = nil
	h.client = t
	h.as = t.as
	h.frame.AX = taddr(t)
	h.blocked = bNone
	t.blocked = bServed
	t.fp = 1
	t.fs = fwdSwitch(fxaddr(t), h.fs)
	c.cur = h
	setTrapFrame(c, taddr(h)+176)
}

// recv: services' reply_and_receive. DI = reply for the current client.
func recv(c *CPU, h *Thread) {
	if h.frame.CS != kCS {
		h.frame.AX = neg(38)
		return
	}
	u := h.client
	if u == nil && h.sleeping == false && !h.idle {
		h.fs = x86.ReadFS()
		h.idle = true // first call: this thread is a handler from now on
		nhandlers++
	}
	h.how = 2
	h.fp = 0
	if u != nil {
		u.frame.AX = h.frame.DI
		u.blocked = bNone
	}
	if p := sendHead; p != nil { // somebody already waits
		sendHead = p.next
		if sendHead == nil {
			sendTail = nil
		}
		p.next = nil
		h.client = p
		p.blocked = bServed
		h.frame.AX = taddr(p)
		if u == nil {
			h.as = p.as
			setCur(c, h)
			return
		}
		h.as = p.as
		enqueue(c, h)
	} else if h.pending&^h.sigmask != 0 {
		h.client, h.as = nil, nil
		sigBreak(c, h, 0)
		if u == nil {
			return
		}
		enqueue(c, h)
	} else {
		h.client, h.as = nil, nil
		h.next = handlers
		handlers = h
		h.blocked = bRecv
	}
	if u == nil {
		schedule(c)
		return
	}
	// straight back to the caller
	if u.fp == 1 {
		replySwitch(fxaddr(u), u.fs)
	} else {
		loadFP(c, u)
		x86.WriteFS(u.fs)
	}
	c.cur = u
	setTrapFrame(c, taddr(u)+176)
	if u.as != c.curAS {
		setCur(c, u)
	}
	if u.pending&^u.sigmask != 0 {
		sigCheck(c, u)
	}
}

func svcSyscall(c *CPU, t *Thread) {
	switch t.frame.AX {
	case 1:
		as := servicesSpace
		for i := uint64(0); i < t.frame.DX; i++ {
			p := as.pageFor(c, t.frame.SI+i, false)
			if p == 0 {
				t.frame.AX = neg(14)
				return
			}
			b := rd8(p)
			if b == 0x0a {
				putc('\r')
			}
			putc(b)
		}
		t.frame.AX = t.frame.DX
	case 72: // fcntl
		t.frame.AX = 0
		if t.frame.SI == 3 {
			t.frame.AX = 2
		}
	case 0x1001:
		fixLo, fixHi, fixPad = t.frame.DI, t.frame.SI, t.frame.DX
		t.frame.AX = 0
	case 0x1002:
		servicesSpace.put64(c, t.frame.DI, directMap+bootInfo.initramfs)
		servicesSpace.put64(c, t.frame.DI+8, bootInfo.initramfsSize)
		t.frame.AX = 0
	case 0x1003:
		spawnUser(c)
		t.frame.AX = 0
	case 0x1004: // console write of n bytes at a, quick
		for i := uint64(0); i < t.frame.SI; i++ {
			b := rd8(t.frame.DI + i)
			if b == 0x0a {
				putc('\r')
			}
			putc(b)
		}
		t.frame.AX = t.frame.SI
	case 0x1006:
		t.frame.AX = recvAddr
	case 0x1005:
		t.frame.AX = memory.Total() - memory.Free()
	default:
		if traceSys {
			kv("core: services syscall ", t.frame.AX)
			puts(" ENOSYS\n")
		}
		t.frame.AX = neg(38)
	}
}
