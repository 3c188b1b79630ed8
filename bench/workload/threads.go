package main

import (
	"runtime"
	"time"
)

// work is the arithmetic that each of the four threads does.
const work = 20_000

var threadWorkloads = []workload{
	{"threads", "us", "four new threads, each with a little work, from the first's start to the last's end", func(n int, sample func(float64)) error {
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
