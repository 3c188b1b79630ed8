//go:build linux

package simd

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"
)

// guard returns a copy of f that ends where memory may not be touched.
func guard(t *testing.T, f []float32) []float32 {
	t.Helper()
	g := guardedFloats(t, len(f))
	copy(g, f)
	return g
}

// TestFloatsGuard: no kernel on floats reads or writes past the end of a slice.
func TestFloatsGuard(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 0))
	random := func(n int) []float32 {
		f := make([]float32, n)
		normalSource.fill(r, f)
		return guard(t, f)
	}
	for _, isa := range append(assembly(t), Portable) {
		k := kernelsOf(t, isa)
		t.Run(isa.String(), func(t *testing.T) {
			for cols := 1; cols <= 49; cols++ {
				rows, n := 1+cols%6, 1+cols%8
				dst, x := random(n*rows), random(n*cols)
				for _, f := range floats {
					b := bytesOf(f, random(rows*cols))
					w := guarded(t, len(b))
					copy(w, b)
					k.MatMul(f, dst, rows, w, rows, cols, x, cols, n)
				}
				k.Dots(dst, rows, random(rows*cols), cols, rows, cols, x, cols, n)
				k.WeightedSum(random(n*cols), cols, random(n*rows), rows, random(rows*cols), cols, rows, cols, n)
				y := random(cols)
				k.RMSNorm(random(cols), y, random(cols), 1e-5)
				k.Softmax(y)
				k.SiLUMul(y, random(cols))
				k.Add(y, random(cols))
				k.Rope(random(4*cols), y, random(cols))
			}
		})
	}
}

// TestGuardHolds: one byte past guarded memory cannot be read.
func TestGuardHolds(t *testing.T) {
	b := guarded(t, 5)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("the byte past the end can be read")
		}
	}()
	sink = *(*byte)(unsafe.Add(unsafe.Pointer(&b[4]), 1))
}

var sink byte
