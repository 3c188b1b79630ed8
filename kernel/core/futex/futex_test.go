package futex

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAgainstSlice compares the table with a plain list of waiters in the
// order in which they came.
func TestAgainstSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var table Table
	keys := make([]Key, 40)
	for i := range keys {
		keys[i] = Key{uintptr(rng.IntN(3)) << 12, uint64(rng.IntN(200)) * 4}
	}
	waiters := make([]Waiter, 100)
	var model []*Waiter
	take := func(key Key, bits uint32, n int) (got []*Waiter) {
		model = slices.DeleteFunc(model, func(w *Waiter) bool {
			if len(got) < n && w.key == key && w.bits&bits != 0 {
				got = append(got, w)
				return true
			}
			return false
		})
		return got
	}
	for step := range 20000 {
		key := keys[rng.IntN(len(keys))]
		bits := uint32(1) << rng.IntN(3)
		if rng.IntN(3) == 0 {
			bits = AnyBits
		}
		switch w := &waiters[rng.IntN(len(waiters))]; rng.IntN(5) {
		case 0, 1, 2:
			if !w.Queued() {
				table.Add(w, key, bits)
				model = append(model, w)
			}
		case 3:
			table.Remove(w)
			model = slices.DeleteFunc(model, func(m *Waiter) bool { return m == w })
		case 4:
			wake, move := rng.IntN(3), rng.IntN(3)
			to := keys[rng.IntN(len(keys))]
			s := table.Scan(key)
			for _, want := range take(key, bits, wake) {
				if got := table.Take(&s, bits); got != want || got.Queued() {
					t.Fatalf("step %d: another waiter was taken", step)
				}
			}
			if rng.IntN(2) == 0 {
				var want *Waiter
				if w := take(key, bits, 1); w != nil {
					want = w[0]
				}
				if got := table.First(key, bits); got != want {
					t.Fatalf("step %d: First is another waiter", step)
				}
			}
			if to == key {
				continue
			}
			moved := take(key, AnyBits, move)
			s = table.Scan(key)
			for _, want := range moved {
				got := table.Take(&s, AnyBits)
				if got != want {
					t.Fatalf("step %d: another waiter was requeued", step)
				}
				table.Requeue(got, to)
				model = append(model, got)
			}
		}
	}
	for _, key := range keys {
		s := table.Scan(key)
		for _, want := range take(key, AnyBits, len(waiters)) {
			if table.Take(&s, AnyBits) != want {
				t.Fatal("the rest is in another order")
			}
		}
		if table.Take(&s, AnyBits) != nil {
			t.Fatal("a waiter too many")
		}
	}
}

func TestRequeueToSameKeyEnds(t *testing.T) {
	var table Table
	var w [3]Waiter
	k := Key{1, 4}
	for i := range w {
		table.Add(&w[i], k, AnyBits)
	}
	n := 0
	for s := table.Scan(k); ; n++ {
		x := table.Take(&s, AnyBits)
		if x == nil {
			break
		}
		table.Requeue(x, k)
	}
	if n != 3 {
		t.Errorf("a scan of 3 waiters took %d", n)
	}
}
