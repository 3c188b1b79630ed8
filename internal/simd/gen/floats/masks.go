package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var maskTable *Mem

// tailMasks returns, for each register of a step, the mask of the lanes below
// n mod 16: a mask register, or, for AVX2, its place in memory.
func (t target) tailMasks(n reg.Register) []Op {
	if t == avx512 {
		m := GP32()
		MOVQ(n, reg.RCX)
		ANDL(Imm(15), reg.ECX)
		MOVL(U32(1), m)
		SHLL(reg.CL, m)
		DECL(m)
		k := K()
		KMOVW(m, k)
		return []Op{k}
	}
	p, c := GP64(), GP64()
	MOVQ(n, c)
	ANDQ(Imm(15), c)
	NEGQ(c)
	LEAQ(tailTable(), p)
	LEAQ(Mem{Base: p, Index: c, Scale: 4, Disp: 64}, p)
	return []Op{Mem{Base: p}, Mem{Base: p, Disp: 32}}
}

// tailTable is 16 words of ones, then 16 of zeros: the 16 words before n of the
// zeros select the first n lanes.
func tailTable() Mem {
	if maskTable == nil {
		g := GLOBL("tailTable", RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(0xffffffff))
		}
		for i := range 16 {
			DATA(64+4*i, U32(0))
		}
		maskTable = &g
	}
	return *maskTable
}
