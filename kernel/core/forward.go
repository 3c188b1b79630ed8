//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

var (
	handlers           *Thread // idle ones
	nhandlers          uint64
	sendHead, sendTail *Thread // callers for whom there was no idle handler

	// A page fault on a user's address with IP in [fixLo, fixHi) resumes at
	// fixPad: services' copy of user memory.
	fixLo, fixHi, fixPad uint64
)

// forward hands the call of t, the current thread, to services.
func forward(c *CPU, t *Thread) {
	if t.ring0() {
		t.AX = eNOSYS
		return
	}
	n := uint64(uint32(t.call))
	if n < maxSyscall {
		t.process.forwards[n]++
	}
	t.AX = t.call
	t.Retry, t.Ready = 0, 0
	t.State[0], t.State[1], t.State[2], t.State[3] = 0, 0, 0, 0
	hand(c, t)
}

// forwardAgain is forward for a request that was parked.
func forwardAgain(c *CPU, t *Thread) {
	t.AX = t.call
	t.Retry++
	hand(c, t)
}

// hand switches to an idle handler, or queues t until there is one.
func hand(c *CPU, t *Thread) {
	h := handlers
	if h == nil {
		t.next = nil
		if sendTail == nil {
			sendHead = t
		} else {
			sendTail.next = t
		}
		sendTail = t
		block(c, t, stateSend)
		return
	}
	handlers = h.next
	h.next = nil
	t.state = stateServed
	give(t, h)
	h.state = stateRun
	h.as = t.as
	forwardFP(t, h)
	c.cur = h
	h.cpu = c
	setTrapFrame(c, taddr(h)+trapFrameSize)
}

// give makes t's request the one that h serves.
func give(t, h *Thread) {
	h.client = t
	h.AX = taddr(t)
	t.handed = x86.Rdtsc()
	t.WaitObject, t.Deadline, t.Cancelled = 0, 0, 0
}

// receive is abi.HyperReceive: h, the current thread, replies to the request
// that it holds, if any, and takes the next.
func receive(c *CPU, h *Thread) {
	if !h.ring0() {
		h.AX = eNOSYS
		return
	}
	if !h.handler {
		h.handler = true
		nhandlers++
	}
	h.how = howReceive
	u := h.client
	if u != nil {
		u.process.forwardTicks += x86.Rdtsc() - u.handed
	}
	action := h.DI
	direct := u != nil && action == abi.ReplyResult
	if u != nil && !direct {
		h.client = nil
		if u.fp == fpRiding {
			saveRest(u)
		}
		park(c, u, uint8(action))
		u = nil
	}
	if p := sendHead; p != nil { // somebody waits already
		sendHead = p.next
		if sendHead == nil {
			sendTail = nil
		}
		p.next = nil
		p.state = stateServed
		give(p, h)
		h.as = p.as
		if !direct {
			// h goes on at once, with nothing of its own in the vector
			// registers; what p has in its xsave stays there.
			setCur(c, h)
			return
		}
		h.fp = fpDead
		c.run.Put(&h.sched)
		u.work |= workResched
	} else {
		h.client, h.as = nil, nil
		h.fp = fpDead
		if h.pending&^h.mask != 0 {
			h.AX = 0
			h.work |= workSignal
			if !direct {
				h.fp = fpLive
				return
			}
			c.run.Put(&h.sched)
			u.work |= workResched
		} else {
			h.next, handlers = handlers, h
			h.state = stateReceive
			if !direct {
				schedule(c)
				return
			}
		}
	}
	// Straight back to the caller.
	u.AX = uint64(u.Result)
	u.state = stateRun
	if u.fp == fpRiding {
		replyFP(u)
		h.fp = fpDead
	} else {
		switchFP(h, u)
	}
	setCur(c, u)
}

// park makes u's request wait as it asks. What it waits for may have come
// already.
func park(c *CPU, u *Thread, action uint8) {
	u.action = action
	if u.WaitObject != 0 {
		o := (*Readiness)(ptr(u.WaitObject))
		if bits := o.Current() & (u.WaitBits | ready.Always); bits != 0 {
			u.Ready = bits
			u.work |= workForward
			enqueue(c, u, queueWake)
			return
		}
	}
	if u.pending&^u.mask != 0 || u.process.pending&^u.mask != 0 {
		cancel(u)
		u.work |= workSignal
		enqueue(c, u, queueWake)
		return
	}
	if u.Deadline != 0 && uint64(u.Deadline) <= nowNS() {
		u.Ready = 0
		u.work |= workForward
		enqueue(c, u, queueWake)
		return
	}
	u.state = stateParked
	if u.WaitObject != 0 {
		u.waiter.Owner = unsafe.Pointer(u)
		(*Readiness)(ptr(u.WaitObject)).Add(&u.waiter, u.WaitBits, false)
	}
	if u.Deadline != 0 {
		addTimer(c, &u.timer, uint64(u.Deadline))
	}
}

// cancel sets the result of a parked request that a signal ends.
func cancel(u *Thread) {
	switch {
	case u.Cancelled != 0:
		u.AX = uint64(u.Cancelled)
	case u.action == abi.ReplyWaitNoRestart:
		u.AX = eINTR
	default:
		u.AX = eRESTARTSYS
	}
}
