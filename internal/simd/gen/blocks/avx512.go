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
func rowAVX512(f format, r record) {
	name := kernelName("row", f, r)
	arg, _ := product(name, NOSPLIT, name+" multiplies tiles, one after another, with one token: 16 sums to a tile.")
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
	// Two chains for each digit, the high one first.
	var acc [2][2]reg.VecVirtual
	for d := range r.digits {
		for i := range acc[d] {
			acc[d][i] = ZMM()
			if d == r.digits-1 && i == 0 && f.bias != 0 {
				VPBROADCASTD(Mem{Base: a, Disp: f.corr(r)}, acc[d][i])
			} else {
				zero512(acc[d][i])
			}
		}
	}
	group := func(j int, v reg.VecVirtual) {
		for d := range r.digits {
			dotBytesBroadcast(Mem{Base: a, Disp: 4 * (r.digits*j + d)}, v, acc[d][j&1])
		}
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
	isum := acc[0][0]
	VPADDD(acc[0][1], isum, isum)
	if r.digits == 2 {
		VPADDD(acc[1][1], acc[1][0], acc[1][0])
		VPSLLD(Imm(8), isum, isum)
		VPADDD(acc[1][0], isum, isum)
	}
	VCVTDQ2PS(isum, isum)
	scale := ZMM()
	VCVTPH2PS(Mem{Base: p}, scale)
	VMULPS_BCST(Mem{Base: a, Disp: r.scale}, scale, scale)
	VFMADD231PS(isum, scale, sum)
	if f.minimum() {
		m := ZMM()
		VCVTPH2PS(Mem{Base: p, Disp: 32}, m)
		VFMADD231PS_BCST(Mem{Base: a, Disp: r.xsum}, m, sum)
	}
	ADDQ(U32(uint32(f.quants)), q)
	ADDQ(U32(uint32(f.params)), p)
	ADDQ(U32(uint32(r.size)), a)
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

// kernelName is the name of a kernel for activations of 16 bits, or of 8.
func kernelName(what string, f format, r record) string {
	if r.digits == 1 {
		return what + f.name + "x8AVX512"
	}
	return what + f.name + "AVX512"
}

// Groups of up to inRegisters tokens have their sums in registers.
const (
	inRegisters = 6
	mostTokens  = 8
)

// tokensAVX512 writes the product of a pair of tiles with groups of tokens.
func tokensAVX512(f format, r record) {
	name := kernelName("tokens", f, r)
	arg, field := product(name, 0, fmt.Sprintf("%s multiplies a pair of tiles with groups of 2 to %d tokens.", name, mostTokens))
	rows := arg(argRows)
	k := pairKernel{format: f, record: r, arg: arg, field: field, sums: AllocLocal(64 * (2*mostTokens + 1))}
	k.write[0] = rowMask(rows)
	SHRQ(Imm(16), rows)
	k.write[1] = rowMask(rows)
	if f.nibbles() {
		k.mask = nibbleMask512()
	}
	for t := 2; t <= mostTokens; t++ {
		next := fmt.Sprintf("not%d", t)
		CMPQ(field(argTokens), Imm(uint64(t)))
		JNE(LabelRef(next))
		k.groups(t)
		Label(next)
	}
	RET()
}

// A pairKernel is what the parts of tokensAVX512 share.
type pairKernel struct {
	format
	record
	arg   func(int) reg.GPVirtual
	field func(int) Mem
	write [2]reg.OpmaskVirtual // the rows of each tile
	mask  reg.VecVirtual       // of nibbles
	sums  Mem                  // for those that are not in registers
}

// groups writes the loop over groups of t tokens.
func (k pairKernel) groups(t int) {
	label := func(name string) string { return fmt.Sprint(name, t) }
	dst, acts, stride, ahead := k.arg(argDst), k.arg(argActs), k.arg(argStride), k.arg(argAhead)
	count, second := k.field(argCount), k.arg(argNext)
	token := newStrided(stride, t)
	a := GP64()

	Label(label("group"))
	sum := k.newSums(t)
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
		scale, minimum := ZMM(), ZMM()
		VCVTPH2PS(tile(r, p, 0), scale)
		if k.minimum() {
			VCVTPH2PS(tile(r, p, 32), minimum)
		}
		for i := range t {
			isum, both := acc[r][i], ZMM()
			if k.digits == 2 && k.bias != 0 {
				VPADDD_BCST(token.at(a, i, k.corr(k.record)), isum, isum)
			}
			VCVTDQ2PS(isum, isum)
			VMULPS_BCST(token.at(a, i, k.scale), scale, both)
			s := sum.of(r, i)
			total := s.add(isum, both)
			if k.minimum() {
				VFMADD231PS_BCST(token.at(a, i, k.xsum), minimum, total)
			}
			s.keep(total)
		}
	}
	ADDQ(U32(uint32(k.quants)), q)
	ADDQ(U32(uint32(k.params)), p)
	ADDQ(U32(uint32(k.size)), a)
	DECQ(n)
	JNZ(LabelRef(label("block")))

	for i := range t {
		for r := range 2 {
			VMOVUPS(sum.of(r, i).get(), k.write[r], Mem{Base: dst, Disp: 64 * r})
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

// sums are the sums of a pair of tiles with t tokens, in registers or in memory.
type sums struct {
	reg [2][]reg.VecVirtual
	at  reg.Register // a multiple of 64; nil: in registers
}

// newSums returns sums that are zero.
func (k pairKernel) newSums(t int) (s sums) {
	zero := zero512(ZMM())
	if t > inRegisters {
		at := GP64()
		LEAQ(k.sums, at)
		ADDQ(U32(63), at)
		ANDQ(I32(-64), at)
		s.at = at
		for o := range 2 * t {
			VMOVDQU64(zero, Mem{Base: at, Disp: 64 * o})
		}
		return s
	}
	for r := range s.reg {
		for range t {
			s.reg[r] = append(s.reg[r], zero512(ZMM()))
		}
	}
	return s
}

// A sum is one of them: a register, or a place.
type sum struct {
	reg   reg.VecVirtual
	place Mem
}

func (s sums) of(r, i int) sum {
	if s.at == nil {
		return sum{reg: s.reg[r][i]}
	}
	return sum{place: Mem{Base: s.at, Disp: 64 * (2*i + r)}}
}

// add returns x·y + the sum in a register, for keep to store.
func (s sum) add(x, y reg.VecVirtual) reg.VecVirtual {
	if s.place.Base == nil {
		VFMADD231PS(x, y, s.reg)
		return s.reg
	}
	VFMADD213PS(s.place, y, x)
	return x
}

func (s sum) keep(total reg.VecVirtual) {
	if s.place.Base != nil {
		VMOVUPS(total, s.place)
	}
}

func (s sum) get() reg.VecVirtual {
	if s.place.Base == nil {
		return s.reg
	}
	v := ZMM()
	VMOVUPS(s.place, v)
	return v
}
