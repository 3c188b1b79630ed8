package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The numbers of expPortable in internal/simd/portable_float.go, in the order
// of expTable.
const (
	expMin = iota
	expMax
	expLog2e
	expNegLn2Hi
	expNegLn2Lo
	expQ0
	expQ1
	expQ2
	expQ3
	expQ4
	expOne
	expInf
	expNegInf
	expSign
	exp127
)

var expTable *Mem

// expConst returns the place of a number of the table.
func expConst(i int) Mem {
	if expTable == nil {
		g := GLOBL("expTable", RODATA|NOPTR)
		for j, v := range []float32{-87.3365, 88.72283, 0x1.715476p+0, -0x1.62e4p-1, -0x1.7f7d1cp-20,
			0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558aap-5, 0x1.12398cp-7, 0x1.6a5428p-10, 1} {
			DATA(4*j, U32(math.Float32bits(v)))
		}
		DATA(4*expInf, U32(0x7f800000))
		DATA(4*expNegInf, U32(0xff800000))
		DATA(4*expSign, U32(0x80000000))
		DATA(4*exp127, U32(127))
		expTable = &g
	}
	return expTable.Offset(4 * i)
}

// exponential computes e^x. With AVX-512 its numbers stay in registers.
type exponential struct {
	target
	held map[int]reg.VecVirtual
}

func newExponential(t target) *exponential {
	e := &exponential{target: t, held: map[int]reg.VecVirtual{}}
	for i := expMin; i <= expInf && t == avx512; i++ {
		e.held[i] = t.vector()
		VBROADCASTSS(expConst(i), e.held[i])
	}
	return e
}

// constant returns a register with a number of the table.
func (e *exponential) constant(i int) reg.VecVirtual {
	if r, ok := e.held[i]; ok {
		return r
	}
	r := e.vector()
	VBROADCASTSS(expConst(i), r)
	return r
}

// of returns e^x, step by step as expPortable.
func (e *exponential) of(x reg.VecVirtual) reg.VecVirtual {
	n, r := e.vector(), e.vector()
	VMULPS(e.constant(expLog2e), x, n)
	if e.target == avx512 {
		VRNDSCALEPS(Imm(0), n, n)
	} else {
		VROUNDPS(Imm(0), n, n)
	}
	VMOVAPS(x, r)
	VFMADD231PS(e.constant(expNegLn2Hi), n, r)
	VFMADD231PS(e.constant(expNegLn2Lo), n, r)
	q := e.vector()
	VMOVAPS(e.constant(expQ4), q)
	for i := expQ3; i >= expQ0; i-- {
		VFMADD213PS(e.constant(i), r, q)
	}
	p := e.vector()
	VMULPS(r, r, p)
	VFMADD213PS(r, q, p)
	VADDPS(e.constant(expOne), p, p)
	const (
		notLess = 0x15 // or not a number
		greater = 0x1e
	)
	if e.target == avx512 {
		VSCALEFPS(n, p, p) // p·2^n, rounded once
		k := K()
		VCMPPS(Imm(notLess), e.constant(expMin), x, k)
		VMOVAPS_Z(p, k, p)
		k = K()
		VCMPPS(Imm(greater), e.constant(expMax), x, k)
		VMOVAPS(e.constant(expInf), k, p)
		return p
	}
	i, h := YMM(), YMM()
	VCVTPS2DQ(n, i)
	VPSRAD(Imm(1), i, h)
	VPSUBD(h, i, i)
	for _, v := range []reg.VecVirtual{h, i} {
		VPADDD(e.constant(exp127), v, v)
		VPSLLD(Imm(23), v, v)
		VMULPS(v, p, p)
	}
	VCMPPS(Imm(notLess), e.constant(expMin), x, h)
	VANDPS(h, p, p)
	VCMPPS(Imm(greater), e.constant(expMax), x, h)
	VBLENDVPS(h, e.constant(expInf), p, p)
	return p
}
