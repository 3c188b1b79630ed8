package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// softmax writes e^(s−max)/Σ in three passes. A NaN is left out of the maximum;
// it makes the sum, and by it every element, NaN. The lanes of the sum are those
// of a dot product. With AVX2 the last n mod 16 elements are in a copy, filled
// up with −Inf, if there are any.
func softmax(t target) {
	signature, doc := "func(s *float32, n int)", " replaces s by its softmax."
	if t == avx2 {
		signature = "func(s *float32, n int, tail *float32)"
		doc = " replaces s, n elements and 16 more at tail unless that is nil, by its softmax." + t.multiple("n")
	}
	TEXT("softmax"+t.suffix, NOSPLIT, signature)
	Doc("softmax" + t.suffix + doc)
	Pragma("noescape")
	s := Load(Param("s"), GP64())
	// pass writes a loop over all elements; p is where a round's are.
	pass := func(label string, body func(e elements, p reg.Register)) {
		n := Load(Param("n"), GP64())
		t.forElements(label, n, func(e elements) { body(e, s) })
		if t == avx2 {
			tail := Load(Param("tail"), GP64())
			TESTQ(tail, tail)
			JZ(LabelRef(label + "_end"))
			for h := range t.parts {
				body(elements{target: t, part: h}, tail)
			}
			Label(label + "_end")
		}
	}

	m := t.vector()
	VBROADCASTSS(expConst(expNegInf), m)
	pass("max", func(e elements, p reg.Register) {
		VMAXPS(m, e.keep(e.load(p), m), m) // m where the other is NaN
	})
	t.spreadMax(m)

	ex := newExponential(t)
	acc := t.vectors(t.parts)
	t.zero(acc...)
	pass("exp", func(e elements, p reg.Register) {
		v := e.load(p)
		VSUBPS(m, v, v)
		v = ex.of(v)
		e.store(v, p)
		zero := t.vector()
		t.zero(zero)
		VADDPS(e.keep(v, zero), acc[e.part], acc[e.part])
	})

	sum, inv := t.sum1(acc), t.vector()
	one := XMM()
	VMOVSS(expConst(expOne), one)
	VDIVSS(sum, one, one)
	VBROADCASTSS(one, inv)
	pass("scale", func(e elements, p reg.Register) {
		v := e.load(p)
		VMULPS(inv, v, v)
		e.store(v, p)
	})
	VZEROUPPER()
	RET()
}

// spreadMax sets every lane of m to the largest, of which none is NaN.
func (t target) spreadMax(m reg.VecVirtual) {
	x := t.vector()
	if t == avx512 {
		VSHUFF64X2(Imm(0x4e), m, m, x)
		VMAXPS(x, m, m)
		VSHUFF64X2(Imm(0xb1), m, m, x)
	} else {
		VPERM2F128(Imm(1), m, m, x)
	}
	VMAXPS(x, m, m)
	VSHUFPS(Imm(0x4e), m, m, x)
	VMAXPS(x, m, m)
	VSHUFPS(Imm(0xb1), m, m, x)
	VMAXPS(x, m, m)
}
