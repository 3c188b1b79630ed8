//go:build !noasm

package simd

import (
	"unsafe"

	"github.com/leveret-os/leveret/internal/blocks"
)

//go:generate -command gen go -C gen run ./blocks
//go:generate gen -out ../blocks_amd64.s -stubs ../blocks_stubs_amd64.go -pkg simd

// recordSize returns the size of an activation record: one token's block of 32
// activations as gen/blocks describes it.
func (a *Acts) recordSize() int {
	if a.isa == AVX512 && a.Precision == Int8 {
		return 48
	}
	return 80
}

// A product is the argument of the assembly kernels; gen/blocks has the
// offsets of its fields. All sizes are in bytes.
type product struct {
	dst    *float32
	ldd    uintptr // from a token's sums to the next one's
	w      *byte   // a tile
	next   uintptr // from it to the second tile of a pair
	acts   *byte   // records of a token
	stride uintptr // from a token's records to the next one's
	blocks uintptr // blocks in a row
	params uintptr // parameters before the quants of a tile
	count  uintptr // groups of tokens, or tiles
	rows   uintptr // AVX-512: mask of the rows to write; AVX2: their number
	ahead  uintptr // how far ahead to prefetch weights, or 0
	tokens uintptr // tokens in a group
}

// actsInCache bounds the activations that a pair of tiles meets before the next
// pair: they stay in the second-level cache while all tiles pass by.
const actsInCache = 256 << 10

// streamed is the largest number of tokens that AVX-512's stream kernels take;
// gen/blocks has it too.
const streamed = 8

// Weights are prefetched for the next tiles, or, where tiles are longer than
// farAhead, nearAhead bytes further in the same ones.
const (
	farAhead  = 256 << 10
	nearAhead = 8 << 10
)

func (a *Acts) growRecords() {
	size := a.n * (a.cols / blocks.Size) * a.recordSize()
	if size > cap(a.records) {
		a.records = make([]byte, size)
	}
	a.records = a.records[:size]
}

func quantize(isa ISA, a *Acts, x []float32, ldx, first, n int) {
	if isa == Portable {
		quantizePortable(a, x, ldx, first, n)
		return
	}
	nb := a.cols / blocks.Size
	if nb == 0 {
		return
	}
	size := nb * a.recordSize()
	for j := first; j < first+n; j++ {
		row := x[j*ldx : j*ldx+a.cols]
		dst := a.records[j*size : (j+1)*size]
		switch {
		case isa == AVX512 && a.Precision == Int8:
			quantize8AVX512(&dst[0], &row[0], nb)
		case isa == AVX512:
			quantize16AVX512(&dst[0], &row[0], nb)
		case a.Precision == Int8:
			quantize8AVX2(&dst[0], &row[0], nb)
		default:
			quantize16AVX2(&dst[0], &row[0], nb)
		}
	}
}

func matMulBlocks(isa ISA, kind blocks.Kind, dst []float32, ldd int, w []byte, rows int, a *Acts) {
	if isa == Portable {
		matMulBlocksPortable(kind, dst, ldd, w, rows, a)
		return
	}
	if rows == 0 || a.n == 0 {
		return
	}
	nb := a.cols / blocks.Size
	if nb == 0 {
		for j := range a.n {
			clear(dst[j*ldd : j*ldd+rows])
		}
		return
	}
	tile := kind.TileBytes(a.cols)
	// The kernels check nothing: these do.
	_ = w[blocks.Tiles(rows)*tile-1]
	_ = dst[(a.n-1)*ldd+rows-1]
	size := nb * a.recordSize() // of a token's records
	_ = a.records[a.n*size-1]
	p := product{
		ldd:    uintptr(4 * ldd),
		acts:   &a.records[0],
		stride: uintptr(size),
		blocks: uintptr(nb),
		params: uintptr(kind.ParamBytes(a.cols)),
	}
	// Pairs of tiles with AVX-512, tiles with AVX2.
	most, step := 6, 2*blocks.TileRows
	if isa == AVX2 {
		most, step = 4, blocks.TileRows
	}
	// The first group of tokens asks for the next tiles while it computes.
	ahead := tile * step / blocks.TileRows
	if ahead > farAhead {
		ahead = nearAhead
	}
	few := 1 // tokens that a plain stream over the weights takes
	if isa == AVX512 {
		few = streamed
	}
	chunk := max(actsInCache/size/24*24, 24)
	for first := 0; first < a.n; first += chunk {
		n := min(chunk, a.n-first)
		if n <= few {
			p.acts = &a.records[first*size]
			p.tokens = uintptr(n)
			stream(isa, kind, a.Precision, &p, dst[first*ldd:], w, tile, rows)
			return
		}
		groups := split(n, most)
		for r := 0; r < rows; r += step {
			left := min(rows-r, step)
			p.w = &w[r/blocks.TileRows*tile]
			p.next = uintptr(tile)
			if left <= blocks.TileRows {
				p.next = 0
			}
			p.rows = writeMask(isa, left)
			p.ahead = uintptr(ahead)
			token := first
			for _, g := range groups {
				if g.count == 0 {
					continue
				}
				p.dst = &dst[token*ldd+r]
				p.acts = &a.records[token*size]
				p.count = uintptr(g.count)
				p.tokens = uintptr(g.tokens)
				callTokens(isa, kind, a.Precision, &p)
				p.ahead = 0
				token += g.tokens * g.count
			}
		}
	}
}

// writeMask returns how a kernel takes the number of rows to write.
func writeMask(isa ISA, rows int) uintptr {
	if isa == AVX2 {
		return uintptr(rows)
	}
	return 1<<rows - 1
}

// stream is the product of one token, or a few, a stream over the tiles.
func stream(isa ISA, kind blocks.Kind, precision Precision, p *product, dst []float32, w []byte, tile, rows int) {
	full, rest := rows/blocks.TileRows, rows%blocks.TileRows
	if full > 0 {
		p.dst, p.w, p.count, p.rows = &dst[0], &w[0], uintptr(full), writeMask(isa, blocks.TileRows)
		callStream(isa, kind, precision, p)
	}
	if rest > 0 {
		p.dst, p.w, p.count, p.rows = &dst[rows-rest], &w[full*tile], 1, writeMask(isa, rest)
		callStream(isa, kind, precision, p)
	}
}

// groups is a number of groups of tokens that a kernel takes at a time.
type groups struct{ tokens, count int }

// split divides n tokens into groups of size and at most two smaller ones that
// are near to each other, since a group of one wastes most of a kernel.
func split(n, size int) (g [3]groups) {
	full, rest := n/size, n%size
	switch {
	case rest == 0:
		return [3]groups{{size, full}}
	case full == 0 || rest > size/2:
		return [3]groups{{size, full}, {rest, 1}}
	}
	rest += size
	return [3]groups{{size, full - 1}, {(rest + 1) / 2, 1}, {rest / 2, 1}}
}

// callStream and callTokens call a kernel directly, so that p stays on the stack.
func callStream(isa ISA, kind blocks.Kind, precision Precision, p *product) {
	arg := (*byte)(unsafe.Pointer(p))
	switch {
	case isa == AVX512 && kind == blocks.Q8B32 && precision == Int8:
		streamQ8B32x8AVX512(arg)
	case isa == AVX512 && kind == blocks.Q8B32:
		streamQ8B32AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32 && precision == Int8:
		streamQ4B32x8AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32:
		streamQ4B32AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32M && precision == Int8:
		streamQ4B32Mx8AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32M:
		streamQ4B32MAVX512(arg)
	case isa == AVX2 && kind == blocks.Q8B32:
		rowQ8B32AVX2(arg)
	case isa == AVX2 && kind == blocks.Q4B32:
		rowQ4B32AVX2(arg)
	case isa == AVX2 && kind == blocks.Q4B32M:
		rowQ4B32MAVX2(arg)
	default:
		panic("simd: no kernel for " + kind.String())
	}
}

func callTokens(isa ISA, kind blocks.Kind, precision Precision, p *product) {
	arg := (*byte)(unsafe.Pointer(p))
	switch {
	case isa == AVX512 && kind == blocks.Q8B32 && precision == Int8:
		tokensQ8B32x8AVX512(arg)
	case isa == AVX512 && kind == blocks.Q8B32:
		tokensQ8B32AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32 && precision == Int8:
		tokensQ4B32x8AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32:
		tokensQ4B32AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32M && precision == Int8:
		tokensQ4B32Mx8AVX512(arg)
	case isa == AVX512 && kind == blocks.Q4B32M:
		tokensQ4B32MAVX512(arg)
	case isa == AVX2 && kind == blocks.Q8B32:
		tokensQ8B32AVX2(arg)
	case isa == AVX2 && kind == blocks.Q4B32:
		tokensQ4B32AVX2(arg)
	case isa == AVX2 && kind == blocks.Q4B32M:
		tokensQ4B32MAVX2(arg)
	default:
		panic("simd: no kernel for " + kind.String())
	}
}
