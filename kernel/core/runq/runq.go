// Package runq is the queue of threads that one processor may run: real-time
// threads by priority, all others by virtual runtime, the time they have run
// divided by their weight, so that each gets its share (the idea of Linux's
// CFS; sched(7)). Entities are embedded in threads and nothing is allocated.
//
// The thread that runs is not in the queue; its runtime is still accounted to
// it with Account.
package runq

import (
	"math/bits"

	"github.com/leveret-os/leveret/kernel/core/order"
)

// Scheduling policies, numbered as sched_setscheduler(2) has them.
const (
	Other = 0 // SCHED_OTHER
	FIFO  = 1 // SCHED_FIFO
	RR    = 2 // SCHED_RR
	Batch = 3 // SCHED_BATCH
	Idle  = 5 // SCHED_IDLE
)

// MaxPriority is the highest real-time priority; the lowest is 1.
const MaxPriority = 99

const (
	ms = 1000000

	// Latency is the time in which every fair thread should run once.
	Latency = 12 * ms
	// MinSlice bounds how often threads are switched when there are many.
	MinSlice = 2 * ms
	// RRSlice is the time slice of SCHED_RR (sched_rr_get_interval(2)).
	RRSlice = 100 * ms
	// WakeupGranularity is how far a woken thread must be behind the running
	// one to preempt it.
	WakeupGranularity = 1 * ms
	// sleeperCredit is how far behind the queue a thread that slept starts.
	sleeperCredit = Latency / 2
)

// Entity is a schedulable thread. Init must be called once.
type Entity struct {
	node       order.Node // by VRuntime; first: an *Entity is its node's address
	next, prev *Entity    // ring of one real-time priority

	VRuntime uint64 // weighted ns
	Runtime  uint64 // ns that it ran
	used     uint64 // ns of the current slice
	inverse  uint32 // 2^32 / weight, for nice 0's 1024: 2^22
	Policy   uint8
	Priority uint8 // real-time, 1 to MaxPriority, else 0
	Nice     int8
	queued   bool
}

// weights of nice -20 to 19, each about 1.25 times the next (sched(7): one
// step of nice changes the share by 10 %). The values are those of Linux,
// kernel/sched/core.c sched_prio_to_weight.
var weights = [40]uint32{
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
}

const idleWeight = 3

// Init makes e a SCHED_OTHER entity of nice 0.
func (e *Entity) Init() { e.SetPolicy(Other, 0, 0) }

// SetPolicy changes how e is scheduled. e must not be queued. nice counts for
// Other and Batch, priority for FIFO and RR; both must be in range.
func (e *Entity) SetPolicy(policy uint8, priority uint8, nice int8) {
	e.Policy, e.Priority, e.Nice = policy, priority, nice
	w := weights[(int(nice)+20)%40]
	if policy == Idle {
		w = idleWeight
	}
	e.inverse = uint32((1 << 32) / uint64(w))
	e.used = 0
}

// RealTime tells whether e is scheduled by priority.
func (e *Entity) RealTime() bool { return e.Priority != 0 }

// Queued tells whether e is in a queue.
func (e *Entity) Queued() bool { return e.queued }

// weighted is ns of running time in virtual time: ns·1024/weight.
func (e *Entity) weighted(ns uint64) uint64 {
	return ns * uint64(e.inverse) >> 22
}

// Account notes that e ran for ns.
func (e *Entity) Account(ns uint64) {
	e.Runtime += ns
	e.used += ns
	e.VRuntime += e.weighted(ns)
}

// Queue is one processor's. The zero value is empty.
type Queue struct {
	fair     order.Tree
	min      uint64 // never falls: where threads that were away start
	length   int
	realtime int
	bitmap   [2]uint64                // priorities with waiting threads
	heads    [MaxPriority + 1]*Entity // rings
}

// Len is the number of queued entities.
func (q *Queue) Len() int { return q.length }

// Wake queues e after a sleep: a fair one gets credit for the time that it was
// away, of half a latency at most.
func (q *Queue) Wake(e *Entity) {
	if e.Priority == 0 {
		floor := q.min
		if floor > sleeperCredit {
			floor -= sleeperCredit
		} else {
			floor = 0
		}
		if e.VRuntime < floor {
			e.VRuntime = floor
		}
		e.used = 0
	}
	q.Put(e)
}

// Start queues a new thread: behind what runs, so that cloning wins no time.
func (q *Queue) Start(e *Entity) {
	if e.VRuntime < q.min {
		e.VRuntime = q.min
	}
	q.Put(e)
}

// Put queues e, which ran until now: real-time threads at the end of their
// priority.
func (q *Queue) Put(e *Entity) {
	e.queued = true
	q.length++
	if e.Priority == 0 {
		q.fair.Insert(&e.node, e.VRuntime)
		return
	}
	q.link(e)
}

// link puts the real-time entity e at the end of its priority's ring.
func (q *Queue) link(e *Entity) {
	q.realtime++
	q.bitmap[e.Priority>>6] |= 1 << (e.Priority & 63)
	head := q.heads[e.Priority]
	if head == nil {
		e.next, e.prev = e, e
		q.heads[e.Priority] = e
		return
	}
	e.next, e.prev = head, head.prev
	e.prev.next = e
	head.prev = e
}

// PutBack queues e, which was preempted: a real-time thread keeps its place
// at the head of its priority (sched(7)) unless its RR slice is over.
func (q *Queue) PutBack(e *Entity) {
	q.Put(e)
	if e.Priority != 0 && (e.Policy != RR || e.used < RRSlice) {
		q.heads[e.Priority] = e // the ring's end becomes its beginning
	}
}

// Remove takes e out of the queue.
func (q *Queue) Remove(e *Entity) {
	if !e.queued {
		return
	}
	e.queued = false
	q.length--
	if e.Priority == 0 {
		q.fair.Remove(&e.node)
		return
	}
	q.realtime--
	p := e.Priority
	if e.next == e {
		q.heads[p] = nil
		q.bitmap[p>>6] &^= 1 << (p & 63)
	} else {
		e.prev.next, e.next.prev = e.next, e.prev
		if q.heads[p] == e {
			q.heads[p] = e.next
		}
	}
	e.next, e.prev = nil, nil
}

// First is the entity that should run next, nil when none waits.
func (q *Queue) First() *Entity {
	if q.realtime != 0 {
		return q.heads[q.highest()]
	}
	n := q.fair.First()
	if n == nil {
		return nil
	}
	return entityOf(n)
}

// highest is the highest priority with a waiting thread.
func (q *Queue) highest() int {
	if q.bitmap[1] != 0 {
		return 127 - bits.LeadingZeros64(q.bitmap[1])
	}
	return 63 - bits.LeadingZeros64(q.bitmap[0])
}

// Take removes and returns First, whose slice begins.
func (q *Queue) Take() *Entity {
	if q.realtime == 0 {
		n := q.fair.Pop()
		if n == nil {
			return nil
		}
		e := entityOf(n)
		e.queued = false
		q.length--
		q.min = max(q.min, e.VRuntime)
		e.used = 0
		return e
	}
	e := q.First()
	if e == nil {
		return nil
	}
	q.Remove(e)
	if e.Priority == 0 {
		if e.VRuntime > q.min {
			q.min = e.VRuntime
		}
		e.used = 0
	} else if e.used >= RRSlice {
		e.used = 0
	}
	return e
}

// Preempts tells whether e, just queued, should run at once instead of
// running (nil: the processor is idle).
func (q *Queue) Preempts(e, running *Entity) bool {
	switch {
	case running == nil:
		return true
	case e.Priority != 0 || running.Priority != 0:
		return e.Priority > running.Priority
	case e.Policy == Idle || e.Policy == Batch:
		return running.Policy == Idle && e.Policy != Idle
	case running.Policy == Idle:
		return true
	}
	return running.VRuntime > e.VRuntime+e.weighted(WakeupGranularity)
}

// Slice is how long running may go on before SliceOver, 0 for without limit:
// nobody of its rank waits.
func (q *Queue) Slice(running *Entity) uint64 {
	if running.Priority != 0 {
		if running.Policy != RR || q.heads[running.Priority] == nil {
			return 0
		}
		if running.used >= RRSlice {
			return 1
		}
		return RRSlice - running.used
	}
	n := uint64(q.fair.Len())
	if n == 0 {
		return 0
	}
	if s := Latency / (n + 1); s > MinSlice {
		return s
	}
	return MinSlice
}

// SliceOver tells whether running must give way to First.
func (q *Queue) SliceOver(running *Entity) bool {
	first := q.First()
	if first == nil {
		return false
	}
	if first.Priority != 0 || running.Priority != 0 {
		if first.Priority != running.Priority {
			return first.Priority > running.Priority
		}
		return running.Policy == RR && running.used >= RRSlice
	}
	if running.Policy == Idle && first.Policy != Idle {
		return true
	}
	return running.used >= q.Slice(running) && running.VRuntime > first.VRuntime
}

// Yield moves running behind the thread that would run next
// (sched_yield(2)): the caller then puts it back with Put.
func (q *Queue) Yield(running *Entity) {
	if running.Priority != 0 {
		return
	}
	if n := q.fair.First(); n != nil && running.VRuntime <= n.Key {
		running.VRuntime = n.Key + 1
	}
}

// Migrate prepares e, in no queue, to move from one processor's queue to
// another's: what it is ahead or behind is kept.
func Migrate(e *Entity, from, to *Queue) {
	e.VRuntime += to.min - from.min
	if int64(e.VRuntime) < 0 {
		e.VRuntime = 0
	}
}
