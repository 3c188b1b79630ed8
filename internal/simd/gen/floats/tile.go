package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What a tile kernel is told of the columns it gets, as constants of
// internal/simd/floats_amd64.go.
const (
	continued = 1 // they are not the first: sums begin with the state
	unended   = 2 // they are not the last: sums end in the state
)

// tile writes the product of fours times 4 rows of weights and n rows of
// activations: tiles of dot products whose sums stay in registers. AVX2 has too
// few of those for all lanes, so it runs through the columns twice, for lanes 0
// to 7 and 8 to 15.
func tile(t target, f format) {
	name := "tile4" + f.name + t.suffix
	signature := "func(dst *float32, ldd, dnext, dstep int, w *byte, wnext, wstep, fours int, x *float32, ldx, n, cols, part int, state *float32, ahead int)"
	doc := " computes dst[r·dnext+i·dstep+j·ldd] = dot(w+r·wnext+i·wstep, row j of x) for r < fours, i < 4 and j < n," +
		" or a part of the columns of that: see continued and unended. It prefetches each row ahead bytes before its use, unless that is 0."
	if t == avx2 {
		signature = strings.TrimSuffix(signature, ")") + ", wtails, xtails *float32)"
		doc += " wtails and xtails have the last cols mod 16 columns of the rows, 16 places for each, the rest 0; fours is 1 then."
	}
	TEXT(name, NOSPLIT, signature)
	Doc(name + doc)
	Pragma("noescape")
	w := Load(Param("w"), GP64())
	x := Load(Param("x"), GP64())
	cols := Load(Param("cols"), GP64())

	l := newLoop(t, f, cols)
	l.shift(w, x)
	wstep := Load(Param("wstep"), GP64())
	p := []reg.Register{w, GP64(), GP64(), GP64()}
	for i := 1; i < 4; i++ {
		LEAQ(Mem{Base: p[i-1], Index: wstep, Scale: 1}, p[i])
	}

	x0 := local(x)
	dst0 := local(Load(Param("dst"), GP64()))
	rows := local(Load(Param("fours"), GP64()))
	state := local(Load(Param("state"), GP64()))
	n, ahead := AllocLocal(8), AllocLocal(8)
	l.ahead = ahead
	dst := GP64()
	Label("rows")
	MOVQ(dst0, dst)
	next := Load(Param("dnext"), GP64())
	SHLQ(Imm(2), next)
	ADDQ(next, dst0)
	MOVQ(Load(Param("n"), GP64()), n)
	MOVQ(Load(Param("ahead"), GP64()), ahead)
	if t == avx2 {
		l.wtails, l.xtails = Load(Param("wtails"), GP64()), Load(Param("xtails"), GP64())
	}
	part := paramAddr("part")
	sizes := []int{6, 4, 3, 2, 1}
	var half Mem
	if t == avx2 {
		sizes = []int{3, 2, 1}
		half = AllocLocal(4 * 3 * 32)
	}
	for _, c := range sizes {
		label := fmt.Sprintf("n%d", c)
		Label(label)
		CMPQ(n, Imm(uint64(c)))
		JL(LabelRef(label + "_end"))
		ldx := Load(Param("ldx"), GP64())
		q := []reg.Register{x}
		for j := 1; j < c; j++ {
			q = append(q, GP64())
			LEAQ(Mem{Base: q[j-1], Index: ldx, Scale: 4}, q[j])
		}
		var acc [4][]reg.VecVirtual
		for h := range t.parts {
			// each calls f for every sum and its place in the state.
			each := func(f func(r reg.VecVirtual, m Mem)) {
				at := GP64()
				MOVQ(state, at)
				for i := range acc {
					for j, r := range acc[i] {
						f(r, Mem{Base: at, Disp: (h*4*c + i*c + j) * 64 / t.parts})
					}
				}
			}
			start := fmt.Sprintf("%s_%d", label, h)
			for i := range acc {
				acc[i] = t.vectors(c)
				t.zero(acc[i]...)
			}
			TESTQ(I32(continued), part)
			JZ(LabelRef(start))
			each(func(r reg.VecVirtual, m Mem) { VMOVUPS(m, r) })
			Label(start)
			stream := p // in the first tile of a row only: then it is near
			if h > 0 {
				stream = nil
			}
			l.run(start, stream, func(k reg.Register, rest bool, disp int) {
				off := disp + h*t.width()
				xv := t.vectors(c)
				for j := range xv {
					l.activations(j, q[j], k, off, rest, h, xv[j])
				}
				for i := range p {
					wv := t.vector()
					l.weights(i, p[i], k, off, rest, h, wv)
					for j := range xv {
						VFMADD231PS(wv, xv[j], acc[i][j])
					}
				}
			})
			TESTQ(I32(unended), part)
			JZ(LabelRef(start + "_sum"))
			each(func(r reg.VecVirtual, m Mem) { VMOVUPS(r, m) })
			if h < t.parts-1 {
				JMP(LabelRef(start + "_half"))
			} else {
				JMP(LabelRef(label + "_next"))
			}
			Label(start + "_sum")
			for i := range acc {
				for j := 0; j < c && t == avx2; j++ {
					if m := half.Offset(32 * (c*i + j)); h == 0 {
						VMOVUPS(acc[i][j], m)
					} else {
						VADDPS(m, acc[i][j], acc[i][j]) // lanes i and i+8
					}
				}
			}
			if h < t.parts-1 {
				Label(start + "_half")
			}
		}
		sums := t.tileSums(acc, c)
		dstep := Load(Param("dstep"), GP64())
		ldd := Load(Param("ldd"), GP64())
		CMPQ(dstep, Imm(1))
		JNE(LabelRef(label + "_apart"))
		for _, s := range sums {
			VMOVUPS(s, Mem{Base: dst})
			LEAQ(Mem{Base: dst, Index: ldd, Scale: 4}, dst)
		}
		JMP(LabelRef(label + "_next"))
		Label(label + "_apart")
		for _, s := range sums {
			d := GP64()
			LEAQ(Mem{Base: dst, Index: dstep, Scale: 8}, d)
			VMOVSS(s, Mem{Base: dst})
			VEXTRACTPS(Imm(1), s, Mem{Base: dst, Index: dstep, Scale: 4})
			VEXTRACTPS(Imm(2), s, Mem{Base: d})
			VEXTRACTPS(Imm(3), s, Mem{Base: d, Index: dstep, Scale: 4})
			LEAQ(Mem{Base: dst, Index: ldd, Scale: 4}, dst)
		}
		Label(label + "_next")
		MOVQ(U32(0), ahead)
		ADDQ(I32(int32(4*64*c)), state)
		ldx = Load(Param("ldx"), GP64())
		LEAQ(Mem{Base: q[c-1], Index: ldx, Scale: 4}, x)
		if t == avx2 {
			ADDQ(I32(int32(64*c)), l.xtails)
		}
		SUBQ(Imm(uint64(c)), n)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	for i := range p {
		ADDQ(paramAddr("wnext"), p[i])
	}
	MOVQ(x0, x)
	DECQ(rows)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// paramAddr returns the place of a parameter.
func paramAddr(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// tileSums returns, for each of c rows of activations, the sums of the four
// rows of weights in the four lanes of a register.
func (t target) tileSums(acc [4][]reg.VecVirtual, c int) []reg.Register {
	var sums []reg.Register
	if t == avx512 && c >= 4 {
		sums = sum16(acc)
	}
	for j := len(sums); j < c; j++ {
		var b [4]reg.VecVirtual
		for i := range b {
			b[i] = acc[i][j]
			if t == avx512 {
				b[i] = t.fold8([]reg.VecVirtual{b[i]})
			}
		}
		sums = append(sums, t.finish4(b))
	}
	return sums
}
