//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/ready"
	"github.com/leveret-os/leveret/kernel/core/slab"
)

// Readiness is a readiness object that services made.
type Readiness struct{ ready.Object }

var readinesses slab.Pool[Readiness]

// post changes an object's bits and wakes who waits for them.
func post(c *CPU, o *ready.Object, set, clear uint32) {
	var woken ready.Chain
	o.Post(set, clear, &woken)
	wakeChain(c, &woken)
}

// wakeChain makes the threads of a chain try again.
func wakeChain(c *CPU, woken *ready.Chain) {
	for w := woken.Next(); w != nil; w = woken.Next() {
		t := (*Thread)(w.Owner)
		switch t.state {
		case stateReady:
			dropWaiters(t)
			t.work |= workRetry
			wake(c, t)
		case stateParked:
			t.Ready = (*Readiness)(ptr(t.WaitObject)).Current() & (t.WaitBits | ready.Always)
			t.work |= workForward
			wake(c, t)
		}
	}
}

// waitReady blocks t, the current thread, until o has one of the bits, the
// deadline (0: none) has passed, or a signal comes, which makes the call
// return interrupted. The call is then made again.
func waitReady(c *CPU, t *Thread, o *ready.Object, bits uint32, deadline, interrupted uint64) {
	if signalPending(t) {
		t.AX = interrupted
		t.work |= workSignal
		return
	}
	t.interrupted = interrupted
	t.waiter.Owner = unsafe.Pointer(t)
	o.Add(&t.waiter, bits, false)
	t.deadline = deadline
	if deadline != 0 {
		addTimer(c, &t.timer, deadline)
	}
	block(c, t, stateReady)
}

// dropWaiters takes t off all objects that it waits for.
func dropWaiters(t *Thread) {
	t.waiter.Remove()
	for b := t.extra; b != nil; b = t.extra {
		for i := range b.waiters {
			b.waiters[i].Remove()
		}
		t.extra = b.next
		freePage(unsafe.Pointer(b))
	}
}

// pollBlock is a frame of waiters, for a poll of more than one file.
type pollBlock struct {
	next    *pollBlock
	used    int
	waiters [64]ready.Waiter
}

const _ = uint(pageSize - unsafe.Sizeof(pollBlock{}))

// waitAlso adds o to what t will wait for; false when there is no memory.
func waitAlso(t *Thread, o *ready.Object, bits uint32) bool {
	if !t.waiter.Waiting() {
		t.waiter.Owner = unsafe.Pointer(t)
		o.Add(&t.waiter, bits, false)
		return true
	}
	b := t.extra
	if b == nil || b.used == len(b.waiters) {
		n := (*pollBlock)(allocPage())
		if n == nil {
			return false
		}
		n.next = b
		t.extra = n
		b = n
	}
	w := &b.waiters[b.used&63]
	b.used++
	w.Owner = unsafe.Pointer(t)
	o.Add(w, bits, false)
	return true
}
