package quant

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/internal/half"
)

func encode(t testing.TB, f Format, rows, cols int, w []float32) []byte {
	t.Helper()
	dst := make([]byte, f.Bytes(rows, cols))
	for i := range dst {
		dst[i] = 0xee // what lay there before
	}
	err := Encode(dst, f, rows, cols, func(r int, x []float32) error {
		copy(x, w[r*cols:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

func decode(f Format, src []byte, rows, cols int) []float32 {
	w := make([]float32, rows*cols)
	for r := range rows {
		Decode(w[r*cols:(r+1)*cols], f, src, rows, cols, r)
	}
	return w
}

func normal(rnd *rand.Rand, n int, sigma float64) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(rnd.NormFloat64() * sigma)
	}
	return w
}

func squaredError(a, b []float32) (e float64) {
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		e += d * d
	}
	return e
}

// TestDecode checks every byte against the offsets of internal/blocks.
func TestDecode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	const rows, cols = 19, 96
	for _, f := range Formats() {
		kind := blocks.Kind(f)
		src := make([]byte, f.Bytes(rows, cols))
		for i := range src {
			src[i] = byte(rnd.Uint32())
		}
		for o := 1; o < len(src); o += 2 { // no NaN
			src[o] &= 0xbf
		}
		got := decode(f, src, rows, cols)
		for r := range rows {
			tile := src[r/TileRows*kind.TileBytes(cols):]
			for c := range cols {
				s := half.FromF16(binary.LittleEndian.Uint16(tile[kind.ScaleOffset(r%TileRows, c/BlockSize):]))
				off, shift := kind.QuantOffset(r%TileRows, c, cols)
				q := tile[off] >> shift
				var want float32
				switch f {
				case Q8B32:
					want = float32(int(q)-128) * s
				case Q4B32:
					want = float32(int(q&15)-8) * s
				case Q4B32M:
					m := half.FromF16(binary.LittleEndian.Uint16(tile[blocks.MinOffset(r%TileRows, c/BlockSize):]))
					want = float32(float32(q&15)*s) + m
				}
				if got[r*cols+c] != want {
					t.Fatalf("%v: row %d, column %d is %v, want %v", f, r, c, got[r*cols+c], want)
				}
			}
		}
	}
}

// TestRecover: weights that lie on a grid of the format come back unchanged.
func TestRecover(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	const rows, cols = 64, 256
	for _, f := range Formats() {
		for _, sigma := range []float64{1e-6, 1e-3, 0.02, 1, 300} {
			w := make([]float32, rows*cols)
			for b := 0; b < len(w); b += BlockSize {
				s := half.FromF16(half.F16(float32(rnd.NormFloat64() * sigma)))
				m := half.FromF16(half.F16(float32(rnd.NormFloat64() * 8 * sigma)))
				levels := 16
				if f == Q8B32 {
					levels = 256
				}
				// Both ends are in use, as after quantising by them, or,
				// in half of the blocks, any part of the grid is.
				lo, hi := 0, levels-1
				if f == Q4B32M && rnd.IntN(2) == 0 {
					lo = rnd.IntN(8)
					hi = lo + 1 + rnd.IntN(15-lo)
				}
				for i := range BlockSize {
					q := lo + rnd.IntN(hi-lo+1)
					if i == 7 {
						q = lo
					} else if i == 20 {
						q = hi
					}
					switch f {
					case Q8B32:
						w[b+i] = float32(q-128) * s
					case Q4B32:
						w[b+i] = float32(q-8) * s
					case Q4B32M:
						w[b+i] = float32(float32(q)*s) + m
					}
				}
			}
			got := decode(f, encode(t, f, rows, cols, w), rows, cols)
			bad := 0
			for b := 0; b < len(w); b += BlockSize {
				for i := range BlockSize {
					if got[b+i] != w[b+i] {
						bad++
						if bad < 3 {
							t.Logf("%v sigma %v block %d: %v want %v", f, sigma, b/BlockSize, got[b:b+BlockSize], w[b:b+BlockSize])
						}
						break
					}
				}
			}
			if bad > 0 {
				t.Errorf("%v, sigma %v: %d of %d blocks changed", f, sigma, bad, len(w)/BlockSize)
			}
		}
	}
}

// naive is the usual rule of each format: the scale from the extreme weights.
func naive(f Format, x []float32) (y []float32) {
	y = make([]float32, len(x))
	for b := 0; b < len(x); b += BlockSize {
		blk := (*[BlockSize]float32)(x[b:])
		lo, hi := limits(blk)
		m := extreme(blk)
		var s, base, min, max float32
		switch f {
		case Q8B32:
			s, min, max = half.FromF16(half.F16(float32(math.Abs(float64(m)))/127)), -127, 127
		case Q4B32:
			s, min, max = half.FromF16(half.F16(m/-8)), -8, 7
		case Q4B32M:
			s, base, min, max = half.FromF16(half.F16((hi-lo)/15)), half.FromF16(half.F16(lo)), 0, 15
		}
		for i, v := range blk {
			q := float32(0)
			if s != 0 {
				q = float32(math.Round(float64((v - base) / s)))
			}
			if q < min {
				q = min
			} else if q > max {
				q = max
			}
			y[b+i] = float32(q*s) + base
		}
	}
	return y
}

func TestLeastError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	const rows, cols = 32, 512
	for _, f := range Formats() {
		for _, sigma := range []float64{1e-7, 1e-4, 0.02, 1, 1000} {
			w := normal(rnd, rows*cols, sigma)
			got := decode(f, encode(t, f, rows, cols, w), rows, cols)
			ours, theirs := squaredError(w, got), squaredError(w, naive(f, w))
			t.Logf("%v sigma %v: error %.4f of the usual rule's", f, sigma, ours/theirs)
			// Block by block no worse; in all clearly better with four bits.
			for b := 0; b < len(w); b += BlockSize {
				x := w[b : b+BlockSize]
				if a, n := squaredError(x, got[b:b+BlockSize]), squaredError(x, naive(f, x)); a > n*1.00001 {
					t.Fatalf("%v sigma %v block %d: error %v, usual %v", f, sigma, b/BlockSize, a, n)
				}
			}
			limit := map[Format]float64{Q8B32: 0.99, Q4B32: 0.9, Q4B32M: 0.95}[f]
			if ours > limit*theirs {
				t.Errorf("%v sigma %v: error %v, the usual rule's %v", f, sigma, ours, theirs)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	const rows, cols = 256, 576
	w := normal(rnd, rows*cols, 0.02)
	for _, f := range Formats() {
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(rows * cols * 4)
			for b.Loop() {
				encode(b, f, rows, cols, w)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(rows*cols/32), "ns/block")
		})
	}
}
