// Command blocks writes the assembly of the block kernels: the quantising of
// activations and the products of internal/simd's block formats. Run it by
// `go generate ./internal/simd`.
//
// All kernels read activations as records, one per block of 32 and token: quants
// in the arrangement of the instruction set, then the scale (float32), the two
// bias corrections −128·sum and −8·sum (int32) and scale·sum (float32).
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// record is the layout of an activation record; blocks_amd64.go has the sizes.
type record struct {
	digits int // bytes of a quant
	size   int
	// Offsets.
	scale, corr8, corr4, xsum int
}

func newRecord(digits int) record {
	q := 32 * digits
	return record{digits, q + 16, q, q + 4, q + 8, q + 12}
}

// Activations of 8 bits are words like those of 16 in all but AVX512's records.
var words, bytes = newRecord(2), newRecord(1)

// Offsets of the fields of a product, the one argument of the kernels;
// blocks_amd64.go has the struct.
const (
	argDst    = 8 * iota // address of the sums
	argLdd               // bytes from a token's sums to the next one's
	argW                 // address of a tile
	argNext              // bytes to the second tile of a pair
	argActs              // address of a token's records
	argStride            // bytes from a token's records to the next one's
	argBlocks            // blocks in a row
	argParams            // bytes of parameters before the quants of a tile
	argCount             // groups of tokens, or tiles
	argRows              // rows to write: of the last tile, or of the pair
	argAhead             // how far ahead to prefetch weights, or 0
	argTokens            // tokens in a group
)

// product starts a kernel and returns functions that load a field of its
// argument and that give its place.
func product(name string, doc ...string) (load func(offset int) reg.GPVirtual, field func(offset int) Mem) {
	TEXT(name, NOSPLIT, "func(product *byte)")
	Pragma("noescape")
	Doc(doc...)
	p := Load(Param("product"), GP64())
	field = func(offset int) Mem { return Mem{Base: p, Disp: offset} }
	load = func(offset int) reg.GPVirtual {
		r := GP64()
		MOVQ(field(offset), r)
		return r
	}
	return load, field
}

// prefetch asks for the quants and parameters of the block that lies ahead
// bytes after this one: p and q are its addresses in the tiles. The first group of
// tokens does it for all, and sets ahead to 0.
func prefetch(label string, f format, ahead reg.Register, tiles [][2]Mem) {
	TESTQ(ahead, ahead)
	JZ(LabelRef(label))
	for _, t := range tiles {
		t[0].Index, t[0].Scale = ahead, 1
		PREFETCHT0(t[0])
		t[1].Index, t[1].Scale = ahead, 1
		for o := 0; o < f.quants; o += 64 {
			at := t[1]
			at.Disp = o
			PREFETCHT0(at)
		}
	}
	Label(label)
}

// A format is what a kernel must know of a block format.
type format struct {
	name   string
	quants int // bytes of quants of a block in a tile
	params int // bytes of scales and minimums of a block in a tile
	bias   int // of the quants
}

var formats = []format{
	{"Q8B32", 512, 32, 128},
	{"Q4B32", 256, 32, 8},
	{"Q4B32M", 256, 64, 0},
}

// corr is the offset of the bias correction in a record, 0 for none.
func (f format) corr(r record) int {
	switch f.bias {
	case 128:
		return r.corr8
	case 8:
		return r.corr4
	}
	return 0
}

func (f format) nibbles() bool { return f.quants == 256 }
func (f format) minimum() bool { return f.params == 64 }

func main() {
	ConstraintExpr("!noasm")
	defineLaneMasks()
	for _, f := range formats {
		for _, r := range []record{words, bytes} {
			streamAVX512(f, r)
			tokensAVX512(f, r)
		}
		rowAVX2(f)
		tokensAVX2(f)
	}
	peakDot()
	order := defineQuadOrder()
	for _, p := range precisions {
		quantizeAVX512(p)
		quantizeAVX2(p, order)
	}
	Generate()
}

// instruction appends an instruction that avo has no constructor for. The last
// operand is read and written.
func instruction(opcode string, suffixes []string, ops ...Op) {
	last := ops[len(ops)-1]
	Instruction(&ir.Instruction{
		Opcode: opcode, Suffixes: suffixes, Operands: ops,
		Inputs: ops, Outputs: []Op{last}, ISA: []string{"AVX512VNNI"},
	})
}

// dotBytes adds to each dword of acc the products of its four unsigned bytes
// of w with the four signed bytes of x (VPDPBUSD, which does not saturate).
func dotBytes(x, w, acc Op) { instruction("VPDPBUSD", nil, x, w, acc) }

// dotBytesBroadcast is dotBytes with the same four bytes of memory for each dword.
func dotBytesBroadcast(x, w, acc Op) {
	instruction("VPDPBUSD", []string{"BCST"}, x, w, acc)
}

// strided addresses t·stride+disp past base for t < 8.
type strided struct{ s, s3, s5, s7 reg.Register }

func newStrided(s reg.GPVirtual, t int) strided {
	a := strided{s: s}
	if t > 3 {
		s3 := GP64()
		LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
		a.s3 = s3
	}
	if t > 5 {
		s5 := GP64()
		LEAQ(Mem{Base: s, Index: s, Scale: 4}, s5)
		a.s5 = s5
	}
	if t > 7 {
		s7 := GP64()
		LEAQ(Mem{Base: a.s3, Index: s, Scale: 4}, s7)
		a.s7 = s7
	}
	return a
}

func (a strided) at(base reg.Register, t, disp int) Mem {
	m := Mem{Base: base, Disp: disp, Scale: 1}
	switch t {
	case 1:
		m.Index = a.s
	case 2:
		m.Index, m.Scale = a.s, 2
	case 3:
		m.Index = a.s3
	case 4:
		m.Index, m.Scale = a.s, 4
	case 5:
		m.Index = a.s5
	case 6:
		m.Index, m.Scale = a.s3, 2
	case 7:
		m.Index = a.s7
	default:
		m.Scale = 0
	}
	return m
}
