package simd

import (
	"fmt"
	"testing"
)

// BenchmarkMatMul is the product of a matrix that fits the second-level cache
// and n rows of activations; bytes are those of the weights.
func BenchmarkMatMul(b *testing.B) {
	const rows = 192
	for _, isa := range append(assembly(b), Portable) {
		for _, f := range floats {
			for _, cols := range []int{576, 1536} {
				for _, n := range []int{1, 4, 64} {
					b.Run(fmt.Sprintf("%v/%s/cols=%d/n=%d", isa, f.name(), cols, n), func(b *testing.B) {
						w := make([]byte, rows*cols*f.Bytes())
						x, dst := make([]float32, n*cols), make([]float32, n*rows)
						for i := range w {
							w[i] = byte(i) & 0x3f // no NaN
						}
						b.SetBytes(int64(len(w)))
						for b.Loop() {
							New(isa).MatMul(f, dst, rows, w, rows, cols, x, cols, n)
						}
						b.ReportMetric(2*float64(rows*cols*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
					})
				}
			}
		}
	}
}

// BenchmarkAttention is one head group of SmolLM2 (3 query heads of 64) against
// a cache of 1,024 positions, and the scores of 16 rows at once; bytes are those of the keys and of the values.
func BenchmarkAttention(b *testing.B) {
	const positions, dim, ld, heads = 1024, 64, 192, 3
	kv, q := make([]float32, positions*ld), make([]float32, heads*dim)
	scores, out := make([]float32, heads*positions), make([]float32, heads*dim)
	for _, isa := range append(assembly(b), Portable) {
		k := New(isa)
		b.Run(fmt.Sprintf("%v/scores", isa), func(b *testing.B) {
			b.SetBytes(4 * positions * dim)
			for b.Loop() {
				k.Dots(scores, positions, kv, ld, positions, dim, q, dim, heads)
			}
		})
		b.Run(fmt.Sprintf("%v/scores-16", isa), func(b *testing.B) {
			const n = 16 * heads // queries of 16 rows
			q, scores := make([]float32, n*dim), make([]float32, n*positions)
			b.SetBytes(4 * positions * dim)
			for b.Loop() {
				k.Dots(scores, positions, kv, ld, positions, dim, q, dim, n)
			}
			b.ReportMetric(2*positions*dim*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
		b.Run(fmt.Sprintf("%v/softmax", isa), func(b *testing.B) {
			b.SetBytes(4 * positions)
			for b.Loop() {
				k.Softmax(scores[:positions])
			}
		})
		b.Run(fmt.Sprintf("%v/values", isa), func(b *testing.B) {
			b.SetBytes(4 * positions * dim)
			for b.Loop() {
				k.WeightedSum(out, dim, scores, positions, kv, ld, positions, dim, heads)
			}
		})
	}
}

// BenchmarkElementwise is the rest of a layer of SmolLM2; bytes are those of
// all slices.
func BenchmarkElementwise(b *testing.B) {
	x, y, z := make([]float32, 1536), make([]float32, 1536), make([]float32, 1536)
	for _, isa := range append(assembly(b), Portable) {
		k := New(isa)
		for _, c := range []struct {
			name   string
			floats int64
			run    func()
		}{
			{"rmsnorm", 3 * 576, func() { k.RMSNorm(z[:576], x[:576], y[:576], 1e-5) }},
			{"silumul", 2 * 1536, func() { k.SiLUMul(x, y) }},
			{"rope", 576 + 64, func() { k.Rope(x[:576], y[:32], z[:32]) }},
			{"add", 2 * 576, func() { k.Add(x[:576], y[:576]) }},
		} {
			b.Run(fmt.Sprintf("%v/%s", isa, c.name), func(b *testing.B) {
				b.SetBytes(4 * c.floats)
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}
