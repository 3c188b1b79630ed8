package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// loop is a loop over the columns of rows of weights and activations, in steps
// of 16. Pointers to rows point behind the last whole step. The rest of the
// columns is one more step: masked with AVX-512; from a copy with AVX2, where
// xtails and wtails point to 16 float32 for each row, 0 past the end.
type loop struct {
	target
	format
	start          reg.Register // minus the bytes of weights in whole steps
	tail           reg.Register // columns after them; nil if there never are any
	mask           reg.Register
	wtails, xtails reg.Register
	// ahead is the distance in bytes at which rows of weights are prefetched, if
	// at all. It carries their streams over the ends of pages.
	ahead Op
}

// newLoop prepares the loop over cols columns, which it consumes.
func newLoop(t target, f format, cols reg.Register) *loop {
	l := &loop{target: t, format: f, start: GP64()}
	MOVQ(cols, l.start)
	ANDQ(I32(-16), l.start)
	SHLQ(Imm(uint64(f.bytes/2)), l.start)
	NEGQ(l.start)
	if t == avx512 {
		l.mask = tailMask(cols)
	}
	l.tail = cols
	ANDQ(Imm(15), l.tail)
	return l
}

// shift moves pointers to rows of weights and of activations from the first
// column to behind the last whole step.
func (l *loop) shift(w, x reg.Register) {
	n := GP64()
	MOVQ(l.start, n)
	NEGQ(n)
	ADDQ(n, w)
	LEAQ(Mem{Base: x, Index: n, Scale: uint8(4 / l.bytes)}, x)
}

// wAt and xAt are the addresses of column off of a row of weights and of
// activations at the step that begins with byte k of the weights.
func (l *loop) wAt(p, k reg.Register, off int) Mem {
	return Mem{Base: p, Index: k, Scale: 1, Disp: l.bytes * off}
}

func (l *loop) xAt(p, k reg.Register, off int) Mem {
	return Mem{Base: p, Index: k, Scale: uint8(4 / l.bytes), Disp: 4 * off}
}

// weights reads part h of a step of row i, which p points to.
func (l *loop) weights(i int, p, k reg.Register, off int, rest bool, h int, v reg.VecVirtual) {
	switch {
	case !rest:
		l.load(l.format, l.wAt(p, k, off), v)
	case l.target == avx512:
		loadMasked(l.format, l.wAt(p, k, off), l.mask, v)
	default:
		VMOVUPS(Mem{Base: l.wtails, Disp: 64*i + 32*h}, v)
	}
}

// activations reads part h of a step of row j, which q points to.
func (l *loop) activations(j int, q, k reg.Register, off int, rest bool, h int, v reg.VecVirtual) {
	switch {
	case !rest:
		VMOVUPS(l.xAt(q, k, off), v)
	case l.target == avx512:
		loadMasked(f32, l.xAt(q, k, off), l.mask, v)
	default:
		VMOVUPS(Mem{Base: l.xtails, Disp: 64*j + 32*h}, v)
	}
}

// run writes the loop: step is called for columns disp to disp+15 after k, or
// for the rest. The rows of weights that stream points at are prefetched.
func (l *loop) run(label string, stream []reg.Register, step func(k reg.Register, rest bool, disp int)) {
	k := GP64()
	two := I32(-32 * l.bytes)
	MOVQ(l.start, k)
	CMPQ(k, two)
	JG(LabelRef(label + "_one"))
	Label(label + "_two")
	if stream != nil {
		later := GP64()
		MOVQ(l.ahead, later)
		TESTQ(later, later)
		JZ(LabelRef(label + "_near"))
		ADDQ(k, later)
		for _, p := range stream {
			for b := 0; b < 32*l.bytes; b += 64 {
				PREFETCHT0(Mem{Base: p, Index: later, Scale: 1, Disp: b})
			}
		}
		Label(label + "_near")
	}
	step(k, false, 0)
	step(k, false, 16)
	SUBQ(two, k)
	CMPQ(k, two)
	JLE(LabelRef(label + "_two"))
	Label(label + "_one")
	TESTQ(k, k)
	JZ(LabelRef(label + "_tail"))
	step(k, false, 0)
	SUBQ(I32(-16*l.bytes), k)
	Label(label + "_tail")
	if l.tail != nil {
		TESTQ(l.tail, l.tail)
		JZ(LabelRef(label + "_end"))
		step(k, true, 0)
		Label(label + "_end")
	}
}
