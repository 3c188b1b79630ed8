package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func zero512(v reg.VecVirtual) reg.VecVirtual {
	VPXORD(v, v, v)
	return v
}

func nibbleMask512() reg.VecVirtual {
	mask, t := ZMM(), GP32()
	MOVL(U32(0x0f0f0f0f), t)
	VPBROADCASTD(t, mask)
	return mask
}

// rowMask returns the mask of the lanes whose bits are set in rows.
func rowMask(rows reg.GPVirtual) reg.OpmaskVirtual {
	k := K()
	KMOVW(rows.As32(), k)
	return k
}

// prefetchDistance is how far ahead of its use a weight is asked for.
const prefetchDistance = 8192

// rowAVX512 writes the product of one token with tiles one after another: the
// decoding of a single session, which is a plain stream over the weights.
func rowAVX512(f format) {
	name := "row" + f.name + "AVX512"
	arg, _ := product(name, name+" multiplies tiles, one after another, with one token: 16 sums to a tile.")
	dst, w, acts, nb := arg(argDst), arg(argW), arg(argActs), arg(argBlocks)
	params, tiles, rows := arg(argParams), arg(argCount), arg(argRows)
	write := rowMask(rows)
	var mask reg.VecVirtual
	if f.nibbles() {
		mask = nibbleMask512()
	}
	ahead, q, p, a, n := GP64(), GP64(), GP64(), GP64(), GP64()

	Label("tile")
	LEAQ(Mem{Base: w, Disp: prefetchDistance}, ahead)
	sum := zero512(ZMM())
	MOVQ(w, p)
	LEAQ(Mem{Base: w, Index: params, Scale: 1}, q)
	MOVQ(acts, a)
	MOVQ(nb, n)

	Label("block")
	for o := 0; o < f.quants+f.params; o += 64 {
		PREFETCHT0(Mem{Base: ahead, Disp: o})
	}
	ADDQ(U32(uint32(f.quants+f.params)), ahead)
	// Two chains for each digit.
	var high, low [2]reg.VecVirtual
	for i := range high {
		high[i], low[i] = zero512(ZMM()), ZMM()
		if i == 0 && f.corr != 0 {
			VPBROADCASTD(Mem{Base: a, Disp: f.corr}, low[i])
		} else {
			zero512(low[i])
		}
	}
	group := func(j int, v reg.VecVirtual) {
		dotBytesBroadcast(Mem{Base: a, Disp: 8 * j}, v, high[j&1])
		dotBytesBroadcast(Mem{Base: a, Disp: 8*j + 4}, v, low[j&1])
	}
	for o := 0; o < f.quants; o += 64 {
		v := ZMM()
		VMOVDQU64(Mem{Base: q, Disp: o}, v)
		if !f.nibbles() {
			group(o/64, v)
			continue
		}
		lo, hi := ZMM(), ZMM()
		VPANDD(mask, v, lo)
		VPSRLW(Imm(4), v, hi)
		VPANDD(mask, hi, hi)
		group(o/32, lo)
		group(o/32+1, hi)
	}
	VPADDD(high[1], high[0], high[0])
	VPADDD(low[1], low[0], low[0])
	VPSLLD(Imm(8), high[0], high[0])
	VPADDD(low[0], high[0], high[0])
	VCVTDQ2PS(high[0], high[0])
	scale := ZMM()
	VCVTPH2PS(Mem{Base: p}, scale)
	VMULPS_BCST(Mem{Base: a, Disp: actScale}, scale, scale)
	VFMADD231PS(high[0], scale, sum)
	if f.minimum() {
		m := ZMM()
		VCVTPH2PS(Mem{Base: p, Disp: 32}, m)
		VFMADD231PS_BCST(Mem{Base: a, Disp: actXSum}, m, sum)
	}
	ADDQ(U32(uint32(f.quants)), q)
	ADDQ(U32(uint32(f.params)), p)
	ADDQ(U32(actRecord), a)
	DECQ(n)
	JNZ(LabelRef("block"))

	VMOVUPS(sum, write, Mem{Base: dst})
	ADDQ(U32(64), dst)
	MOVQ(q, w)
	DECQ(tiles)
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// tokensAVX512 writes the product of a pair of tiles with groups of t tokens.
func tokensAVX512(f format, t int) {
	name := fmt.Sprintf("tokens%d%sAVX512", t, f.name)
	arg, field := product(name, fmt.Sprintf("%s multiplies a pair of tiles with groups of %d tokens.", name, t))
	dst, acts, stride, ahead := arg(argDst), arg(argActs), arg(argStride), arg(argAhead)
	rows := arg(argRows)
	write := [2]reg.OpmaskVirtual{rowMask(rows)}
	SHRQ(Imm(16), rows)
	write[1] = rowMask(rows)
	count := field(argCount)
	token := newStrided(stride, t)
	var mask reg.VecVirtual
	if f.nibbles() {
		mask = nibbleMask512()
	}
	p1, q1, a := GP64(), GP64(), GP64()

	Label("group")
	var sum [2][]reg.VecVirtual
	for r := range sum {
		for range t {
			sum[r] = append(sum[r], zero512(ZMM()))
		}
	}
	p, q, n := arg(argW), arg(argParams), arg(argBlocks)
	ADDQ(p, q)
	MOVQ(p, p1)
	ADDQ(field(argNext), p1)
	MOVQ(q, q1)
	ADDQ(field(argNext), q1)
	MOVQ(acts, a)

	Label("block")
	prefetch(f, ahead, [][2]Mem{{{Base: p}, {Base: q}}, {{Base: p1}, {Base: q1}}})
	var acc [2][]reg.VecVirtual
	for r := range acc {
		for range t {
			acc[r] = append(acc[r], zero512(ZMM()))
		}
	}
	group := func(disp int, v [2]reg.VecVirtual) {
		for i := range t {
			x := ZMM()
			VPBROADCASTD(token.at(a, i, disp), x)
			dotBytes(x, v[0], acc[0][i])
			dotBytes(x, v[1], acc[1][i])
		}
	}
	// The high digits of all 32 weights, times 256, then the low ones.
	for digit := 0; digit <= 4; digit += 4 {
		for o := 0; o < f.quants; o += 64 {
			v := [2]reg.VecVirtual{ZMM(), ZMM()}
			VMOVDQU64(Mem{Base: q, Disp: o}, v[0])
			VMOVDQU64(Mem{Base: q1, Disp: o}, v[1])
			if !f.nibbles() {
				group(o/8+digit, v)
				continue
			}
			half := [2]reg.VecVirtual{ZMM(), ZMM()}
			for r := range v {
				VPANDD(mask, v[r], half[r])
			}
			group(o/4+digit, half)
			for r := range v {
				VPSRLW(Imm(4), v[r], v[r])
				VPANDD(mask, v[r], v[r])
			}
			group(o/4+8+digit, v)
		}
		if digit == 0 {
			for r := range acc {
				for i := range t {
					VPSLLD(Imm(8), acc[r][i], acc[r][i])
				}
			}
		}
	}
	for r := range acc {
		at := Mem{Base: [2]reg.Register{p, p1}[r]}
		scale := ZMM()
		VCVTPH2PS(at, scale)
		for i := range t {
			if f.corr != 0 {
				VPADDD_BCST(token.at(a, i, f.corr), acc[r][i], acc[r][i])
			}
			VCVTDQ2PS(acc[r][i], acc[r][i])
			both := ZMM()
			VMULPS_BCST(token.at(a, i, actScale), scale, both)
			VFMADD231PS(acc[r][i], both, sum[r][i])
		}
		if f.minimum() {
			at.Disp = 32
			VCVTPH2PS(at, scale)
			for i := range t {
				VFMADD231PS_BCST(token.at(a, i, actXSum), scale, sum[r][i])
			}
		}
	}
	ADDQ(U32(uint32(f.quants)), q)
	ADDQ(U32(uint32(f.quants)), q1)
	ADDQ(U32(uint32(f.params)), p)
	ADDQ(U32(uint32(f.params)), p1)
	ADDQ(U32(actRecord), a)
	DECQ(n)
	JNZ(LabelRef("block"))

	for i := range t {
		VMOVUPS(sum[0][i], write[0], Mem{Base: dst})
		VMOVUPS(sum[1][i], write[1], Mem{Base: dst, Disp: 64})
		ADDQ(field(argLdd), dst)
		ADDQ(stride, acts)
	}
	XORL(ahead.As32(), ahead.As32())
	DECQ(count)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}
