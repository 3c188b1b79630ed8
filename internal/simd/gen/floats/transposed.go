package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Dot products of short rows, where summing 16 lanes costs as much as the
// products do: with 32 rows of weights transposed, a register holds the same lane
// of 16 rows, and lanes are summed by plain additions.

// transposedRows is the number of rows that are transposed at a time.
const transposedRows = 32

// transpose writes dst[c·32+r] = w[r·stride+c] for whole steps of 16 columns.
func transpose() {
	TEXT("transpose32AVX512", NOSPLIT, "func(dst, w *float32, stride, cols int)")
	Doc("transpose32AVX512 computes dst[c·32+r] = column c of row r of w, stride bytes from row to row, for r < 32 and c < cols, a multiple of 16.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	w := Load(Param("w"), GP64())
	stride := Load(Param("stride"), GP64())
	cols := Load(Param("cols"), GP64())
	Label("columns")
	p := GP64()
	MOVQ(w, p)
	for half := range 2 {
		v := avx512.vectors(16)
		for _, r := range v {
			VMOVUPS(Mem{Base: p}, r)
			ADDQ(stride, p)
		}
		// Pairs of rows 1, 2, 4 and 8 apart exchange what is that far apart.
		v = exchange(v, 1, func(x, y, lo, hi reg.VecVirtual) { VUNPCKLPS(y, x, lo); VUNPCKHPS(y, x, hi) })
		v = exchange(v, 2, func(x, y, lo, hi reg.VecVirtual) { VUNPCKLPD(y, x, lo); VUNPCKHPD(y, x, hi) })
		v = exchange(v, 4, func(x, y, lo, hi reg.VecVirtual) {
			VSHUFF32X4(Imm(0x88), y, x, lo)
			VSHUFF32X4(Imm(0xdd), y, x, hi)
		})
		v = exchange(v, 8, func(x, y, lo, hi reg.VecVirtual) {
			VSHUFF32X4(Imm(0x88), y, x, lo)
			VSHUFF32X4(Imm(0xdd), y, x, hi)
		})
		for i, r := range v {
			VMOVUPS(r, Mem{Base: dst, Disp: 4 * (transposedRows*transposedColumn(i) + 16*half)})
		}
	}
	ADDQ(Imm(64), w)
	ADDQ(I32(16*4*transposedRows), dst)
	SUBQ(Imm(16), cols)
	JNZ(LabelRef("columns"))
	VZEROUPPER()
	RET()
}

// exchange replaces each pair of registers that are d apart.
func exchange(v []reg.VecVirtual, d int, pair func(x, y, lo, hi reg.VecVirtual)) []reg.VecVirtual {
	out := make([]reg.VecVirtual, len(v))
	for i := range v {
		if i&d == 0 {
			out[i], out[i+d] = ZMM(), ZMM()
			pair(v[i], v[i+d], out[i], out[i+d])
		}
	}
	return out
}

// transposedColumn is the column that register i holds in the end: the first two
// exchanges choose it within a group of four, in this order of its bits, and the
// last two choose the group.
func transposedColumn(i int) int {
	return i>>1&1 | i&1<<1 | i&12
}

// The order in which lanes are computed, each followed by the one that is added
// to it, and those sums again: no more than three sums wait at a time.
var laneOrder = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// dotsTransposed writes the dot products of 32 transposed rows and n rows of x.
func dotsTransposed() {
	const most = 6
	TEXT("dotsTransposedAVX512", 0, "func(dst *float32, ldd int, w, x *float32, ldx, n, cols int)")
	Doc("dotsTransposedAVX512 computes dst[j·ldd+r] = dot(row r of w, row j of x) for r < 32 and j < n. w is what transpose32AVX512 makes, cols a multiple of 16.")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	ldd := Load(Param("ldd"), GP64())
	SHLQ(Imm(2), ldd)
	w := Load(Param("w"), GP64())
	x := Load(Param("x"), GP64())
	ldx := Load(Param("ldx"), GP64())
	SHLQ(Imm(2), ldx)
	n := Load(Param("n"), GP64())
	cols := Load(Param("cols"), GP64())
	ldx3, ldx5 := GP64(), GP64()
	LEAQ(Mem{Base: ldx, Index: ldx, Scale: 2}, ldx3)
	LEAQ(Mem{Base: ldx, Index: ldx, Scale: 4}, ldx5)
	waiting := AllocLocal(3*2*most*64 + 64)
	stack := GP64()
	LEAQ(waiting, stack)
	ADDQ(Imm(63), stack)
	ANDQ(I32(-64), stack)

	for _, c := range []int{most, 3, 1} {
		label := func(name string, i int) string { return fmt.Sprint(name, c, "_", i) }
		Label(label("rows", 0))
		CMPQ(n, Imm(uint64(c)))
		JL(LabelRef(label("rows", 1)))
		// lane returns the products of one lane: 16 and 16 rows with each row of x.
		lane := func(l int) []reg.VecVirtual {
			acc := avx512.vectors(2 * c)
			avx512.zero(acc...)
			p, q, left := GP64(), GP64(), GP64()
			LEAQ(Mem{Base: w, Disp: 4 * transposedRows * l}, p)
			LEAQ(Mem{Base: x, Disp: 4 * l}, q)
			MOVQ(cols, left)
			Label(label("lane", l))
			w0, w1 := ZMM(), ZMM()
			VMOVUPS(Mem{Base: p}, w0)
			VMOVUPS(Mem{Base: p, Disp: 64}, w1)
			for j := range c {
				v, m := ZMM(), Mem{Base: q, Scale: 1}
				switch j {
				case 1, 2, 4:
					m.Index, m.Scale = ldx, uint8(j)
				case 3:
					m.Index = ldx3
				case 5:
					m.Index = ldx5
				}
				VBROADCASTSS(m, v)
				VFMADD231PS(w0, v, acc[2*j])
				VFMADD231PS(w1, v, acc[2*j+1])
			}
			ADDQ(I32(16*4*transposedRows), p)
			ADDQ(Imm(64), q)
			SUBQ(Imm(16), left)
			JNZ(LabelRef(label("lane", l)))
			return acc
		}
		place := func(level, i int) Mem { return Mem{Base: stack, Disp: 64 * (level*2*most + i)} }
		for k, l := range laneOrder {
			sum := lane(l)
			for i, v := range lane(l + 8) {
				VADDPS(v, sum[i], sum[i])
			}
			level := 0
			for ; k>>level&1 == 1; level++ {
				for i, v := range sum {
					VADDPS(place(level, i), v, v)
				}
			}
			for i, v := range sum {
				if level < 3 {
					VMOVUPS(v, place(level, i))
				} else {
					VMOVUPS(v, Mem{Base: dst, Disp: 64 * (i % 2)})
					if i%2 == 1 {
						ADDQ(ldd, dst)
					}
				}
			}
		}
		for range c {
			ADDQ(ldx, x)
		}
		SUBQ(Imm(uint64(c)), n)
		JMP(LabelRef(label("rows", 0)))
		Label(label("rows", 1))
	}
	VZEROUPPER()
	RET()
}
