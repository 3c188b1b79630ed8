//go:build !noasm

package simd

import (
	"unsafe"

	"github.com/leveret-os/leveret/internal/blocks"
)

//go:generate -command gen go -C gen run ./blocks
//go:generate gen -out ../blocks_amd64.s -stubs ../blocks_stubs_amd64.go -pkg simd

// actRecord is the size of an activation record: one token's block of 32
// activations as gen/blocks describes it.
const actRecord = 80

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
}

// actsInCache bounds the activations that a pair of tiles meets before the next
// pair: they stay in the second-level cache while all tiles pass by.
const actsInCache = 256 << 10

func (a *Acts) growRecords(n, cols int) {
	a.n, a.cols = n, cols
	size := n * (cols / blocks.Size) * actRecord
	if size > cap(a.records) {
		a.records = make([]byte, size)
	}
	a.records = a.records[:size]
}

func quantize(isa ISA, a *Acts, x []float32, ldx, cols, n int) {
	if isa == Portable {
		quantizePortable(a, x, ldx, cols, n)
		return
	}
	a.growRecords(n, cols)
	nb := cols / blocks.Size
	if nb == 0 {
		return
	}
	for j := range n {
		row := x[j*ldx : j*ldx+cols]
		dst := a.records[j*nb*actRecord:]
		if isa == AVX512 {
			quantizeAVX512(&dst[0], &row[0], nb)
		} else {
			quantizeAVX2(&dst[0], &row[0], nb)
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
	_ = a.records[a.n*nb*actRecord-1]
	p := product{
		ldd:    uintptr(4 * ldd),
		acts:   &a.records[0],
		stride: uintptr(nb * actRecord),
		blocks: uintptr(nb),
		params: uintptr(kind.ParamBytes(a.cols)),
	}
	if isa == AVX2 {
		matMulBlocksAVX2(kind, &p, dst, w, tile, rows, a.n)
		return
	}
	if a.n == 1 {
		rowsAVX512(kind, &p, dst, w, tile, rows)
		return
	}
	chunk := max(actsInCache/int(p.stride)/12*12, 12)
	for first := 0; first < a.n; first += chunk {
		n := min(chunk, a.n-first)
		if n == 1 { // a lone token at the end
			p.acts = &a.records[first*int(p.stride)]
			rowsAVX512(kind, &p, dst[first*ldd:], w, tile, rows)
			break
		}
		groups := split(n, 6)
		for r := 0; r < rows; r += 2 * blocks.TileRows {
			p.w = &w[r/blocks.TileRows*tile]
			p.next = uintptr(tile)
			if rows-r <= blocks.TileRows {
				p.next = 0
			}
			p.rows = 1<<min(rows-r, 2*blocks.TileRows) - 1
			token := first
			for _, g := range groups {
				if g.count == 0 {
					continue
				}
				p.dst = &dst[token*ldd+r]
				p.acts = &a.records[token*int(p.stride)]
				p.count = uintptr(g.count)
				tokensAVX512(kind, g.tokens, &p)
				token += g.tokens * g.count
			}
		}
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

// rowsAVX512 is the product of one token.
func rowsAVX512(kind blocks.Kind, p *product, dst []float32, w []byte, tile, rows int) {
	full := rows / blocks.TileRows
	if full > 0 {
		p.dst, p.w, p.count, p.rows = &dst[0], &w[0], uintptr(full), 1<<blocks.TileRows-1
		rowAVX512(kind, p)
	}
	if rest := rows % blocks.TileRows; rest > 0 {
		p.dst, p.w, p.count, p.rows = &dst[rows-rest], &w[full*tile], 1, 1<<rest-1
		rowAVX512(kind, p)
	}
}

func matMulBlocksAVX2(kind blocks.Kind, p *product, dst []float32, w []byte, tile, rows, n int) {
	ldd := int(p.ldd) / 4
	records, stride := unsafe.Slice(p.acts, n*int(p.stride)), int(p.stride)
	chunk := max(actsInCache/stride/12*12, 12)
	for first := 0; first < n; first += chunk {
		groups := split(min(chunk, n-first), 4)
		for r := 0; r < rows; r += blocks.TileRows {
			p.w = &w[r/blocks.TileRows*tile]
			p.rows = uintptr(min(rows-r, blocks.TileRows))
			token := first
			for _, g := range groups {
				if g.count == 0 {
					continue
				}
				p.dst = &dst[token*ldd+r]
				p.acts = &records[token*stride]
				p.count = uintptr(g.count)
				tokensAVX2(kind, g.tokens, p)
				token += g.tokens * g.count
			}
		}
	}
}

func rowAVX512(kind blocks.Kind, p *product) {
	arg := (*byte)(unsafe.Pointer(p))
	switch kind {
	case blocks.Q8B32:
		rowQ8B32AVX512(arg)
	case blocks.Q4B32:
		rowQ4B32AVX512(arg)
	case blocks.Q4B32M:
		rowQ4B32MAVX512(arg)
	}
}

func tokensAVX512(kind blocks.Kind, tokens int, p *product) {
	arg := (*byte)(unsafe.Pointer(p))
	switch kind {
	case blocks.Q8B32:
		switch tokens {
		case 2:
			tokens2Q8B32AVX512(arg)
		case 3:
			tokens3Q8B32AVX512(arg)
		case 4:
			tokens4Q8B32AVX512(arg)
		case 5:
			tokens5Q8B32AVX512(arg)
		case 6:
			tokens6Q8B32AVX512(arg)
		}
	case blocks.Q4B32:
		switch tokens {
		case 2:
			tokens2Q4B32AVX512(arg)
		case 3:
			tokens3Q4B32AVX512(arg)
		case 4:
			tokens4Q4B32AVX512(arg)
		case 5:
			tokens5Q4B32AVX512(arg)
		case 6:
			tokens6Q4B32AVX512(arg)
		}
	case blocks.Q4B32M:
		switch tokens {
		case 2:
			tokens2Q4B32MAVX512(arg)
		case 3:
			tokens3Q4B32MAVX512(arg)
		case 4:
			tokens4Q4B32MAVX512(arg)
		case 5:
			tokens5Q4B32MAVX512(arg)
		case 6:
			tokens6Q4B32MAVX512(arg)
		}
	}
}

func tokensAVX2(kind blocks.Kind, tokens int, p *product) {
	arg := (*byte)(unsafe.Pointer(p))
	switch kind {
	case blocks.Q8B32:
		switch tokens {
		case 1:
			tokens1Q8B32AVX2(arg)
		case 2:
			tokens2Q8B32AVX2(arg)
		case 3:
			tokens3Q8B32AVX2(arg)
		case 4:
			tokens4Q8B32AVX2(arg)
		}
	case blocks.Q4B32:
		switch tokens {
		case 1:
			tokens1Q4B32AVX2(arg)
		case 2:
			tokens2Q4B32AVX2(arg)
		case 3:
			tokens3Q4B32AVX2(arg)
		case 4:
			tokens4Q4B32AVX2(arg)
		}
	case blocks.Q4B32M:
		switch tokens {
		case 1:
			tokens1Q4B32MAVX2(arg)
		case 2:
			tokens2Q4B32MAVX2(arg)
		case 3:
			tokens3Q4B32MAVX2(arg)
		case 4:
			tokens4Q4B32MAVX2(arg)
		}
	}
}
