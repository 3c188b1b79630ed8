package main

import (
	"runtime"
	"time"
)

// work is the arithmetic that each of the four threads does, in steps: a
// fixed amount, as Rabbit's threads have, and little beside what making and
// ending a thread takes.
const work = 1_000

// threadsWarm is how many times four threads are made before samples are
// taken: until then code is brought in, and Go's monitor wakes often.
const threadsWarm = 10

var threadWorkloads = []workload{
	{"threads", "us", "four threads by clone(2), each with a stack of its own and a little work, from the first's start to the last's end", func(n int, sample func(float64)) error {
		unblock, err := blockSignals()
		if err != nil {
			return err
		}
		defer unblock()
		for s := range n + threadsWarm {
			start := time.Now()
			if err := fourThreads(); err != nil {
				return err
			}
			if s >= threadsWarm {
				sample(float64(time.Since(start).Nanoseconds()) / 1e3)
			}
		}
		return nil
	}},
	{"threads-go", "us", "the same by goroutines that are locked to new threads: what Go's runtime does for one is in it", func(n int, sample func(float64)) error {
		for s := range n {
			results := make(chan uint64, 4)
			start := time.Now()
			for range 4 {
				go func() {
					// A goroutine that ends locked ends its thread, so none is used again.
					runtime.LockOSThread()
					x := uint64(s)
					for range work {
						x = x*6364136223846793005 + 1442695040888963407
					}
					results <- x
				}()
			}
			for range 4 {
				sink += <-results
			}
			sample(float64(time.Since(start).Nanoseconds()) / 1e3)
		}
		return nil
	}},
}
