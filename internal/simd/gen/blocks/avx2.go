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

// rowAVX2 is rowAVX512 with eight rows a register.
func rowAVX2(f format) {
	name, corr := "row"+f.name+"AVX2", f.corr(words)
	arg, _ := product(name, name+" multiplies tiles, one after another, with one token: 16 sums to a tile.")
	dst, w, acts, nb := arg(argDst), arg(argW), arg(argActs), arg(argBlocks)
	params, tiles, rows := arg(argParams), arg(argCount), arg(argRows)
	mask := wordMask(f)
	ahead, q, p, a, n := GP64(), GP64(), GP64(), GP64(), GP64()

	Label("tile")
	LEAQ(Mem{Base: w, Disp: prefetchDistance}, ahead)
	sum := [2]reg.VecVirtual{zero256(YMM()), zero256(YMM())}
	MOVQ(w, p)
	LEAQ(Mem{Base: w, Index: params, Scale: 1}, q)
	MOVQ(acts, a)
	MOVQ(nb, n)

	Label("block")
	for o := 0; o < f.quants+f.params; o += 64 {
		PREFETCHT0(Mem{Base: ahead, Disp: o})
	}
	ADDQ(U32(uint32(f.quants+f.params)), ahead)
	var acc [2]reg.VecVirtual
	for h := range acc {
		acc[h] = YMM()
		if corr != 0 {
			VPBROADCASTD(Mem{Base: a, Disp: corr}, acc[h])
		} else {
			zero256(acc[h])
		}
	}
	eachWord(f, q, mask, func(disp int, v [2]reg.VecVirtual) {
		x, y := YMM(), YMM()
		VPBROADCASTD(Mem{Base: a, Disp: disp}, x)
		VPMADDWD(x, v[0], y)
		VPADDD(y, acc[0], acc[0])
		VPMADDWD(x, v[1], x)
		VPADDD(x, acc[1], acc[1])
	})
	for h := range acc {
		scale, x := YMM(), YMM()
		VCVTDQ2PS(acc[h], acc[h])
		VCVTPH2PS(Mem{Base: p, Disp: 16 * h}, scale)
		VBROADCASTSS(Mem{Base: a, Disp: words.scale}, x)
		VMULPS(x, scale, scale)
		VFMADD231PS(acc[h], scale, sum[h])
		if f.minimum() {
			VCVTPH2PS(Mem{Base: p, Disp: 32 + 16*h}, scale)
			VBROADCASTSS(Mem{Base: a, Disp: words.xsum}, x)
			VFMADD231PS(x, scale, sum[h])
		}
	}
	ADDQ(U32(uint32(f.quants)), q)
	ADDQ(U32(uint32(f.params)), p)
	ADDQ(U32(words.size), a)
	DECQ(n)
	JNZ(LabelRef("block"))

	CMPQ(rows, Imm(16))
	JNE(LabelRef("some"))
	for h := range sum {
		VMOVUPS(sum[h], Mem{Base: dst, Disp: 32 * h})
	}
	ADDQ(U32(64), dst)
	MOVQ(q, w)
	DECQ(tiles)
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()

	Label("some") // the last tile, which is alone
	for h, lanes := range firstLanes(rows) {
		VMASKMOVPS(sum[h], lanes, Mem{Base: dst, Disp: 32 * h})
	}
	VZEROUPPER()
	RET()
}

func zero256(v reg.VecVirtual) reg.VecVirtual {
	VPXOR(v, v, v)
	return v
}

// wordMask keeps the even bytes, or their low nibbles.
func wordMask(f format) reg.VecVirtual {
	m := uint32(0x00ff00ff)
	if f.nibbles() {
		m = 0x000f000f
	}
	mask, g, x := YMM(), GP32(), XMM()
	MOVL(U32(m), g)
	VMOVD(g, x)
	VPBROADCASTD(x, mask)
	return mask
}

// firstLanes returns the masks of the first rows of 16 lanes.
func firstLanes(rows reg.GPVirtual) [2]reg.VecVirtual {
	table, at := GP64(), GP64()
	LEAQ(laneMasks, table)
	MOVQ(U32(16), at)
	SUBQ(rows, at)
	lanes := [2]reg.VecVirtual{YMM(), YMM()}
	for h := range lanes {
		VMOVDQU(Mem{Base: table, Index: at, Scale: 4, Disp: 32 * h}, lanes[h])
	}
	return lanes
}

// eachWord calls use with the weights of the block at q, two words of each of 8+8
// rows at a time, and the offset in the records of the dword of activations
// that they meet.
func eachWord(f format, q reg.Register, mask reg.VecVirtual, use func(disp int, v [2]reg.VecVirtual)) {
	for o := 0; o < f.quants; o += 64 {
		var raw, v [2]reg.VecVirtual
		for h := range raw {
			raw[h], v[h] = YMM(), YMM()
			VMOVDQU(Mem{Base: q, Disp: o + 32*h}, raw[h])
			VPAND(mask, raw[h], v[h])
		}
		shifted := func(bits uint64, keep bool) [2]reg.VecVirtual {
			for h := range raw {
				VPSRLW(Imm(bits), raw[h], v[h])
				if keep {
					VPAND(mask, v[h], v[h])
				}
			}
			return v
		}
		if !f.nibbles() {
			use(o/8, v)
			use(o/8+4, shifted(8, false))
			continue
		}
		use(o/4, v)
		use(o/4+4, shifted(8, true))
		use(o/4+8, shifted(4, true))
		use(o/4+12, shifted(12, false))
	}
}

// tokensAVX2 writes the product of a tile with groups of tokens. An activation
// quad is the int16 (x0, x2, x1, x3), so that a dword of it meets the even or the
// odd bytes of a weight quad.
func tokensAVX2(f format) {
	name := "tokens" + f.name + "AVX2"
	arg, field := product(name, name+" multiplies a tile with groups of 2 to 4 tokens.")
	mask := wordMask(f)
	sums := AllocLocal(64 * 4)
	for t := 2; t <= 4; t++ {
		next := fmt.Sprintf("not%d", t)
		CMPQ(field(argTokens), Imm(uint64(t)))
		JNE(LabelRef(next))
		groupsAVX2(f, t, arg, mask, sums)
		Label(next)
	}
	RET()
}

// groupsAVX2 is tokensAVX2 for groups of t tokens.
func groupsAVX2(f format, t int, arg func(int) reg.GPVirtual, mask reg.VecVirtual, sums Mem) {
	label := func(name string) string { return fmt.Sprint(name, t) }
	corr := f.corr(words)
	dst, ldd, w := arg(argDst), arg(argLdd), arg(argW)
	acts, stride, groups := arg(argActs), arg(argStride), arg(argCount)
	rows, ahead := arg(argRows), arg(argAhead)
	token := newStrided(stride, t)
	p, a := GP64(), GP64()

	Label(label("group"))
	{
		z := zero256(YMM())
		for o := 0; o < 64*t; o += 32 {
			VMOVDQU(z, sums.Offset(o))
		}
	}
	MOVQ(w, p)
	q, n := arg(argParams), arg(argBlocks)
	ADDQ(w, q)
	MOVQ(acts, a)

	Label(label("block"))
	prefetch(label("fetched"), f, ahead, [][2]Mem{{{Base: p}, {Base: q}}})
	var acc [2][]reg.VecVirtual
	for h := range acc {
		for range t {
			acc[h] = append(acc[h], zero256(YMM()))
		}
	}
	eachWord(f, q, mask, func(disp int, v [2]reg.VecVirtual) {
		for i := range t {
			x, y := YMM(), YMM()
			VPBROADCASTD(token.at(a, i, disp), x)
			VPMADDWD(x, v[0], y)
			VPADDD(y, acc[0][i], acc[0][i])
			VPMADDWD(x, v[1], x)
			VPADDD(x, acc[1][i], acc[1][i])
		}
	})
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
			if corr != 0 {
				VPBROADCASTD(token.at(a, i, corr), x)
				VPADDD(x, acc[h][i], acc[h][i])
			}
			VCVTDQ2PS(acc[h][i], acc[h][i])
			VBROADCASTSS(token.at(a, i, words.scale), x)
			VMULPS(x, scale, x)
			at := sums.Offset(64*i + 32*h)
			VFMADD213PS(at, x, acc[h][i])
			if f.minimum() {
				VBROADCASTSS(token.at(a, i, words.xsum), x)
				VFMADD231PS(x, minimum, acc[h][i])
			}
			VMOVUPS(acc[h][i], at)
		}
	}
	ADDQ(U32(uint32(f.quants)), q)
	ADDQ(U32(uint32(f.params)), p)
	ADDQ(U32(words.size), a)
	DECQ(n)
	JNZ(LabelRef(label("block")))

	CMPQ(rows, Imm(16))
	JNE(LabelRef(label("some")))
	for i := range t {
		for h := range 2 {
			y := YMM()
			VMOVUPS(sums.Offset(64*i+32*h), y)
			VMOVUPS(y, Mem{Base: dst, Disp: 32 * h})
		}
		ADDQ(ldd, dst)
		ADDQ(stride, acts)
	}
	XORL(ahead.As32(), ahead.As32())
	DECQ(groups)
	JNZ(LabelRef(label("group")))
	VZEROUPPER()
	RET()

	// The last tile of a matrix may have fewer rows.
	Label(label("some"))
	lanes := firstLanes(rows)
	for i := range t {
		for h := range lanes {
			y := YMM()
			VMOVUPS(sums.Offset(64*i+32*h), y)
			VMASKMOVPS(y, lanes[h], Mem{Base: dst, Disp: 32 * h})
		}
		ADDQ(ldd, dst)
		ADDQ(stride, acts)
	}
	XORL(ahead.As32(), ahead.As32())
	DECQ(groups)
	JNZ(LabelRef(label("group")))
	VZEROUPPER()
	RET()
}
