package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// target is the instruction set that a kernel is written for.
type target struct {
	suffix string
	parts  int // vector registers that hold 16 lanes
}

var (
	avx2   = target{"AVX2", 2}
	avx512 = target{"AVX512", 1}
)

// width is the number of lanes of one register.
func (t target) width() int { return 16 / t.parts }

// vector returns a fresh virtual register.
func (t target) vector() reg.VecVirtual {
	if t.parts == 1 {
		return ZMM()
	}
	return YMM()
}

func (t target) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = t.vector()
	}
	return v
}

func (t target) zero(v ...reg.VecVirtual) {
	for _, r := range v {
		if t.parts == 1 {
			VXORPS(r, r, r)
		} else {
			VXORPS(r, r, r)
		}
	}
}

// format is the storage format of a weight.
type format struct {
	name  string
	bytes int
}

var (
	f32  = format{"F32", 4}
	f16  = format{"F16", 2}
	bf16 = format{"BF16", 2}
)

// load sets v to the weights at m, as float32.
func (t target) load(f format, m Mem, v reg.VecVirtual) {
	switch f {
	case f32:
		VMOVUPS(m, v)
	case f16:
		VCVTPH2PS(m, v)
	case bf16:
		VPMOVZXWD(m, v)
		VPSLLD(Imm(16), v, v)
	}
}
