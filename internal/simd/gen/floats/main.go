// Command floats writes the kernels on floating-point weights and activations.
// Run it in this module's folder (see go:generate in internal/simd/kernels.go).
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
		readMemory(t)
		peakFMA(t)
	}
	Generate()
}
