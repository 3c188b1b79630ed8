// Package timers orders what is to happen at a time: sleeping threads, timer
// descriptors, POSIX timers. Timers are embedded in their owners and a queue
// allocates nothing.
package timers

import "github.com/leveret-os/leveret/kernel/core/order"

// Never is the deadline of an empty queue.
const Never = ^uint64(0)

// Timer is embedded in what it wakes. Kind tells the owner's type to who
// takes an expired timer, and is the owner's to choose.
type Timer struct {
	node order.Node // first: a *Timer is its node's address
	Kind uint8
}

// Armed tells whether t is in a queue.
func (t *Timer) Armed() bool { return t.node.In() }

// Deadline is when t is due; meaningful while it is armed.
func (t *Timer) Deadline() uint64 { return t.node.Key }

// Queue is a set of armed timers. The zero value is empty.
type Queue struct{ tree order.Tree }

// Len is the number of armed timers.
func (q *Queue) Len() int { return q.tree.Len() }

// Next is the earliest deadline, or Never.
func (q *Queue) Next() uint64 {
	if n := q.tree.First(); n != nil {
		return n.Key
	}
	return Never
}

// Add arms t for deadline, in nanoseconds of the machine's monotonic clock,
// moving it when it is armed already. It tells whether t is now the first.
func (q *Queue) Add(t *Timer, deadline uint64) (first bool) {
	q.tree.Remove(&t.node)
	q.tree.Insert(&t.node, deadline)
	return q.tree.First() == &t.node
}

// Remove disarms t if it is armed.
func (q *Queue) Remove(t *Timer) { q.tree.Remove(&t.node) }

// Expired takes the earliest timer that is due at now, nil when none is.
func (q *Queue) Expired(now uint64) *Timer {
	n := q.tree.First()
	if n == nil || n.Key > now {
		return nil
	}
	q.tree.Remove(n)
	return timerOf(n)
}
