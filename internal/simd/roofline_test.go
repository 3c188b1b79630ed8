//go:build linux && amd64 && !noasm

package simd

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// touched returns n bytes in pages of that size, all of them written to: pages
// that never were are one and the same.
func touched(b *testing.B, n int, huge bool) []byte {
	w := pages(b, n, huge)
	for i := range w {
		w[i] = byte(i) & 0x3f // no NaN
	}
	return w
}

// race times f and limit in turn for the benchmark's time and returns the best
// of each: on a machine with other work the best is what the code can do.
func race(b *testing.B, f, limit func()) (best, bestLimit time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best, bestLimit = time.Hour, time.Hour
	for b.Loop() {
		t0 := time.Now()
		limit()
		t1 := time.Now()
		f()
		best, bestLimit = min(best, time.Since(t1)), min(bestLimit, t1.Sub(t0))
	}
	return best, bestLimit
}

// BenchmarkRooflineDecode compares matrix–vector products that stream their
// weights from memory with a plain read of the same bytes, in the same run.
func BenchmarkRooflineDecode(b *testing.B) {
	const size = 128 << 20
	for _, huge := range []bool{true, false} {
		for _, isa := range assembly(b) {
			for _, f := range floats {
				for _, cols := range []int{576, 1536, 4096} {
					b.Run(fmt.Sprintf("%s/%v/%s/cols=%d", map[bool]string{true: "2MiB", false: "4KiB"}[huge], isa, f.name(), cols), func(b *testing.B) {
						w := touched(b, size, huge)
						rows := size / cols / f.Bytes()
						x, dst := make([]float32, cols), make([]float32, rows)
						got, limit := race(b, func() {
							New(isa).MatMul(f, dst, rows, w[:rows*cols*f.Bytes()], rows, cols, x, cols, 1)
						}, func() {
							if isa == AVX512 {
								readMemoryAVX512(&w[0], size)
							} else {
								readMemoryAVX2(&w[0], size)
							}
						})
						b.ReportMetric(size/got.Seconds()/1e9, "GB/s")
						b.ReportMetric(size/limit.Seconds()/1e9, "read-GB/s")
						b.ReportMetric(100*limit.Seconds()/got.Seconds(), "%read")
					})
				}
			}
		}
	}
}

// BenchmarkRooflineBatch is BenchmarkRooflineDecode for a few tokens at once.
func BenchmarkRooflineBatch(b *testing.B) {
	const size = 128 << 20
	for _, isa := range assembly(b) {
		for _, cols := range []int{576, 1536} {
			for _, n := range []int{2, 4, 8} {
				b.Run(fmt.Sprintf("%v/bf16/cols=%d/n=%d", isa, cols, n), func(b *testing.B) {
					w := touched(b, size, true)
					rows := size / cols / 2
					x, dst := make([]float32, n*cols), make([]float32, n*rows)
					got, limit := race(b, func() {
						New(isa).MatMul(BF16, dst, rows, w[:rows*cols*2], rows, cols, x, cols, n)
					}, func() { readMemoryAVX2(&w[0], size) })
					b.ReportMetric(size/got.Seconds()/1e9, "GB/s")
					b.ReportMetric(100*limit.Seconds()/got.Seconds(), "%read")
				})
			}
		}
	}
}

// BenchmarkRooflinePrefill compares products with many rows of activations with
// the rate of fused multiply-adds that touch no memory, in the same run.
func BenchmarkRooflinePrefill(b *testing.B) {
	const rows, n = 576, 128
	for _, isa := range assembly(b) {
		for _, f := range floats {
			for _, cols := range []int{64, 576, 1536, 4096} {
				b.Run(fmt.Sprintf("%v/%s/cols=%d", isa, f.name(), cols), func(b *testing.B) {
					w := touched(b, rows*cols*f.Bytes(), true)
					x := unsafe.Slice((*float32)(unsafe.Pointer(&touched(b, 4*n*cols, true)[0])), n*cols)
					dst := make([]float32, n*rows)
					const loops = 200000
					perLoop := 12 * 2 * 8
					if isa == AVX512 {
						perLoop *= 2
					}
					got, limit := race(b, func() {
						New(isa).MatMul(f, dst, rows, w, rows, cols, x, cols, n)
					}, func() {
						if isa == AVX512 {
							peakFMAAVX512(loops)
						} else {
							peakFMAAVX2(loops)
						}
					})
					rate := 2 * float64(rows*cols*n) / got.Seconds() / 1e9
					peak := float64(loops*perLoop) / limit.Seconds() / 1e9
					b.ReportMetric(rate, "GFLOP/s")
					b.ReportMetric(peak, "peak-GFLOP/s")
					b.ReportMetric(100*rate/peak, "%peak")
				})
			}
		}
	}
}

// BenchmarkRooflineBlocks compares the products of block formats with the rate of
// the integer products that they are made of (VPDPBUSD of a digit; VPMADDWD and
// VPADDD), in the same run.
func BenchmarkRooflineBlocks(b *testing.B) {
	const rows = 192
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, isa := range assembly(b) {
		for _, kind := range kinds {
			for _, p := range precisions {
				for _, cols := range []int{576, 1536} {
					for _, n := range []int{2, 4, 8, 128} {
						b.Run(fmt.Sprintf("%v/%v/bits=%d/cols=%d/tokens=%d", isa, kind, 16>>p, cols, n), func(b *testing.B) {
							w := randomBlocks(rnd, kind, rows, cols)
							k := kernelsOf(b, isa)
							a := Acts{Precision: p}
							k.Quantize(&a, randomActs(rnd, n*cols), cols, cols, n)
							dst := make([]float32, n*rows)
							const loops = 5000
							products := 16 // of a step
							peakDot, digits := peakDotAVX2, 1
							if isa == AVX512 {
								products, peakDot, digits = 64, peakDotAVX512, 2>>p
							}
							got, limit := race(b, func() { k.MatMulBlocks(kind, dst, rows, w, rows, &a) }, func() { peakDot(loops) })
							rate := 2 * float64(rows*cols*n) / got.Seconds() / 1e9
							peak := 2 * float64(12*products*loops) / limit.Seconds() / 1e9
							b.ReportMetric(rate, "GOP/s")
							b.ReportMetric(100*rate*float64(digits)/peak, "%peak")
						})
					}
				}
			}
		}
	}
}
