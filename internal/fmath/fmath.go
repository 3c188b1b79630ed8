// Package fmath holds the elementary functions that the model's tables are
// made of, with the same bits on every processor.
//
// The functions of the standard library may differ in the last bit: some have
// assembly on some architectures, and the compiler may fuse x*y+z into one
// rounding (on arm64 always, on amd64 from GOAMD64=v3 on; "An implementation
// may combine multiple floating-point operations into a single fused
// operation, possibly across statements", The Go Programming Language
// Specification, "Floating-point operators"). Here every product that is added
// to something is converted explicitly, which forbids fusing, and where a fused
// operation is meant it is math.FMA, which is exact everywhere.
//
// The largest error of each function is below 1 ulp; the tests measure it.
package fmath

import "math"

// exact two-term sums and products: hi+lo is the exact result.

func twoSum(a, b float64) (hi, lo float64) { // Knuth
	hi = a + b
	t := hi - a
	return hi, (a - (hi - t)) + (b - t)
}

func twoProduct(a, b float64) (hi, lo float64) {
	hi = float64(a * b)
	return hi, math.FMA(a, b, -hi)
}

// horner returns c[0] + x·c[1] + x²·c[2] + …, unfused.
func horner(x float64, c []float64) float64 {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = float64(p*x) + c[i]
	}
	return p
}
