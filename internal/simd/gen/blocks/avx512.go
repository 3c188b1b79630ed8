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

// streamed is the largest number of tokens that streamAVX512 takes.
const streamed = 8

// streamAVX512 writes the product of 1 to streamed tokens with tiles one after
// another: the decoding of a session, of a few, or of a short draft, which is a
// plain stream over the weights.
func streamAVX512(f format, r record) {
	name := kernelName("stream", f, r)
	arg, field := product(name, fmt.Sprintf("%s multiplies tiles, one after another, with 1 to %d tokens: 16 sums to a tile and token.", name, streamed))
	k := streamKernel{tokensKernel{format: f, record: r, arg: arg, field: field}, rowMask(arg(argRows))}
	k.each(1, streamed, k.tokens)
}

// A tokensKernel is what kernels for several numbers of tokens share.
type tokensKernel struct {
	format
	record
	arg   func(int) reg.GPVirtual
	field func(int) Mem
	mask  reg.VecVirtual // of nibbles
}

// each writes the kernel: a loop for each number of tokens, of which it takes
// the one that its argument says.
func (k *tokensKernel) each(first, last int, loop func(tokens int)) {
	if k.nibbles() {
		k.mask = nibbleMask512()
	}
	for t := first; t <= last; t++ {
		next := fmt.Sprintf("not%d", t)
		CMPQ(k.field(argTokens), Imm(uint64(t)))
		JNE(LabelRef(next))
		loop(t)
		Label(next)
	}
	RET()
}

// scales returns the scales of a block in a tile, and its minimums, at p.
func (k *tokensKernel) scales(p func(disp int) Mem) (scale, minimum reg.VecVirtual) {
	scale, minimum = ZMM(), ZMM()
	VCVTPH2PS(p(0), scale)
	if k.minimum() {
		VCVTPH2PS(p(32), minimum)
	}
	return scale, minimum
}

// add adds to sum what a block gives for token i, whose record is at a: isum
// times both scales, and the minimums.
func (k *tokensKernel) add(isum, scale, minimum, sum reg.VecVirtual, token strided, a reg.Register, i int) {
	both := ZMM()
	VCVTDQ2PS(isum, isum)
	VMULPS_BCST(token.at(a, i, k.scale), scale, both)
	VFMADD231PS(isum, both, sum)
	if k.minimum() {
		VFMADD231PS_BCST(token.at(a, i, k.xsum), minimum, sum)
	}
}

// A streamKernel is what the parts of streamAVX512 share.
type streamKernel struct {
	tokensKernel
	write reg.OpmaskVirtual // the rows of a tile
}

// tokens writes the loop over tiles for t tokens.
func (k *streamKernel) tokens(t int) {
	label := func(name string) string { return fmt.Sprint(name, t) }
	dst, w, acts, params, stride := k.arg(argDst), k.arg(argW), k.arg(argActs), k.arg(argParams), k.arg(argStride)
	tiles := k.arg(argCount)
	token := newStrided(stride, t)
	ahead, q, p, a, n := GP64(), GP64(), GP64(), GP64(), GP64()

	Label(label("tile"))
	LEAQ(Mem{Base: w, Disp: prefetchDistance}, ahead)
	var sum []reg.VecVirtual
	for range t {
		sum = append(sum, zero512(ZMM()))
	}
	MOVQ(w, p)
	LEAQ(Mem{Base: w, Index: params, Scale: 1}, q)
	MOVQ(acts, a)
	MOVQ(k.field(argBlocks), n)

	Label(label("block"))
	for o := 0; o < k.quants+k.params; o += 64 {
		PREFETCHT0(Mem{Base: ahead, Disp: o})
	}
	ADDQ(U32(uint32(k.quants+k.params)), ahead)
	// For each digit, the high one first, one chain of sums to a token, or two,
	// where one would be waited for.
	chains := 1
	if t <= 2 {
		chains = 2
	}
	var acc [2][][2]reg.VecVirtual
	for d := range k.digits {
		for i := range t {
			var both [2]reg.VecVirtual
			for c := range chains {
				both[c] = ZMM()
				if d == k.digits-1 && c == 0 && k.bias != 0 {
					VPBROADCASTD(token.at(a, i, k.corr(k.record)), both[c])
				} else {
					zero512(both[c])
				}
			}
			acc[d] = append(acc[d], both)
		}
	}
	group := func(j int, v reg.VecVirtual) {
		for d := range k.digits {
			for i := range t {
				dotBytesBroadcast(token.at(a, i, 4*(k.digits*j+d)), v, acc[d][i][j%chains])
			}
		}
	}
	for o := 0; o < k.quants; o += 64 {
		v := ZMM()
		VMOVDQU64(Mem{Base: q, Disp: o}, v)
		if !k.nibbles() {
			group(o/64, v)
			continue
		}
		lo, hi := ZMM(), ZMM()
		VPANDD(k.mask, v, lo)
		VPSRLW(Imm(4), v, hi)
		VPANDD(k.mask, hi, hi)
		group(o/32, lo)
		group(o/32+1, hi)
	}
	scale, minimum := k.scales(func(disp int) Mem { return Mem{Base: p, Disp: disp} })
	for i := range t {
		for d := range k.digits {
			if chains == 2 {
				VPADDD(acc[d][i][1], acc[d][i][0], acc[d][i][0])
			}
		}
		isum := acc[0][i][0]
		if k.digits == 2 {
			VPSLLD(Imm(8), isum, isum)
			VPADDD(acc[1][i][0], isum, isum)
		}
		k.add(isum, scale, minimum, sum[i], token, a, i)
	}
	ADDQ(U32(uint32(k.quants)), q)
	ADDQ(U32(uint32(k.params)), p)
	ADDQ(U32(uint32(k.size)), a)
	DECQ(n)
	JNZ(LabelRef(label("block")))

	MOVQ(dst, a)
	for i := range t {
		VMOVUPS(sum[i], k.write, Mem{Base: a})
		if i < t-1 {
			ADDQ(k.field(argLdd), a)
		}
	}
	ADDQ(U32(64), dst)
	MOVQ(q, w)
	DECQ(tiles)
	JNZ(LabelRef(label("tile")))
	VZEROUPPER()
	RET()
}

// kernelName is the name of a kernel for activations of 16 bits, or of 8.
func kernelName(what string, f format, r record) string {
	if r.digits == 1 {
		return what + f.name + "x8AVX512"
	}
	return what + f.name + "AVX512"
}

// mostTokens is the largest group whose sums with a pair of tiles fit into
// registers.
const mostTokens = 6

// tokensAVX512 writes the product of a pair of tiles with groups of tokens.
func tokensAVX512(f format, r record) {
	name := kernelName("tokens", f, r)
	arg, field := product(name, fmt.Sprintf("%s multiplies a pair of tiles with groups of 2 to %d tokens.", name, mostTokens))
	rows := arg(argRows)
	k := pairKernel{tokensKernel: tokensKernel{format: f, record: r, arg: arg, field: field}}
	k.write[0] = rowMask(rows)
	SHRQ(Imm(16), rows)
	k.write[1] = rowMask(rows)
	k.each(2, mostTokens, k.groups)
}

// A pairKernel is what the parts of tokensAVX512 share.
type pairKernel struct {
	tokensKernel
	write [2]reg.OpmaskVirtual // the rows of each tile
}

// groups writes the loop over groups of t tokens.
func (k *pairKernel) groups(t int) {
	label := func(name string) string { return fmt.Sprint(name, t) }
	dst, acts, stride, ahead := k.arg(argDst), k.arg(argActs), k.arg(argStride), k.arg(argAhead)
	count, second := k.field(argCount), k.arg(argNext)
	token := newStrided(stride, t)
	a := GP64()

	Label(label("group"))
	var sum [2][]reg.VecVirtual
	for r := range sum {
		for range t {
			sum[r] = append(sum[r], zero512(ZMM()))
		}
	}
	p, q, n := k.arg(argW), k.arg(argParams), k.arg(argBlocks)
	ADDQ(p, q)
	MOVQ(acts, a)
	tile := func(r int, base reg.Register, disp int) Mem {
		if r == 0 {
			return Mem{Base: base, Disp: disp}
		}
		return Mem{Base: base, Index: second, Scale: 1, Disp: disp}
	}

	Label(label("block"))
	TESTQ(ahead, ahead)
	JZ(LabelRef(label("fetched")))
	for r := range 2 {
		at := GP64()
		LEAQ(tile(r, p, 0), at)
		PREFETCHT0(Mem{Base: at, Index: ahead, Scale: 1})
		LEAQ(tile(r, q, 0), at)
		for o := 0; o < k.quants; o += 64 {
			PREFETCHT0(Mem{Base: at, Index: ahead, Scale: 1, Disp: o})
		}
	}
	Label(label("fetched"))
	var acc [2][]reg.VecVirtual
	for r := range acc {
		for i := range t {
			v := ZMM()
			if k.digits == 1 && k.bias != 0 {
				VPBROADCASTD(token.at(a, i, k.corr(k.record)), v)
			} else {
				zero512(v)
			}
			acc[r] = append(acc[r], v)
		}
	}
	quad := func(j, digit int, v [2]reg.VecVirtual) {
		for i := range t {
			x := ZMM()
			VPBROADCASTD(token.at(a, i, 4*(k.digits*j+digit)), x)
			dotBytes(x, v[0], acc[0][i])
			dotBytes(x, v[1], acc[1][i])
		}
	}
	// The high digits of all 32 weights, times 256, then the low ones.
	for digit := range k.digits {
		if digit == 1 {
			for r := range acc {
				for i := range t {
					VPSLLD(Imm(8), acc[r][i], acc[r][i])
				}
			}
		}
		for o := 0; o < k.quants; o += 64 {
			v := [2]reg.VecVirtual{ZMM(), ZMM()}
			for r := range v {
				VMOVDQU64(tile(r, q, o), v[r])
			}
			if !k.nibbles() {
				quad(o/64, digit, v)
				continue
			}
			half := [2]reg.VecVirtual{ZMM(), ZMM()}
			for r := range v {
				VPANDD(k.mask, v[r], half[r])
			}
			quad(o/32, digit, half)
			for r := range v {
				VPSRLW(Imm(4), v[r], v[r])
				VPANDD(k.mask, v[r], v[r])
			}
			quad(o/32+1, digit, v)
		}
	}
	for r := range acc {
		scale, minimum := k.scales(func(disp int) Mem { return tile(r, p, disp) })
		for i := range t {
			isum := acc[r][i]
			if k.digits == 2 && k.bias != 0 {
				VPADDD_BCST(token.at(a, i, k.corr(k.record)), isum, isum)
			}
			k.add(isum, scale, minimum, sum[r][i], token, a, i)
		}
	}
	ADDQ(U32(uint32(k.quants)), q)
	ADDQ(U32(uint32(k.params)), p)
	ADDQ(U32(uint32(k.size)), a)
	DECQ(n)
	JNZ(LabelRef(label("block")))

	for i := range t {
		for r := range 2 {
			VMOVUPS(sum[r][i], k.write[r], Mem{Base: dst, Disp: 64 * r})
		}
		ADDQ(k.field(argLdd), dst)
		ADDQ(stride, acts)
	}
	XORL(ahead.As32(), ahead.As32())
	DECQ(count)
	JNZ(LabelRef(label("group")))
	VZEROUPPER()
	RET()
}
