// Go's runtime at work: goroutines, the garbage collector, timers, threads and
// signals all at once, each checking what it got. A line says of each part
// whether all of it was right.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	parts := []struct {
		name string
		run  func() error
	}{
		{"goroutines over channels", channels},
		{"mutexes and conditions", locks},
		{"the collector", collector},
		{"timers", timers},
		{"tickers and deadlines", tickers},
		{"locked threads", lockedThreads},
		{"preemption of loops", preemption},
		{"signals to itself", signals},
		{"faults become panics", faults},
		{"deep stacks", deepStacks},
		{"pipes between goroutines", pipes},
		{"floating point in threads", floats},
	}
	failed := false
	report := func(name string, err error) {
		if err != nil {
			failed = true
			fmt.Println(name+":", err)
			return
		}
		fmt.Println(name + ": right")
	}
	for _, p := range parts {
		report(p.name, p.run())
	}
	// And once more, all together.
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() { errs[i] = p.run() })
	}
	wg.Wait()
	report("all together", errors.Join(errs...))
	if failed {
		os.Exit(1)
	}
}

func channels() error {
	const stages, values = 50, 200
	first := make(chan int)
	last := first
	for range stages {
		next := make(chan int)
		go func(in <-chan int, out chan<- int) {
			for v := range in {
				out <- v + 1
			}
			close(out)
		}(last, next)
		last = next
	}
	go func() {
		for v := range values {
			first <- v
		}
		close(first)
	}()
	want := stages
	for v := range last {
		if v != want {
			return fmt.Errorf("got %d, want %d", v, want)
		}
		want++
	}
	if want != stages+values {
		return fmt.Errorf("%d values came through, want %d", want-stages, values)
	}
	return nil
}

func locks() error {
	var mu sync.Mutex
	full, empty := sync.NewCond(&mu), sync.NewCond(&mu)
	var queue []int
	const n = 2000
	sum := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range n / 4 {
				mu.Lock()
				for len(queue) == 0 {
					full.Wait()
				}
				sum += queue[0]
				queue = queue[1:]
				empty.Signal()
				mu.Unlock()
			}
		})
	}
	for i := range n {
		mu.Lock()
		for len(queue) >= 8 {
			empty.Wait()
		}
		queue = append(queue, i)
		full.Signal()
		mu.Unlock()
	}
	wg.Wait()
	if want := n * (n - 1) / 2; sum != want {
		return fmt.Errorf("sum %d, want %d", sum, want)
	}
	return nil
}

// A node of a tree knows its depth and a sum of what hangs below it.
type node struct {
	left, right *node
	value, sum  uint64
}

func grow(depth int, value uint64) *node {
	n := &node{value: value, sum: value}
	if depth > 0 {
		n.left, n.right = grow(depth-1, value*2), grow(depth-1, value*2+1)
		n.sum += n.left.sum + n.right.sum
	}
	return n
}

func (n *node) check() bool {
	if n.left == nil {
		return n.sum == n.value
	}
	return n.left.check() && n.right.check() && n.sum == n.value+n.left.sum+n.right.sum
}

func collector() error {
	kept := grow(12, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	var bad atomic.Int32
	for g := range 4 {
		wg.Go(func() {
			for i := range 10 {
				if !grow(10, uint64(g*100+i+1)).check() {
					bad.Add(1)
				}
			}
		})
	}
	for range 5 {
		runtime.GC()
	}
	wg.Wait()
	debug.FreeOSMemory()
	runtime.ReadMemStats(&after)
	switch {
	case bad.Load() > 0 || !kept.check():
		return errors.New("a tree has changed")
	case after.NumGC < before.NumGC+5:
		return fmt.Errorf("%d collections, want 5 or more", after.NumGC-before.NumGC)
	}
	return nil
}

// timers sees that none fires early, or never; how late and in what order is a
// matter of load.
func timers() error {
	const n = 9
	early := make(chan bool, n)
	start := time.Now()
	for i := range n {
		wait := time.Duration(i*7%n) * 10 * time.Millisecond
		time.AfterFunc(wait, func() { early <- time.Since(start) < wait })
	}
	for range n {
		if <-early {
			return errors.New("one fired early")
		}
	}
	return nil
}

// tickers sees that there is no tick too many for the time that has gone, which
// on a busy machine may be more than was asked for.
func tickers() error {
	start := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	ticks := 0
	for {
		select {
		case <-tick.C:
			ticks++
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			if gone := time.Since(start); ticks == 0 || ticks > int(gone/(5*time.Millisecond)) {
				return fmt.Errorf("%d ticks of 5 ms in %v", ticks, gone)
			}
			return nil
		}
	}
}

func lockedThreads() error {
	const n = 16
	tids := make([]int, n)
	var ready, wg sync.WaitGroup
	ready.Add(n)
	for i := range n {
		wg.Go(func() {
			runtime.LockOSThread() // not unlocked: the thread ends with it
			tids[i] = syscall.Gettid()
			ready.Done()
			ready.Wait()
			if syscall.Gettid() != tids[i] {
				tids[i] = 0
			}
		})
	}
	wg.Wait()
	slices.Sort(tids)
	if len(slices.Compact(tids)) != n || tids[0] == 0 {
		return errors.New("threads share an id, or changed it")
	}
	return nil
}

var sink atomic.Uint64

// preemption has more endless loops than processors; the collector can only go
// on when signals stop them.
func preemption() error {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) + 2 {
		wg.Go(func() {
			x := uint64(1)
			for !stop.Load() {
				for range 1000 {
					x = x*6364136223846793005 + 1
				}
			}
			sink.Store(x)
		})
	}
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	wg.Wait()
	return nil
}

func signals() error {
	got := make(chan os.Signal, 64)
	signal.Notify(got, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(got)
	for i := range 20 {
		want := syscall.SIGUSR1
		if i%2 == 1 {
			want = syscall.SIGUSR2
		}
		if err := syscall.Kill(syscall.Getpid(), want); err != nil {
			return err
		}
		// Another part may send the same: wait for ours.
		deadline := time.After(time.Minute)
		for found := false; !found; {
			select {
			case s := <-got:
				found = s == want
			case <-deadline:
				return fmt.Errorf("signal %v did not come", want)
			}
		}
	}
	return nil
}

func faults() error {
	catch := func(f func()) (err error) {
		defer func() { err, _ = recover().(error) }()
		f()
		return nil
	}
	var n *node
	var zero int
	for name, f := range map[string]func(){
		"nil pointer":      func() { n.sum++ },
		"division by zero": func() { sink.Store(uint64(1 / zero)) },
		"index":            func() { sink.Store(uint64([]int{1}[zero+1])) },
	} {
		var rt runtime.Error
		if err := catch(f); !errors.As(err, &rt) {
			return fmt.Errorf("%s: recovered %v, want a runtime error", name, err)
		}
	}
	return nil
}

//go:noinline
func deep(n int) [32]byte {
	var room [512]byte
	room[n%512] = byte(n)
	if n == 0 {
		return sha256.Sum256(room[:])
	}
	below := deep(n - 1)
	room[0] ^= below[n%32]
	return sha256.Sum256(room[:])
}

func deepStacks() error {
	want := deep(2000)
	results := make(chan [32]byte, 4)
	for range 4 {
		go func() { results <- deep(2000) }()
	}
	for range 4 {
		if <-results != want {
			return errors.New("a stack has changed while it grew")
		}
	}
	return nil
}

func pipes() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	const total = 1 << 20
	sums := make(chan [32]byte, 1)
	go func() {
		h := sha256.New()
		buf := make([]byte, 5000)
		for i := 0; i < total; {
			n := min(len(buf), total-i)
			for j := range n {
				buf[j] = byte((i + j) * 7)
			}
			h.Write(buf[:n])
			if _, err := w.Write(buf[:n]); err != nil {
				break
			}
			i += n
		}
		w.Close()
		sums <- [32]byte(h.Sum(nil))
	}()
	h := sha256.New()
	buf := make([]byte, 3333)
	got := 0
	for {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		got += n
		if err != nil {
			break
		}
	}
	r.Close()
	if [32]byte(h.Sum(nil)) != <-sums || got != total {
		return fmt.Errorf("%d bytes came through, want %d, or others", got, total)
	}
	return nil
}

func floats() error {
	sum := func(seed float64) float64 {
		s := 0.0
		for i := range 200_000 {
			s += math.Sqrt(seed+float64(i)) * math.Sin(seed)
		}
		return s
	}
	want := make([]float64, 6)
	for i := range want {
		want[i] = sum(float64(i))
	}
	var wg sync.WaitGroup
	got := make([]float64, len(want))
	for i := range want {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			got[i] = sum(float64(i))
		})
	}
	wg.Wait()
	if !slices.Equal(got, want) {
		return errors.New("the same sums are others in other threads")
	}
	return nil
}
