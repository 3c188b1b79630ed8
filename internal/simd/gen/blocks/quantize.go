package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A precision is how large the integers are that activations become.
type precision struct {
	bits     int
	max, inv uint32 // the largest of them and float32(1/largest), as bits of float32
}

var precisions = []precision{
	{16, 0x46fe0000, 0x38010204}, // 127·256
	{8, 0x42fe0000, 0x3c010204},  // 127
}

// Bits of float32; portable_blocks.go has actMin.
const (
	bitsActMin   = 0x0f800000 // 2⁻⁹⁶
	bitsMaxFloat = 0x7f7fffff
	bitsNaN      = 0x7fc00000
)

// blockScale branches to the labels where the block's largest magnitude, the
// bits of a float32, is not finite or too small; else it sets inv to
// max/amax and stores the scale.
func (p precision) blockScale(r record, bits reg.GPVirtual, dst reg.Register) (inv reg.VecVirtual) {
	CMPL(bits, U32(bitsMaxFloat))
	JA(LabelRef("nan"))
	CMPL(bits, U32(bitsActMin))
	JB(LabelRef("zero"))
	amax, c, g := XMM(), XMM(), GP32()
	inv = XMM()
	VMOVD(bits, amax)
	MOVL(U32(p.max), g)
	VMOVD(g, c)
	VDIVSS(amax, c, inv)
	MOVL(U32(p.inv), g)
	VMOVD(g, c)
	VMULSS(c, amax, amax)
	VMOVSS(amax, Mem{Base: dst, Disp: r.scale})
	return inv
}

// putSum stores what a record keeps of the sum of its quants.
func (r record) putSum(sum reg.GPVirtual, dst reg.Register) {
	x := XMM()
	VXORPS(x, x, x)
	VCVTSI2SSL(sum, x, x)
	VMULSS(Mem{Base: dst, Disp: r.scale}, x, x)
	VMOVSS(x, Mem{Base: dst, Disp: r.xsum})
	NEGL(sum)
	SHLL(Imm(3), sum)
	MOVL(sum, Mem{Base: dst, Disp: r.corr4})
	SHLL(Imm(4), sum)
	MOVL(sum, Mem{Base: dst, Disp: r.corr8})
}

// special writes the records of blocks that are zero or not finite.
func (r record) special(dst reg.Register, clear func()) {
	Label("zero")
	clear()
	MOVQ(U32(0), Mem{Base: dst, Disp: r.scale})
	MOVQ(U32(0), Mem{Base: dst, Disp: r.corr4})
	JMP(LabelRef("next"))
	Label("nan")
	clear()
	MOVQ(U32(bitsNaN), Mem{Base: dst, Disp: r.scale})
	MOVL(U32(0), Mem{Base: dst, Disp: r.corr4})
	MOVL(U32(bitsNaN), Mem{Base: dst, Disp: r.xsum})
	JMP(LabelRef("next"))
}

func fold(x reg.VecVirtual, op func(...Op)) reg.GPVirtual {
	y := XMM()
	VPSHUFD(Imm(0x4e), x, y)
	op(y, x, x)
	VPSHUFD(Imm(0xb1), x, y)
	op(y, x, x)
	g := GP32()
	VMOVD(x, g)
	return g
}

// quantizeAVX512: a quad of 16 bits is four high digits, then four low ones; a
// quant is 256·high+low, both signed bytes.
func quantizeAVX512(p precision) {
	r := newRecord(p.bits / 8)
	name := fmt.Sprintf("quantize%dAVX512", p.bits)
	TEXT(name, NOSPLIT, "func(dst *byte, x *float32, nb int)")
	Pragma("noescape")
	Doc(name + " writes the records of nb blocks of activations.")
	dst := Load(Param("dst"), GP64())
	x := Load(Param("x"), GP64())
	nb := Load(Param("nb"), GP64())
	abs, round := ZMM(), ZMM()
	g := GP32()
	MOVL(U32(0x7fffffff), g)
	VPBROADCASTD(g, abs)
	MOVL(U32(128), g)
	VPBROADCASTD(g, round)

	Label("block")
	v := [2]reg.VecVirtual{ZMM(), ZMM()}
	VMOVUPS(Mem{Base: x}, v[0])
	VMOVUPS(Mem{Base: x, Disp: 64}, v[1])
	m, m1 := ZMM(), ZMM()
	VPANDD(abs, v[0], m)
	VPANDD(abs, v[1], m1)
	VPMAXUD(m1, m, m)
	inv := ZMM()
	VBROADCASTSS(p.blockScale(r, fold512(m, func(o ...Op) { VPMAXUD(o...) }), dst), inv)
	for i := range v {
		VMULPS(inv, v[i], v[i])
		VCVTPS2DQ(v[i], v[i])
		if r.digits == 1 {
			lo := XMM()
			VPMOVDB(v[i], lo)
			VMOVDQU(lo, Mem{Base: dst, Disp: 16 * i})
			continue
		}
		high := ZMM()
		VPADDD(round, v[i], high)
		VPSRAD(Imm(8), high, high)
		hi, lo, z := XMM(), XMM(), XMM()
		VPMOVDB(high, hi)
		VPMOVDB(v[i], lo)
		VPUNPCKLDQ(lo, hi, z)
		VMOVDQU(z, Mem{Base: dst, Disp: 32 * i})
		VPUNPCKHDQ(lo, hi, z)
		VMOVDQU(z, Mem{Base: dst, Disp: 32*i + 16})
	}
	VPADDD(v[1], v[0], v[0])
	r.putSum(fold512(v[0], func(o ...Op) { VPADDD(o...) }), dst)
	Label("next")
	ADDQ(U32(128), x)
	ADDQ(U32(uint32(r.size)), dst)
	DECQ(nb)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
	r.special(dst, func() {
		z := ZMM()
		VPXORD(z, z, z)
		if r.digits == 1 {
			VMOVDQU(z.AsY(), Mem{Base: dst})
		} else {
			VMOVDQU64(z, Mem{Base: dst})
		}
	})
}

func fold512(z reg.VecVirtual, op func(...Op)) reg.GPVirtual {
	y, y1 := YMM(), YMM()
	VEXTRACTI64X4(Imm(1), z, y)
	VMOVDQA64(z.AsY(), y1)
	op(y, y1, y1)
	x, x1 := XMM(), XMM()
	VEXTRACTI128(Imm(1), y1, x)
	VMOVDQA(y1.AsX(), x1)
	op(x, x1, x1)
	return fold(x1, op)
}

// defineQuadOrder has the shuffle of int16 that quantizeAVX2 wants.
func defineQuadOrder() Mem {
	order := GLOBL("quadOrder", RODATA|NOPTR)
	DATA(0, U64(0x0706030205040100))
	DATA(8, U64(0x0f0e0b0a0d0c0908))
	return order
}

// quantizeAVX2: a quad is the int16 x0, x2, x1, x3.
func quantizeAVX2(p precision, order Mem) {
	name, r := fmt.Sprintf("quantize%dAVX2", p.bits), words
	TEXT(name, NOSPLIT, "func(dst *byte, x *float32, nb int)")
	Pragma("noescape")
	Doc(name + " writes the records of nb blocks of activations.")
	dst := Load(Param("dst"), GP64())
	x := Load(Param("x"), GP64())
	nb := Load(Param("nb"), GP64())
	abs, shuffle := YMM(), YMM()
	VPCMPEQD(abs, abs, abs)
	VPSRLD(Imm(1), abs, abs)
	VBROADCASTI128(order, shuffle)

	Label("block")
	v := [4]reg.VecVirtual{YMM(), YMM(), YMM(), YMM()}
	m := YMM()
	for i := range v {
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v[i])
		if i == 0 {
			VPAND(abs, v[i], m)
			continue
		}
		a := YMM()
		VPAND(abs, v[i], a)
		VPMAXUD(a, m, m)
	}
	inv := YMM()
	VBROADCASTSS(p.blockScale(r, fold256(m, func(o ...Op) { VPMAXUD(o...) }), dst), inv)
	for i := range v {
		VMULPS(inv, v[i], v[i])
		VCVTPS2DQ(v[i], v[i])
	}
	for i := 0; i < 4; i += 2 {
		w := YMM()
		VPACKSSDW(v[i+1], v[i], w)
		VPERMQ(Imm(0xd8), w, w)
		VPSHUFB(shuffle, w, w)
		VMOVDQU(w, Mem{Base: dst, Disp: 16 * i})
	}
	VPADDD(v[1], v[0], v[0])
	VPADDD(v[3], v[2], v[2])
	VPADDD(v[2], v[0], v[0])
	r.putSum(fold256(v[0], func(o ...Op) { VPADDD(o...) }), dst)
	Label("next")
	ADDQ(U32(128), x)
	ADDQ(U32(uint32(r.size)), dst)
	DECQ(nb)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
	r.special(dst, func() {
		y := YMM()
		VPXOR(y, y, y)
		VMOVDQU(y, Mem{Base: dst})
		VMOVDQU(y, Mem{Base: dst, Disp: 32})
	})
}

func fold256(y reg.VecVirtual, op func(...Op)) reg.GPVirtual {
	x, x1 := XMM(), XMM()
	VEXTRACTI128(Imm(1), y, x)
	VMOVDQA(y.AsX(), x1)
	op(x, x1, x1)
	return fold(x1, op)
}
