package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// laneMasks is 16 ones and 16 zeros: from place 16−r on, the mask of r lanes.
var laneMasks Mem

func defineLaneMasks() {
	laneMasks = GLOBL("laneMasks", RODATA|NOPTR)
	for i := range 16 {
		DATA(8*i, U64(0xffffffffffffffff*uint64(1-i/8)))
	}
}

// tokensAVX2 writes the product of tiles with groups of t tokens: for each
// tile, all groups. An activation quad is the int16 (x0, x2, x1, x3), so that a
// dword of it meets the even or the odd bytes of a weight quad.
func tokensAVX2(f format, t int) {
	name := fmt.Sprintf("tokens%d%sAVX2", t, f.name)
	arg := product(name, fmt.Sprintf("%s multiplies a tile with groups of %d tokens.", name, t))
	dst, ldd, w := arg(argDst), arg(argLdd), arg(argW)
	acts, stride, groups := arg(argActs), arg(argStride), arg(argCount)
	rows := arg(argRows)
	token := newStrided(stride, t)
	mask := YMM()
	{
		m := uint32(0x00ff00ff)
		if f.nibbles() {
			m = 0x000f000f
		}
		g, x := GP32(), XMM()
		MOVL(U32(m), g)
		VMOVD(g, x)
		VPBROADCASTD(x, mask)
	}
	sums := AllocLocal(64 * t)
	p, a := GP64(), GP64()

	Label("group")
	{
		z := YMM()
		VPXOR(z, z, z)
		for o := 0; o < 64*t; o += 32 {
			VMOVDQU(z, sums.Offset(o))
		}
	}
	MOVQ(w, p)
	q, n := arg(argParams), arg(argBlocks)
	ADDQ(w, q)
	MOVQ(acts, a)

	Label("block")
	var acc [2][]reg.VecVirtual
	for h := range acc {
		for range t {
			y := YMM()
			VPXOR(y, y, y)
			acc[h] = append(acc[h], y)
		}
	}
	// pairs adds the products of words of 8+8 rows with one dword of the acts.
	pairs := func(disp int, v [2]reg.VecVirtual) {
		for i := range t {
			x, y := YMM(), YMM()
			VPBROADCASTD(token.at(a, i, disp), x)
			VPMADDWD(x, v[0], y)
			VPADDD(y, acc[0][i], acc[0][i])
			VPMADDWD(x, v[1], x)
			VPADDD(x, acc[1][i], acc[1][i])
		}
	}
	for o := 0; o < f.quants; o += 64 {
		var raw, v [2]reg.VecVirtual
		for h := range raw {
			raw[h], v[h] = YMM(), YMM()
			VMOVDQU(Mem{Base: q, Disp: o + 32*h}, raw[h])
			VPAND(mask, raw[h], v[h])
		}
		if !f.nibbles() {
			pairs(o/8, v)
			for h := range raw {
				VPSRLW(Imm(8), raw[h], v[h])
			}
			pairs(o/8+4, v)
			continue
		}
		pairs(o/4, v)
		for h := range raw {
			VPSRLW(Imm(8), raw[h], v[h])
			VPAND(mask, v[h], v[h])
		}
		pairs(o/4+4, v)
		for h := range raw {
			VPSRLW(Imm(4), raw[h], v[h])
			VPAND(mask, v[h], v[h])
		}
		pairs(o/4+8, v)
		for h := range raw {
			VPSRLW(Imm(12), raw[h], v[h])
		}
		pairs(o/4+12, v)
	}
	for h := range acc {
		scale := YMM()
		VCVTPH2PS(Mem{Base: p, Disp: 16 * h}, scale)
		var minimum reg.VecVirtual
		if f.minimum() {
			minimum = YMM()
			VCVTPH2PS(Mem{Base: p, Disp: 32 + 16*h}, minimum)
		}
		for i := range t {
			x := YMM()
			if f.corr != 0 {
				VPBROADCASTD(token.at(a, i, f.corr), x)
				VPADDD(x, acc[h][i], acc[h][i])
			}
			VCVTDQ2PS(acc[h][i], acc[h][i])
			VBROADCASTSS(token.at(a, i, actScale), x)
			VMULPS(x, scale, x)
			at := sums.Offset(64*i + 32*h)
			VFMADD213PS(at, x, acc[h][i])
			if f.minimum() {
				VBROADCASTSS(token.at(a, i, actXSum), x)
				VFMADD231PS(x, minimum, acc[h][i])
			}
			VMOVUPS(acc[h][i], at)
		}
	}
	ADDQ(U32(uint32(f.quants)), q)
	ADDQ(U32(uint32(f.params)), p)
	ADDQ(U32(actRecord), a)
	DECQ(n)
	JNZ(LabelRef("block"))

	CMPQ(rows, Imm(16))
	JNE(LabelRef("some"))
	for i := range t {
		for h := range 2 {
			y := YMM()
			VMOVUPS(sums.Offset(64*i+32*h), y)
			VMOVUPS(y, Mem{Base: dst, Disp: 32 * h})
		}
		ADDQ(ldd, dst)
		ADDQ(stride, acts)
	}
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()

	// The last tile of a matrix may have fewer rows.
	Label("some")
	table, at := GP64(), GP64()
	LEAQ(laneMasks, table)
	MOVQ(U32(16), at)
	SUBQ(rows, at)
	lanes := [2]reg.VecVirtual{YMM(), YMM()}
	for h := range lanes {
		VMOVDQU(Mem{Base: table, Index: at, Scale: 4, Disp: 32 * h}, lanes[h])
	}
	for i := range t {
		for h := range lanes {
			y := YMM()
			VMOVUPS(sums.Offset(64*i+32*h), y)
			VMASKMOVPS(y, lanes[h], Mem{Base: dst, Disp: 32 * h})
		}
		ADDQ(ldd, dst)
		ADDQ(stride, acts)
	}
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}
