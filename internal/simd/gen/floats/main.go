// Command floats writes the kernels on floating-point weights and activations.
// Run it in this module's folder (see go:generate in
// internal/simd/floats_amd64.go).
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, t := range []target{avx2, avx512} {
		for _, f := range []format{f32, f16, bf16} {
			matvec(t, f, 1)
			matvec(t, f, streams)
			tile(t, f)
		}
		weightedSum(t, 1, 8, 4, 1)
		weightedSum(t, 2, 4, 1)
		weightedSum(t, 3, 4, 1)
		if t == avx512 {
			weightedSum(t, 4, 4, 1)
		}
		scaleMul(t)
		softmax(t)
		siluMul(t)
		rope(t)
		scale(t)
		largest(t)
		if t == avx512 { // package vek has it for AVX2
			add(t)
		}
		readMemory(t)
		peakFMA(t)
	}
	transpose()
	dotsTransposed()
	Generate()
}
