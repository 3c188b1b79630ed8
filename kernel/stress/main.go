// Command stress keeps a kernel busy from all sides at once, and checks
// everything that it gets back: futexes, signals, vector arithmetic, mappings,
// files, blocked pipes, threads that come and go, and Go's collector on top.
//
//	stress [-for 10m] [-seed N] [-each N] [NAME…]
//
// Without names all workers run, -each of every kind. At the end it prints how
// much each kind did, and `STRESS OK` when nothing was wrong; it stops at the
// first wrong thing with exit status 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A worker does one kind of work: each call of work is one round of it, with
// random choices from rng, and an error is a fault of the kernel. n tells the
// workers of a kind apart.
type worker struct {
	name string
	work func(ctx context.Context, n int, rng *rand.Rand) error
}

var workers = slices.Concat(waitWorkers, memoryWorkers, vectorWorkers, fileWorkers)

func main() {
	duration := flag.Duration("for", 10*time.Second, "how long")
	seed := flag.Uint64("seed", 1, "of the random choices")
	each := flag.Int("each", 2, "workers of each kind")
	flag.Parse()
	chosen := workers
	if flag.NArg() > 0 {
		chosen = nil
		for _, name := range flag.Args() {
			i := slices.IndexFunc(workers, func(w worker) bool { return w.name == name })
			if i < 0 {
				fmt.Fprintf(os.Stderr, "stress: no worker %q\n", name)
				os.Exit(2)
			}
			chosen = append(chosen, workers[i])
		}
	}
	// A worker in a raw call keeps its place among Go's.
	runtime.GOMAXPROCS(4 * *each * len(chosen))
	if err := run(chosen, *duration, *seed, *each); err != nil {
		fmt.Println("STRESS FAILED:", err)
		os.Exit(1)
	}
	fmt.Println("STRESS OK")
}

// run keeps all workers going for the duration.
func run(chosen []worker, duration time.Duration, seed uint64, each int) error {
	ctx, cancel := context.WithTimeout(context.Background(), duration)
	defer cancel()
	rounds := make([]atomic.Int64, len(chosen))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for i, w := range chosen {
		for n := range each {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(i*each+n)))
				for ctx.Err() == nil {
					err := w.work(ctx, n, rng)
					if err != nil && ctx.Err() == nil {
						mu.Lock()
						failed = errors.Join(failed, fmt.Errorf("%s %d, round %d: %w", w.name, n, rounds[i].Load(), err))
						mu.Unlock()
						cancel()
					}
					rounds[i].Add(1)
				}
			})
		}
	}
	wg.Wait()
	for i, w := range chosen {
		fmt.Printf("STRESS %s rounds=%d\n", w.name, rounds[i].Load())
	}
	return failed
}
