package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The fixed tree: lane i gets lane i+8, then i+4, i+2, i+1 added. Registers are
// paired so that one addition serves several sums.

// fold8 returns the 8 sums of lanes i and i+8.
func (t target) fold8(a []reg.VecVirtual) reg.VecVirtual {
	if t.parts == 2 {
		VADDPS(a[1], a[0], a[0])
		return a[0]
	}
	h := YMM()
	VEXTRACTF64X4(Imm(1), a[0], h)
	s := YMM()
	VADDPS(h, a[0].AsY(), s)
	return s
}

// sum1 returns the sum of 16 lanes in the lowest lane.
func (t target) sum1(a []reg.VecVirtual) reg.VecVirtual {
	s := t.fold8(a)
	h := XMM()
	if t.parts == 1 {
		VEXTRACTF32X4(Imm(1), s, h)
	} else {
		VEXTRACTF128(Imm(1), s, h)
	}
	r, u := XMM(), XMM()
	VADDPS(h, s.AsX(), r)
	VSHUFPS(Imm(0xee), r, r, u)
	VADDPS(u, r, r)
	VMOVSHDUP(r, u)
	VADDSS(u, r, r)
	return r
}

// sum4 returns the sums of four times 16 lanes in the four lanes of a register.
func (t target) sum4(acc [][]reg.VecVirtual) reg.VecVirtual {
	var b [4]reg.VecVirtual
	for i := range b {
		b[i] = t.fold8(acc[i])
	}
	return t.finish4(b)
}

// finish4 returns the sums of four times 8 lanes.
func (t target) finish4(b [4]reg.VecVirtual) reg.VecVirtual {
	fold4 := func(x, y reg.VecVirtual) reg.VecVirtual { // [x: 4 lanes | y: 4 lanes]
		lo, hi := YMM(), YMM()
		if t.parts == 1 {
			VSHUFF32X4(Imm(0), y, x, lo)
			VSHUFF32X4(Imm(3), y, x, hi)
		} else {
			VPERM2F128(Imm(0x20), y, x, lo)
			VPERM2F128(Imm(0x31), y, x, hi)
		}
		VADDPS(hi, lo, lo)
		return lo
	}
	p, q := fold4(b[0], b[2]), fold4(b[1], b[3])
	lo, hi := YMM(), YMM()
	VUNPCKLPD(q, p, lo)
	VUNPCKHPD(q, p, hi)
	VADDPS(hi, lo, lo) // [0: 2 lanes, 1: 2 lanes | 2: 2 lanes, 3: 2 lanes]
	up := XMM()
	if t.parts == 1 {
		VEXTRACTF32X4(Imm(1), lo, up)
	} else {
		VEXTRACTF128(Imm(1), lo, up)
	}
	even, odd := XMM(), XMM()
	VSHUFPS(Imm(0x88), up, lo.AsX(), even)
	VSHUFPS(Imm(0xdd), up, lo.AsX(), odd)
	VADDPS(odd, even, even)
	return even
}

// sum16 returns the sums of 4×4 times 16 lanes: register j holds those of
// acc[0][j] to acc[3][j].
func sum16(acc [4][]reg.VecVirtual) []reg.Register {
	// fold adds two shuffles of a pair of registers.
	fold := func(op func(ops ...Op), lo, hi uint64, x, y reg.VecVirtual) reg.VecVirtual {
		l, h := ZMM(), ZMM()
		op(Imm(lo), y, x, l)
		op(Imm(hi), y, x, h)
		VADDPS(h, l, l)
		return l
	}
	var rows [4]reg.VecVirtual // of 128-bit blocks, one for each j, of 4 lanes
	for i, a := range acc {
		ab := fold(VSHUFF64X2, 0x44, 0xee, a[0], a[1])
		cd := fold(VSHUFF64X2, 0x44, 0xee, a[2], a[3])
		rows[i] = fold(VSHUFF32X4, 0x88, 0xdd, ab, cd)
	}
	pair := func(x, y reg.VecVirtual) reg.VecVirtual { // blocks of [x: 2 lanes, y: 2 lanes]
		l, h := ZMM(), ZMM()
		VUNPCKLPD(y, x, l)
		VUNPCKHPD(y, x, h)
		VADDPS(h, l, l)
		return l
	}
	s := fold(VSHUFPS, 0x88, 0xdd, pair(rows[0], rows[1]), pair(rows[2], rows[3]))
	sums := []reg.Register{s.AsX(), XMM(), XMM(), XMM()}
	for j := 1; j < 4; j++ {
		VEXTRACTF32X4(Imm(uint64(j)), s, sums[j])
	}
	return sums
}
