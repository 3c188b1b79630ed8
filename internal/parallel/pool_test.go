package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestRunCallsEveryPieceOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		p := NewPool(size)
		var counts [37]atomic.Int32
		var busy [8]atomic.Int32
		f := func(w, i int) {
			if busy[w].Add(1) != 1 {
				t.Errorf("worker %d runs two pieces at once", w)
			}
			counts[i].Add(1)
			busy[w].Add(-1)
		}
		rounds := 2000
		for r := range rounds {
			n := r % (len(counts) + 1)
			p.Run(n, f)
			if r%500 == 0 {
				time.Sleep(2 * time.Millisecond) // lets the workers park
			}
			if t.Failed() {
				t.FailNow()
			}
		}
		for i := range counts {
			want := int32(0)
			for r := range rounds {
				if r%(len(counts)+1) > i {
					want++
				}
			}
			if got := counts[i].Load(); got != want {
				t.Errorf("size %d: piece %d ran %d times, expected %d", size, i, got, want)
			}
		}
		p.Close()
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var sum atomic.Int64
	f := func(w, i int) { sum.Add(int64(i)) }
	if n := testing.AllocsPerRun(100, func() { p.Run(8, f) }); n != 0 {
		t.Errorf("Run allocates %v times", n)
	}
}

func TestCloseEndsWorkers(t *testing.T) {
	before := runtime.NumGoroutine()
	p := NewPool(4)
	p.Run(4, func(w, i int) {})
	time.Sleep(5 * time.Millisecond)
	p.Close()
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines after Close, %d before NewPool", after, before)
	}
}

// BenchmarkForkJoin is a job of two pieces, each of which ends when the other has
// begun: both workers take part. best-ns is the best of many in a row: what it
// takes while two processors are free.
func BenchmarkForkJoin(b *testing.B) {
	p := NewPool(2)
	defer p.Close()
	var begun, both atomic.Int64
	f := func(w, i int) {
		begun.Add(1)
		for n := 1; begun.Load() < both.Load(); n++ {
			if n%yields == 0 {
				runtime.Gosched()
			}
		}
	}
	const row = 20
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		for range row {
			both.Add(2)
			p.Run(2, f)
		}
		best = min(best, time.Since(start)/row)
	}
	b.ReportMetric(float64(best), "best-ns")
}

func TestRunMaxPieces(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var sum atomic.Int64
	for range 2 {
		sum.Store(0)
		p.Run(MaxPieces, func(_, i int) { sum.Add(int64(i)) })
		if want := int64(MaxPieces) * (MaxPieces - 1) / 2; sum.Load() != want {
			t.Fatalf("the pieces add up to %d, want %d", sum.Load(), want)
		}
	}
}
