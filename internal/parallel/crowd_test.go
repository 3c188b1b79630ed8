package parallel

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// busy, in the environment, makes this program take a processor until its
// standard input ends.
const busy = "LEVERET_TEST_BUSY"

func TestMain(m *testing.M) {
	if os.Getenv(busy) != "" {
		go func() {
			//lint:ignore SA5002 it is to spin
			for {
			}
		}()
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crowd starts a process that takes a processor and returns what ends it.
func crowd(t testing.TB) func() {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), busy+"=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		in.Close()
		c.Wait()
	}
}

// work is some microseconds of a processor.
func work(n int) (x uint64) {
	for i := range n {
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

// TestRunParks makes Run wait longer than it spins.
func TestRunParks(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 20 {
		var begun atomic.Bool
		var count atomic.Int32
		p.Run(2, func(w, i int) {
			if w == 0 {
				for !begun.Load() { // the other piece is the other worker's
					runtime.Gosched()
				}
			} else {
				begun.Store(true)
				time.Sleep(5 * patience)
			}
			count.Add(1)
		})
		if count.Load() != 2 || p.waiting.Load() || len(p.joined) != 0 {
			t.Fatalf("%d pieces done, waiting %v", count.Load(), p.waiting.Load())
		}
	}
}

// BenchmarkCrowded runs jobs of 8 pieces of about 10 µs on two workers, alone and
// with another process that takes a processor, in turn: %lost is what the other
// process costs. On two processors 50 is what is left of one of them alone.
func BenchmarkCrowded(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("one processor")
	}
	p := NewPool(2)
	defer p.Close()
	var sum [2]uint64
	f := func(w, _ int) { sum[w] += work(10000) }
	rate := func() float64 {
		begin, jobs := time.Now(), 0
		for time.Since(begin) < 200*time.Millisecond {
			p.Run(8, f)
			jobs++
		}
		return float64(jobs) / time.Since(begin).Seconds()
	}
	var alone, crowded []float64
	for b.Loop() {
		alone = append(alone, rate())
		end := crowd(b)
		time.Sleep(20 * time.Millisecond)
		crowded = append(crowded, rate())
		end()
	}
	slices.Sort(alone)
	slices.Sort(crowded)
	a, c := alone[len(alone)/2], crowded[len(crowded)/2]
	b.ReportMetric(1e6/a, "µs/job")
	b.ReportMetric(100*(1-c/a), "%lost")
}
