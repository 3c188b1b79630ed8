package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// What the benchmarks compare the kernels with: the processor's own limits.

// readMemory writes a function that reads n bytes, a multiple of 512, and does
// next to nothing with them.
func readMemory(t target) {
	TEXT("readMemory"+t.suffix, NOSPLIT, "func(p *byte, n int)")
	Doc("readMemory" + t.suffix + " reads n bytes, a multiple of 512. Benchmarks use it.")
	p := Load(Param("p"), GP64())
	n := Load(Param("n"), GP64())
	acc := t.vectors(8)
	t.zero(acc...)
	Label("loop")
	for i := range 8 * t.parts {
		m := Mem{Base: p, Disp: i * 64 / t.parts}
		if a := acc[i%8]; t == avx512 {
			VPXORD(m, a, a)
		} else {
			VPXOR(m, a, a)
		}
	}
	ADDQ(I32(512), p)
	SUBQ(I32(512), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// peakFMA writes a function that does n times 12 independent fused
// multiply-adds of vectors and nothing else.
func peakFMA(t target) {
	TEXT("peakFMA"+t.suffix, NOSPLIT, "func(n int)")
	Doc("peakFMA" + t.suffix + " does n times 12 fused multiply-adds of whole registers. Benchmarks use it.")
	n := Load(Param("n"), GP64())
	acc := t.vectors(12)
	x, y := t.vector(), t.vector()
	t.zero(acc...)
	t.zero(x, y)
	Label("loop")
	for _, a := range acc {
		VFMADD231PS(x, y, a)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
