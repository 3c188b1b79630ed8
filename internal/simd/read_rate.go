package simd

import (
	"sync"
	"time"
)

// ReadRate reads all of data over and over for about the given time, at least
// once, each thread a part of every piece, and returns the bytes read in a
// second: what decoding is measured against.
func (k Kernels) ReadRate(data [][]byte, threads int, atLeast time.Duration) float64 {
	bytes := 0
	for _, d := range data {
		bytes += len(d)
	}
	start := time.Now()
	passes := 0
	for passes == 0 || time.Since(start) < atLeast {
		var wg sync.WaitGroup
		for t := range threads {
			wg.Go(func() {
				for _, d := range data {
					k.ReadMemory(d[len(d)*t/threads : len(d)*(t+1)/threads])
				}
			})
		}
		wg.Wait()
		passes++
	}
	return float64(bytes) * float64(passes) / time.Since(start).Seconds()
}
