package simd

import (
	"fmt"

	"github.com/leveret-os/leveret/internal/blocks"
)

// Precision says how large the integers are that activations become.
type Precision uint8

const (
	Int16 Precision = iota // up to 127·256 in magnitude
	Int8                   // up to 127: faster, and less exact
)

// Acts are activations quantised for a block product: integers with one scale
// per block of 32, in the arrangement that an instruction set wants. They serve
// every block format. The zero value is ready for use; Quantize sets it.
type Acts struct {
	// Precision is what Reserve and Quantize make. It is set before them.
	Precision Precision

	n, cols int
	isa     ISA // that the arrangement belongs to

	// Portable:
	q     []int16   // n×cols
	scale []float32 // n×cols/32
	sum   []int32   // n×cols/32: sum of q over the block

	records []byte // AVX2 and AVX512: n×cols/32 records (gen/blocks)
}

// Quantize sets a to the n rows of x, each cols long (a multiple of
// blocks.Size); row j begins at x[j·ldx]. It allocates only when a is smaller
// than any earlier use.
func (k Kernels) Quantize(a *Acts, x []float32, ldx, cols, n int) {
	k.Reserve(a, cols, n)
	k.QuantizeRows(a, x, ldx, 0, n)
}

// Reserve makes room in a for n rows, each cols long, for QuantizeRows to set.
func (k Kernels) Reserve(a *Acts, cols, n int) {
	a.isa, a.n, a.cols = k.isa, n, cols
	if k.isa == Portable {
		a.grow()
	} else {
		a.growRecords()
	}
}

// QuantizeRows does n of Quantize's rows, from row first on. Disjoint rows may be
// done by several goroutines at once.
func (k Kernels) QuantizeRows(a *Acts, x []float32, ldx, first, n int) {
	a.check(k.isa)
	quantize(k.isa, a, x, ldx, first, n)
}

func (a *Acts) check(isa ISA) {
	if a.isa != isa {
		panic(fmt.Sprintf("simd: activations arranged for %v used by %v", a.isa, isa))
	}
}

// MatMulBlocks computes dst[j·ldd+r] = dot(row r of w, row j of a) for the rows
// rows of a matrix in a block format and all rows of a, which kernels of the
// same instruction set have set. w begins at a tile and its row length is that
// of a. Rows are best given in multiples of 32, two tiles.
func (k Kernels) MatMulBlocks(kind blocks.Kind, dst []float32, ldd int, w []byte, rows int, a *Acts) {
	a.check(k.isa)
	matMulBlocks(k.isa, kind, dst, ldd, w, rows, a)
}
