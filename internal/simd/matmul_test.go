package simd

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/leveret-os/leveret/internal/half"
)

var floats = []Float{F32, F16, BF16}

func (f Float) name() string { return [...]string{"f32", "f16", "bf16"}[f] }

func putFloat(f Float, b []byte, v float32) {
	switch f {
	case F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(v))
	case F16:
		binary.LittleEndian.PutUint16(b, half.F16(v))
	case BF16:
		binary.LittleEndian.PutUint16(b, half.BF16(v))
	}
}

type shape struct{ rows, cols, n int }

// shapes are rows, columns and rows of activations: every tail of each, and
// sizes beyond the blocks that the kernels work in.
func shapes(yield func(s shape) bool) {
	for cols := 0; cols <= 70; cols++ {
		if !yield(shape{5, cols, 1}) || !yield(shape{7, cols, 7}) {
			return
		}
	}
	for rows := 1; rows <= 13; rows++ {
		for n := 1; n <= 15; n++ {
			if !yield(shape{rows, 16, n}) || !yield(shape{rows, 37, n}) {
				return
			}
		}
	}
	// Longer rows than the kernels take at once, in any number of parts.
	_ = yield(shape{37, 2100, 8}) && yield(shape{133, 2048, 7}) && yield(shape{9, 5008, 13}) &&
		yield(shape{4099, 64, 3}) && yield(shape{9, 576, 29}) && yield(shape{101, 1536, 13}) && yield(shape{6, 4099, 5})
}

// TestMatMulBits compares the assembly with the portable code, bit for bit.
func TestMatMulBits(t *testing.T) {
	for _, isa := range assembly(t) {
		k := kernelsOf(t, isa)
		for _, f := range floats {
			for _, src := range sources {
				t.Run(fmt.Sprintf("%v/%s/%s", isa, f.name(), src.name), func(t *testing.T) {
					t.Parallel()
					r := rand.New(rand.NewPCG(11, uint64(f)))
					for s := range shapes {
						rows, cols, n := s.rows, s.cols, s.n
						if testing.Short() && rows*cols*n > 1<<16 {
							continue
						}
						ldx, ldd := cols+r.IntN(3), rows+r.IntN(3)
						x, w := make([]float32, n*ldx), make([]float32, rows*cols)
						src.fill(r, x)
						src.fill(r, w)
						b := misaligned(bytesOf(f, w), r.IntN(64))
						got, want := make([]float32, n*ldd), make([]float32, n*ldd)
						normalSource.fill(r, got)
						copy(want, got) // what lies between rows must stay
						k.MatMul(f, got, ldd, b, rows, cols, x, ldx, n)
						matMulPortable(f, want, ldd, b, rows, cols, x, ldx, n)
						if !t.Run(fmt.Sprintf("%d×%d×%d", rows, cols, n), func(t *testing.T) { compare(t, got, want) }) {
							return
						}
					}
				})
			}
		}
	}
}

var normalSource = sources[0]

// TestDotsBits: rows of a slice, further apart than they are long.
func TestDotsBits(t *testing.T) {
	for _, isa := range assembly(t) {
		k := kernelsOf(t, isa)
		for _, src := range sources {
			t.Run(fmt.Sprintf("%v/%s", isa, src.name), func(t *testing.T) {
				r := rand.New(rand.NewPCG(12, 0))
				for s := range shapes {
					rows, cols, n := s.rows, s.cols, s.n
					ldw, ldx := cols+3*r.IntN(20), cols+r.IntN(5)
					w, x := make([]float32, rows*ldw), make([]float32, n*ldx)
					src.fill(r, w)
					src.fill(r, x)
					got, want := make([]float32, n*rows), make([]float32, n*rows)
					k.Dots(got, rows, w, ldw, rows, cols, x, ldx, n)
					dotsPortable(want, rows, w, ldw, rows, cols, x, ldx, n)
					compare(t, got, want)
				}
			})
		}
	}
}

// TestDotDefinition holds the portable code to docs/arithmetic.md, word for
// word.
func TestDotDefinition(t *testing.T) {
	for _, src := range sources {
		r := rand.New(rand.NewPCG(13, 0))
		for _, cols := range []int{0, 1, 7, 15, 16, 17, 31, 32, 48, 255, 256, 257, 600} {
			w, x := make([]float32, cols), make([]float32, cols)
			src.fill(r, w)
			src.fill(r, x)
			var lane [16]float32
			for i := range (cols + 15) / 16 * 16 {
				if i < cols {
					lane[i%16] = bigFMA(w[i], x[i], lane[i%16])
				} else {
					lane[i%16] = bigFMA(0, 0, lane[i%16])
				}
			}
			s := func(i, j float32) float32 { return i + j }
			var a [8]float32
			for i := range a {
				a[i] = s(lane[i], lane[i+8])
			}
			want := s(s(s(a[0], a[4]), s(a[2], a[6])), s(s(a[1], a[5]), s(a[3], a[7])))
			got := make([]float32, 1)
			matMulPortable(F32, got, 1, bytesOf(F32, w), 1, cols, x, cols, 1)
			compare(t, got, []float32{want})
			dotsPortable(got, 1, w, cols, 1, cols, x, cols, 1)
			compare(t, got, []float32{want})
		}
	}
}

// TestDotsTransposed has short rows of weights, enough of them and of activations
// for the path that transposes.
func TestDotsTransposed(t *testing.T) {
	for _, source := range sources {
		r := rand.New(rand.NewPCG(11, 12))
		for _, cols := range []int{16, 64, 80, 128} {
			for _, rows := range []int{32, 35, 64, 100} {
				for _, n := range []int{12, 13, 15, 16, 48} {
					ldw, ldx, ldd := cols+32, cols+3, rows+1
					w, x := make([]float32, rows*ldw), make([]float32, n*ldx)
					source.fill(r, w)
					source.fill(r, x)
					want := make([]float32, n*ldd)
					New(Portable).Dots(want, ldd, w, ldw, rows, cols, x, ldx, n)
					for _, isa := range assembly(t) {
						got := make([]float32, n*ldd)
						New(isa).Dots(got, ldd, w, ldw, rows, cols, x, ldx, n)
						compare(t, got, want)
					}
				}
			}
		}
	}
}
