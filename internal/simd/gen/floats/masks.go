package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tailMask returns the mask of the lanes below n mod 16. Only AVX-512 has
// masked loads that an emulator gets right: QEMU's VMASKMOVPS reads what the
// mask leaves out, and faults where that is not mapped. So AVX2 kernels work on
// whole steps, and their callers copy what is left into one.
func tailMask(n reg.Register) reg.Register {
	m := GP32()
	MOVQ(n, reg.RCX)
	ANDL(Imm(15), reg.ECX)
	MOVL(U32(1), m)
	SHLL(reg.CL, m)
	DECL(m)
	k := K()
	KMOVW(m, k)
	return k
}

// loadMasked sets v to the weights at m that the mask selects, and to 0 where
// it does not. Nothing is read there.
func loadMasked(f format, m Mem, mask reg.Register, v reg.VecVirtual) {
	switch f {
	case f32:
		VMOVUPS_Z(m, mask, v)
	case f16:
		VMOVDQU16_Z(m, mask, v.AsY())
		VCVTPH2PS(v.AsY(), v)
	case bf16:
		VMOVDQU16_Z(m, mask, v.AsY())
		VPMOVZXWD(v.AsY(), v)
		VPSLLD(Imm(16), v, v)
	}
}
