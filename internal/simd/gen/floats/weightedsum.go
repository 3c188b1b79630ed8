package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weightedSum writes the sums of the rows of v, multiplied by js rows of a at
// once. It goes through all rows for some columns, as many as there are
// registers for their sums, then for the next.
func weightedSum(t target, js int, widths ...int) {
	name := fmt.Sprintf("weightedSum%d%s", js, t.suffix)
	TEXT(name, NOSPLIT, "func(dst *float32, ldd int, a *float32, lda int, v *float32, ldv, rows, cols int)")
	doc := fmt.Sprintf("%s computes dst[j·ldd+d] = Σp a[j·lda+p]·v[p·ldv+d] for j < %d and d < cols.", name, js)
	if t == avx2 {
		doc += " cols must be a multiple of 8."
	}
	Doc(doc)
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	v := Load(Param("v"), GP64())
	ldv := Load(Param("ldv"), GP64())
	SHLQ(Imm(2), ldv)
	a := make([]reg.Register, js)
	a[0] = Load(Param("a"), GP64())
	lda := Load(Param("lda"), GP64())
	for j := 1; j < js; j++ {
		a[j] = GP64()
		LEAQ(Mem{Base: a[j-1], Index: lda, Scale: 4}, a[j])
	}
	rows := Load(Param("rows"), GP64())
	cols := Load(Param("cols"), GP64())

	if t == avx512 {
		widths = append(widths, 0) // the masked end
	}
	for _, w := range widths { // in registers
		label := fmt.Sprintf("wide%d", w)
		masked := w == 0
		count := max(w, 1)
		Label(label)
		var mask reg.Register
		if masked {
			TESTQ(cols, cols)
			JZ(LabelRef("done"))
			mask = tailMask(cols)
		} else {
			CMPQ(cols, U32(uint32(w*t.width())))
			JL(LabelRef(label + "_end"))
		}
		acc := make([][]reg.VecVirtual, js)
		for j := range acc {
			acc[j] = t.vectors(count)
			t.zero(acc[j]...)
		}
		p, row := GP64(), GP64()
		XORQ(p, p)
		MOVQ(v, row)
		CMPQ(p, rows)
		JGE(LabelRef(label + "_store"))
		Label(label + "_row")
		s := t.vectors(js)
		for j := range s {
			VBROADCASTSS(Mem{Base: a[j], Index: p, Scale: 4}, s[j])
		}
		for i := range count {
			m := Mem{Base: row, Disp: 4 * t.width() * i}
			if js == 1 && !masked {
				VFMADD231PS(m, s[0], acc[0][i])
				continue
			}
			x := t.vector()
			if masked {
				loadMasked(f32, m, mask, x)
			} else {
				VMOVUPS(m, x)
			}
			for j := range s {
				VFMADD231PS(x, s[j], acc[j][i])
			}
		}
		ADDQ(ldv, row)
		INCQ(p)
		CMPQ(p, rows)
		JL(LabelRef(label + "_row"))
		Label(label + "_store")
		out := GP64()
		MOVQ(dst, out)
		for j := range acc {
			for i, r := range acc[j] {
				m := Mem{Base: out, Disp: 4 * t.width() * i}
				if masked {
					VMOVUPS(r, mask, m)
				} else {
					VMOVUPS(r, m)
				}
			}
			if j < js-1 {
				ldd := Load(Param("ldd"), GP64())
				LEAQ(Mem{Base: out, Index: ldd, Scale: 4}, out)
			}
		}
		if masked {
			break
		}
		step := w * t.width()
		ADDQ(I32(int32(4*step)), dst)
		ADDQ(I32(int32(4*step)), v)
		SUBQ(I32(int32(step)), cols)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	Label("done")
	VZEROUPPER()
	RET()
}
