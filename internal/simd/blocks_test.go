package simd

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/internal/half"
)

var kinds = []blocks.Kind{blocks.Q8B32, blocks.Q4B32, blocks.Q4B32M}

// blockISAs returns the instruction sets to test here.
func blockISAs() []ISA {
	isas := []ISA{Portable}
	for _, i := range []ISA{AVX2, AVX512} {
		if Supported(i) {
			isas = append(isas, i)
		}
	}
	return isas
}

// refQuantize and refProduct are docs/arithmetic.md, word for word.
func refQuantize(x []float32) (q [blocks.Size]int32, scale float32) {
	amax := float32(0)
	for _, v := range x {
		a := float32(math.Abs(float64(v)))
		if !(a <= math.MaxFloat32) {
			return q, float32(math.NaN())
		}
		amax = max(amax, a)
	}
	if amax < 0x1p-96 {
		return q, 0
	}
	inv := float32(32512) / amax
	for i, v := range x {
		q[i] = int32(math.RoundToEven(float64(float32(v * inv))))
	}
	return q, float32(amax * (float32(1) / 32512))
}

func refProduct(kind blocks.Kind, w []byte, row, cols int, x []float32) float32 {
	tile := w[row/blocks.TileRows*kind.TileBytes(cols):]
	lane := row % blocks.TileRows
	var acc float32
	for b := range cols / blocks.Size {
		q, xs := refQuantize(x[b*blocks.Size:][:blocks.Size])
		ws := half.FromF16(binary.LittleEndian.Uint16(tile[kind.ScaleOffset(lane, b):]))
		var isum, sum int32
		for i, v := range q {
			off, shift := kind.QuantOffset(lane, b*blocks.Size+i, cols)
			wq := int32(tile[off] >> shift)
			switch kind {
			case blocks.Q8B32:
				wq -= 128
			case blocks.Q4B32:
				wq = wq&15 - 8
			case blocks.Q4B32M:
				wq &= 15
			}
			isum += wq * v
			sum += v
		}
		acc = refFMA(float32(isum), float32(ws*xs), acc)
		if kind == blocks.Q4B32M {
			m := half.FromF16(binary.LittleEndian.Uint16(tile[blocks.MinOffset(lane, b):]))
			acc = refFMA(m, float32(xs*float32(sum)), acc)
		}
	}
	return acc
}

// same reports whether two results are equal: the same bits, or both NaN.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// randomBlocks returns a matrix with all bytes random but the exponents of the
// scales, which are kept from being infinite or NaN.
func randomBlocks(rnd *rand.Rand, kind blocks.Kind, rows, cols int) []byte {
	w := make([]byte, kind.MatrixBytes(rows, cols))
	for i := range w {
		w[i] = byte(rnd.Uint32())
	}
	tile := kind.TileBytes(cols)
	for t := 0; t < len(w); t += tile {
		for o := 0; o < kind.ParamBytes(cols); o += 2 {
			h := half.F16(float32(rnd.NormFloat64()) * 0.02)
			binary.LittleEndian.PutUint16(w[t+o:], h)
		}
	}
	return w
}

func randomActs(rnd *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rnd.NormFloat64())
	}
	return x
}

func TestMatMulBlocks(t *testing.T) {
	for _, kind := range kinds {
		for _, shape := range [][2]int{{16, 32}, {1, 32}, {17, 64}, {32, 96}, {33, 160}, {48, 576}, {95, 352}, {15, 1536}} {
			rows, cols := shape[0], shape[1]
			rnd := rand.New(rand.NewPCG(1, uint64(rows*cols)))
			w := randomBlocks(rnd, kind, rows, cols)
			for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 20} {
				ldx, ldd := cols+3, rows+5
				x := randomActs(rnd, n*ldx)
				want := make([]float32, n*rows)
				for j := range n {
					for r := range rows {
						want[j*rows+r] = refProduct(kind, w, r, cols, x[j*ldx:j*ldx+cols])
					}
				}
				for _, isa := range blockISAs() {
					k := New(isa)
					var a Acts
					k.Quantize(&a, x, ldx, cols, n)
					// What lies between the rows asked for must stay.
					dst := make([]float32, n*ldd)
					for i := range dst {
						dst[i] = -12345
					}
					k.MatMulBlocks(kind, dst, ldd, w, rows, &a)
					for i, got := range dst {
						j, r := i/ldd, i%ldd
						wanted := float32(-12345)
						if r < rows {
							wanted = want[j*rows+r]
						}
						if !same(got, wanted) {
							t.Fatalf("%v %v %d×%d n=%d: token %d row %d is %v (%#x), want %v (%#x)", isa, kind, rows, cols, n,
								j, r, got, math.Float32bits(got), wanted, math.Float32bits(wanted))
						}
					}
				}
			}
		}
	}
}

// refFMA rounds the exact x·y+z once, in arbitrary precision.
func refFMA(x, y, z float32) float32 { return FMA(x, y, z) }

func benchShape(b *testing.B, isa ISA, kind blocks.Kind, rows, cols, n int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	w := make([]byte, kind.MatrixBytes(rows, cols))
	copy(w, randomBlocks(rnd, kind, min(rows, 512), cols))
	tile := kind.TileBytes(cols) * min(blocks.Tiles(rows), 32)
	for o := tile; o < len(w); o += tile {
		copy(w[o:], w[:tile])
	}
	k := New(isa)
	var a Acts
	k.Quantize(&a, randomActs(rnd, n*cols), cols, cols, n)
	dst := make([]float32, n*rows)
	b.SetBytes(int64(len(w)))
	for b.Loop() {
		k.MatMulBlocks(kind, dst, rows, w, rows, &a)
	}
	b.ReportMetric(2*float64(rows)*float64(cols)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GOP/s")
}

func BenchmarkMatMulBlocks(b *testing.B) {
	for _, isa := range blockISAs() {
		for _, kind := range kinds {
			for _, n := range []int{1, 2, 4, 6, 8, 12, 64, 512} {
				rows, cols := 1536, 576
				if n == 1 {
					rows = 49152 * 5
				}
				if isa == Portable && n > 8 {
					continue
				}
				b.Run(fmt.Sprintf("%v/%v/n=%d", isa, kind, n), func(b *testing.B) { benchShape(b, isa, kind, rows, cols, n) })
			}
		}
	}
}

func BenchmarkQuantize(b *testing.B) {
	for _, isa := range blockISAs() {
		b.Run(isa.String(), func(b *testing.B) {
			x := randomActs(rand.New(rand.NewPCG(1, 2)), 1536)
			k := New(isa)
			var a Acts
			b.SetBytes(4 * 1536)
			for b.Loop() {
				k.Quantize(&a, x, 1536, 1536, 1)
			}
		})
	}
}
