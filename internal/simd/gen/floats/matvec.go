package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// streams is how many rows are worked on at once. They are far apart, so that
// each is one long stream to the processor's prefetcher: rows that follow one
// another would be as many short streams, and reach half the bandwidth.
const streams = 4

// matvec writes the product of group·rows rows of weights and a vector. With a
// group of 4, rows r, r+rows, r+2·rows and r+3·rows are worked on at once.
func matvec(t target, f format, group int) {
	name := fmt.Sprint("matvec", group, f.name, t.suffix)
	doc := fmt.Sprintf("%s computes the dot products of %d·rows rows of w, stride bytes apart, and x. It prefetches each row ahead bytes before its use.", name, group)
	if t == avx2 {
		doc += " cols must be a multiple of 16."
	}
	TEXT(name, NOSPLIT, "func(dst *float32, w *byte, stride int, rows int, x *float32, cols, ahead int)")
	Doc(doc)
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	w := Load(Param("w"), GP64())
	stride := Load(Param("stride"), GP64())
	n := Load(Param("rows"), GP64())
	x := Load(Param("x"), GP64())
	cols := Load(Param("cols"), GP64())

	l := newLoop(t, f, cols)
	if t == avx2 {
		l.tail = nil
	}
	l.ahead = local(Load(Param("ahead"), GP64()))
	l.shift(w, x)
	p := rowPointers(w, stride, n, group)
	dsts := make([]reg.Register, group)
	dsts[0] = dst
	for i := 1; i < group; i++ {
		dsts[i] = GP64()
		LEAQ(Mem{Base: dsts[i-1], Index: n, Scale: 4}, dsts[i])
	}
	TESTQ(n, n)
	JZ(LabelRef("done"))
	left := local(n)

	Label("row")
	acc := make([][]reg.VecVirtual, group)
	for i := range acc {
		acc[i] = t.vectors(t.parts)
		t.zero(acc[i]...)
	}
	l.run("k", p, func(k reg.Register, rest bool, disp int) {
		for h := range t.parts {
			off := disp + h*t.width()
			xv := t.vector()
			l.activations(0, x, k, off, rest, h, xv)
			for i := range group {
				wv := t.vector()
				l.weights(i, p[i], k, off, rest, h, wv)
				VFMADD231PS(wv, xv, acc[i][h])
			}
		}
	})
	if group == 1 {
		VMOVSS(t.sum1(acc[0]), Mem{Base: dst})
	} else {
		s := t.sum4(acc)
		VMOVSS(s, Mem{Base: dsts[0]})
		for i := 1; i < 4; i++ {
			VEXTRACTPS(Imm(uint64(i)), s, Mem{Base: dsts[i]})
		}
	}
	for i := range group {
		ADDQ(stride, p[i])
		ADDQ(Imm(4), dsts[i])
	}
	DECQ(left)
	JNZ(LabelRef("row"))
	Label("done")
	VZEROUPPER()
	RET()
}

// local returns a place on the stack, set to r, for what no register is left.
func local(r reg.Register) Mem {
	m := AllocLocal(8)
	MOVQ(r, m)
	return m
}

// rowPointers returns group pointers that are rows·stride bytes apart.
func rowPointers(w, stride, rows reg.Register, group int) []reg.Register {
	p := make([]reg.Register, group)
	p[0] = w
	dist := GP64()
	MOVQ(stride, dist)
	IMULQ(rows, dist)
	for i := 1; i < group; i++ {
		p[i] = GP64()
		LEAQ(Mem{Base: p[i-1], Index: dist, Scale: 1}, p[i])
	}
	return p
}
