// Package ready is what one can wait for: objects with poll(2) bits and a list
// of waiters, and epoll(7) sets over them. Everything is embedded in its owner
// and nothing is allocated; blocking and waking threads is the caller's, who
// gets them as a chain from Post.
//
// An object's bits are the truth at this moment; posting also is an event:
// waiters are told of bits that are posted although they were set before,
// which is what edge-triggered epoll is made of.
package ready

import "unsafe"

// Bits of poll(2) and epoll_ctl(2), which agree.
const (
	In    = 0x001
	Pri   = 0x002
	Out   = 0x004
	Err   = 0x008
	Hup   = 0x010
	Nval  = 0x020
	RdHup = 0x2000

	// Always is reported whether asked for or not.
	Always = Err | Hup

	// Flags of epoll_ctl(2).
	Exclusive = 1 << 28
	WakeUp    = 1 << 29
	OneShot   = 1 << 30
	Edge      = 1 << 31

	flags = Exclusive | WakeUp | OneShot | Edge
)

// MaxDepth is how many epoll sets may be nested (epoll_ctl(2), ELOOP).
const MaxDepth = 5

// Object is something that can be ready. The zero value is never ready.
type Object struct {
	Bits        uint32
	set         *Set // when it is the object of an epoll set
	first, last *Waiter
}

// Waiter is a thread's interest in an object, or an epoll item's. A thread
// that polls several objects has one for each.
type Waiter struct {
	Owner unsafe.Pointer // the thread, for who takes it from a Chain

	next, prev *Waiter
	object     *Object
	item       *Item // nil: a thread's
	want       uint32
	exclusive  bool
}

// Waiting tells whether w is on an object's list.
func (w *Waiter) Waiting() bool { return w.object != nil }

// Add puts w, which is on no list, on o's for the bits in want and Always. Of
// several exclusive waiters that a post concerns only the first is told.
func (o *Object) Add(w *Waiter, want uint32, exclusive bool) {
	w.want, w.exclusive, w.item = want|Always, exclusive, nil
	o.link(w)
}

func (o *Object) link(w *Waiter) {
	w.object = o
	w.next, w.prev = nil, o.last
	if w.prev == nil {
		o.first = w
	} else {
		w.prev.next = w
	}
	o.last = w
}

// Remove takes w off its list, if it is on one.
func (w *Waiter) Remove() {
	o := w.object
	if o == nil {
		return
	}
	w.object = nil
	if w.prev == nil {
		o.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		o.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev = nil, nil
}

// Chain is threads' waiters that a post took off their lists, to be woken.
type Chain struct{ first, last *Waiter }

// Next takes a waiter from the chain, nil when it is empty.
func (ch *Chain) Next() *Waiter {
	w := ch.first
	if w != nil {
		ch.first = w.next
		w.next = nil
		if ch.first == nil {
			ch.last = nil
		}
	}
	return w
}

func (ch *Chain) push(w *Waiter) {
	if ch.last == nil {
		ch.first = w
	} else {
		ch.last.next = w
	}
	ch.last = w
}

// Post clears and sets bits of o and adds the threads that waited for one of
// the set ones to woken. Epoll items become ready, and so do the sets that
// hold them.
func (o *Object) Post(set, clear uint32, woken *Chain) {
	o.Bits = o.Bits&^clear | set
	if o.first != nil && set != 0 {
		o.tell(set, woken, 0)
	}
}

func (o *Object) tell(set uint32, woken *Chain, depth int) {
	told := false
	for w := o.first; w != nil; {
		next := w.next
		if w.want&set != 0 && !(w.exclusive && told) {
			if w.exclusive {
				told = true
			}
			if w.item == nil {
				w.Remove()
				woken.push(w)
			} else if depth <= MaxDepth {
				w.item.set.markReady(w.item, woken, depth)
			}
		}
		w = next
	}
}

// EachItem returns the first epoll item on o at or after w in its list; a walk
// begins with nil. It serves closing a file: see Item.File.
func (o *Object) EachItem(after *Waiter) (*Item, *Waiter) {
	w := o.first
	if after != nil {
		w = after.next
	}
	for ; w != nil; w = w.next {
		if w.item != nil {
			return w.item, w
		}
	}
	return nil, nil
}
