// Package futex is the table of threads that wait on words of user memory
// (futex(2)): a hash of queues, first come first served. Waiters are embedded
// in threads and nothing is allocated. It knows nothing of memory or threads:
// who calls it compares the word and blocks the thread.
package futex

// AnyBits is the bitset that every waiter and waker matches
// (FUTEX_BITSET_MATCH_ANY).
const AnyBits = 0xffffffff

// Key names a word: an address space and an address in it for private
// futexes, a memory object and an offset in it for shared ones.
type Key struct {
	Space   uintptr
	Address uint64
}

// Waiter is a thread's place in the table; its zero value waits for nothing.
type Waiter struct {
	next, prev *Waiter
	key        Key
	bits       uint32
	queued     bool
}

// Queued tells whether w waits.
func (w *Waiter) Queued() bool { return w.queued }

// Key is what w waits for, or last waited for.
func (w *Waiter) Key() Key { return w.key }

const buckets = 256

// Table holds all waiters. The zero value is empty.
type Table struct {
	heads, tails [buckets]*Waiter
}

func (k Key) bucket() uint64 {
	h := (k.Address>>2 ^ uint64(k.Space)>>8) * 0x9e3779b97f4a7c15
	return h >> 56
}

// Add makes w, which must not be queued, the last waiter of key with the
// given bits, which are not 0.
func (t *Table) Add(w *Waiter, key Key, bits uint32) {
	w.key, w.bits, w.queued = key, bits, true
	b := key.bucket()
	w.next, w.prev = nil, t.tails[b]
	if w.prev == nil {
		t.heads[b] = w
	} else {
		w.prev.next = w
	}
	t.tails[b] = w
}

// Remove ends w's wait if it waits.
func (t *Table) Remove(w *Waiter) {
	if !w.queued {
		return
	}
	w.queued = false
	b := w.key.bucket()
	if w.prev == nil {
		t.heads[b] = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		t.tails[b] = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev = nil, nil
}

// Scan walks the waiters of a key. It stays valid while what it returned is
// removed, or queued again under any key.
type Scan struct {
	at  *Waiter
	end *Waiter // the last waiter when the scan began
	key Key
}

// Scan begins a walk over the waiters of key, those that are there now.
func (t *Table) Scan(key Key) Scan {
	b := key.bucket()
	return Scan{at: t.heads[b], end: t.tails[b], key: key}
}

// Take removes and returns the next waiter that shares a bit with bits, nil
// at the end.
func (t *Table) Take(s *Scan, bits uint32) *Waiter {
	for w := s.at; w != nil; {
		next := w.next
		if w == s.end {
			next = nil
		}
		if w.key == s.key && w.bits&bits != 0 {
			s.at = next
			t.Remove(w)
			return w
		}
		w = next
	}
	s.at = nil
	return nil
}

// First removes and returns the first waiter of key that shares a bit with
// bits, nil when there is none: the usual wake, without a Scan.
func (t *Table) First(key Key, bits uint32) *Waiter {
	for w := t.heads[key.bucket()]; w != nil; w = w.next {
		if w.key.Address != key.Address || w.key.Space != key.Space || w.bits&bits == 0 {
			continue
		}
		t.Remove(w)
		return w
	}
	return nil
}

// Requeue moves w, just taken, to the end of key's queue, with its bits.
func (t *Table) Requeue(w *Waiter, key Key) { t.Add(w, key, w.bits) }
