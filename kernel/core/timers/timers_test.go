package timers

import (
	"math/rand/v2"
	"testing"
)

func TestExpiredInOrder(t *testing.T) {
	var q Queue
	all := make([]Timer, 200)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range all {
		q.Add(&all[i], uint64(rng.IntN(1000)))
	}
	for i := 0; i < len(all); i += 2 {
		q.Add(&all[i], uint64(1000+rng.IntN(1000))) // moved
	}
	for i := 0; i < len(all); i += 5 {
		q.Remove(&all[i])
	}
	last, got := uint64(0), 0
	for now := uint64(0); now <= 2002; now += 7 {
		for {
			x := q.Expired(now)
			if x == nil {
				break
			}
			if x.Armed() || x.Deadline() > now || x.Deadline() < last {
				t.Fatalf("at %d: a timer for %d after one for %d, armed %v", now, x.Deadline(), last, x.Armed())
			}
			last = x.Deadline()
			got++
		}
		if q.Next() <= now {
			t.Fatalf("Next %d is due at %d", q.Next(), now)
		}
	}
	if got != 160 || q.Len() != 0 || q.Next() != Never {
		t.Errorf("%d timers expired, %d left, Next %d", got, q.Len(), q.Next())
	}
}

func TestAddTellsFirst(t *testing.T) {
	var q Queue
	var a, b Timer
	if !q.Add(&a, 10) || q.Add(&b, 20) || !q.Add(&b, 5) || q.Add(&b, 10) {
		t.Error("Add")
	}
}
