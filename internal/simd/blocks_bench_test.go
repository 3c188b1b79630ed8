package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMatMulBlocks multiplies weights that lie in the cache with several
// tokens: what prefill does. A multiplication and an addition are two operations.
func BenchmarkMatMulBlocks(b *testing.B) {
	const rows = 192
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, isa := range blockISAs(b) {
		for _, kind := range kinds {
			for _, p := range precisions {
				for _, cols := range []int{576, 1536} {
					w := randomBlocks(rnd, kind, rows, cols)
					for _, n := range []int{1, 2, 4, 6, 8, 128} {
						b.Run(fmt.Sprintf("%v/%v/bits=%d/cols=%d/tokens=%d", isa, kind, 16>>p, cols, n), func(b *testing.B) {
							k := kernelsOf(b, isa)
							a := Acts{Precision: p}
							k.Quantize(&a, randomActs(rnd, n*cols), cols, cols, n)
							dst := make([]float32, n*rows)
							b.SetBytes(int64(len(w)))
							for b.Loop() {
								k.MatMulBlocks(kind, dst, rows, w, rows, &a)
							}
							b.ReportMetric(2*float64(rows*cols*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GOP/s")
						})
					}
				}
			}
		}
	}
}

func BenchmarkQuantize(b *testing.B) {
	const cols = 1536
	x := randomActs(rand.New(rand.NewPCG(1, 2)), cols)
	for _, isa := range blockISAs(b) {
		b.Run(isa.String(), func(b *testing.B) {
			k := kernelsOf(b, isa)
			var a Acts
			b.SetBytes(4 * cols)
			for b.Loop() {
				k.Quantize(&a, x, cols, cols, 1)
			}
		})
	}
}
