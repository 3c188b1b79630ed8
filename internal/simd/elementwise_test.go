package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// lengths are all tails of a register and some beyond.
func lengths(yield func(n int) bool) {
	for n := 0; n <= 67; n++ {
		if !yield(n) {
			return
		}
	}
	_ = yield(576) && yield(1000) && yield(1536) && yield(2049)
}

// withRest returns n elements from the source and, beyond them, some that must
// not change.
func withRest(r *rand.Rand, src source, n int) []float32 {
	s := make([]float32, n+9)
	src.fill(r, s)
	return s
}

// TestElementwiseBits compares each kernel on vectors with the portable code.
// Arguments are two slices that are read and one that is read and written.
func TestElementwiseBits(t *testing.T) {
	type args struct{ x, y, z []float32 }
	for _, kernel := range []struct {
		name string
		run  func(k Kernels, a args)
	}{
		{"RMSNorm", func(k Kernels, a args) { k.RMSNorm(a.x, a.y, a.z, 1e-5) }},
		{"RMSNormInPlace", func(k Kernels, a args) { k.RMSNorm(a.x, a.x, a.z, 1e-6) }},
		{"Softmax", func(k Kernels, a args) { k.Softmax(a.x) }},
		{"SiLUMul", func(k Kernels, a args) { k.SiLUMul(a.x, a.y) }},
		{"Add", func(k Kernels, a args) { k.Add(a.x, a.y) }},
		{"Scale", func(k Kernels, a args) { k.Scale(a.x, 0.3) }},
		{"Max", func(k Kernels, a args) {
			if len(a.x) > 0 {
				a.x[0] = k.Max(a.x) + 0 // +0 and -0 are equal
			}
		}},
		{"AddSelf", func(k Kernels, a args) { k.Add(a.x, a.x) }},
	} {
		for _, isa := range assembly(t) {
			k := kernelsOf(t, isa)
			for _, src := range append(sources, wide) {
				t.Run(fmt.Sprintf("%s/%v/%s", kernel.name, isa, src.name), func(t *testing.T) {
					r := rand.New(rand.NewPCG(21, 0))
					for n := range lengths {
						x, y, z := withRest(r, src, n), withRest(r, src, n), withRest(r, src, n)
						want := append([]float32(nil), x...)
						kernel.run(k, args{x[:n], y[:n], z[:n]})
						kernel.run(New(Portable), args{want[:n], y[:n], z[:n]})
						compare(t, x, want)
					}
				})
			}
		}
	}
}

// wide are numbers of the size that exp is made for.
var wide = source{"wide", func(r *rand.Rand) float32 { return float32(100 * r.NormFloat64()) }}

func TestRopeBits(t *testing.T) {
	for _, isa := range assembly(t) {
		k := kernelsOf(t, isa)
		for _, src := range sources {
			t.Run(fmt.Sprintf("%v/%s", isa, src.name), func(t *testing.T) {
				r := rand.New(rand.NewPCG(22, 0))
				for half := range 70 {
					for heads := range 4 {
						n := 2 * half * heads
						x, cos, sin := withRest(r, src, n), withRest(r, src, half), withRest(r, src, half)
						want := append([]float32(nil), x...)
						k.Rope(x[:n], cos[:half], sin[:half])
						ropePortable(want[:n], cos[:half], sin[:half])
						compare(t, x, want)
					}
				}
			})
		}
	}
}

func TestWeightedSumBits(t *testing.T) {
	for _, isa := range assembly(t) {
		k := kernelsOf(t, isa)
		for _, src := range sources {
			t.Run(fmt.Sprintf("%v/%s", isa, src.name), func(t *testing.T) {
				r := rand.New(rand.NewPCG(23, 0))
				check := func(rows, cols, n int) {
					lda, ldv, ldd := rows+r.IntN(3), cols+r.IntN(40), cols+r.IntN(3)
					a, v := withRest(r, src, n*lda), withRest(r, src, rows*ldv)
					got := withRest(r, normalSource, n*ldd)
					want := append([]float32(nil), got...)
					k.WeightedSum(got, ldd, a, lda, v, ldv, rows, cols, n)
					weightedSumPortable(want, ldd, a, lda, v, ldv, rows, cols, n)
					compare(t, got, want)
				}
				for cols := range 140 {
					check(5, cols, 1+cols%9)
					check(cols%7, cols, 1)
				}
				for n := range 11 {
					check(17, 64, n)
					check(3, 80, n)
				}
				check(1030, 128, 3)
			})
		}
	}
}

// TestSoftmaxSum: whatever the bits, the elements are a distribution.
func TestSoftmaxSum(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 0))
	for _, isa := range append(assembly(t), Portable) {
		for _, n := range []int{1, 2, 15, 16, 17, 1000, 49152} {
			s, in := make([]float32, n), make([]float32, n)
			wide.fill(r, s)
			copy(in, s)
			New(isa).Softmax(s)
			top, sum := 0, 0.0
			for i, p := range s {
				if !(p >= 0 && p <= 1) {
					t.Fatalf("%v: element %d is %v", isa, i, p)
				}
				if in[i] > in[top] {
					top = i
				}
				sum += float64(p)
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("%v: the sum of %d elements is %v", isa, n, sum)
			}
			if s[top] < 1/float32(n) {
				t.Errorf("%v: the largest of %d has probability %v", isa, n, s[top])
			}
		}
	}
}

// TestRMSNormValue: the root mean square of the result is 1 for weights of 1.
func TestRMSNormValue(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 0))
	x, w := make([]float32, 576), make([]float32, 576)
	normalSource.fill(r, x)
	for i := range w {
		w[i] = 1
	}
	New(Best()).RMSNorm(x, x, w, 1e-6)
	var ss float64
	for _, v := range x {
		ss += float64(v) * float64(v)
	}
	if rms := math.Sqrt(ss / 576); math.Abs(rms-1) > 1e-5 {
		t.Errorf("the root mean square is %v, want 1", rms)
	}
}
