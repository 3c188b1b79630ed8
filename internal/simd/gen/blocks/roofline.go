package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What the benchmarks compare the block products with: the processor's limit of
// the instructions that they are made of.

// peakDot writes functions that do n times 12 independent steps of an integer
// product, on whole registers, and nothing else.
func peakDot() {
	for _, isa := range []string{"AVX2", "AVX512"} {
		TEXT("peakDot"+isa, NOSPLIT, "func(n int)")
		Doc("peakDot" + isa + " does n times 12 steps of the integer products of a block. Benchmarks use it.")
		n := Load(Param("n"), GP64())
		vector := func() reg.VecVirtual {
			if isa == "AVX2" {
				return zero256(YMM())
			}
			return zero512(ZMM())
		}
		x, w := vector(), vector()
		acc := make([]reg.VecVirtual, 12)
		for i := range acc {
			acc[i] = vector()
		}
		Label("loop")
		for _, a := range acc {
			if isa == "AVX512" {
				dotBytes(x, w, a)
				continue
			}
			y := YMM()
			VPMADDWD(x, w, y)
			VPADDD(y, a, a)
		}
		DECQ(n)
		JNZ(LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
}
