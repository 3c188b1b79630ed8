// Package blocks gives the byte layout of the quantised block formats: where a
// weight, its scale and its minimum lie inside a matrix.
//
// It is the one place that knows the layout; pkg/quant writes and reads
// matrices by it and internal/simd multiplies by it. docs/quantization.md
// describes the same bytes for readers in other languages.
//
// A matrix of rows×k weights (k a multiple of Size) is stored as tiles of
// TileRows rows, one row a SIMD lane, so that a matrix product needs no
// horizontal sum. Rows that pad the last tile are zero. A tile is its
// parameters (binary16, little endian) followed by its quants:
//
//	Q8B32, Q4B32   for each block b: 16 scales; zero padding to 64 bytes
//	Q4B32M         for each block b: 16 scales, then 16 minimums
//	Q8B32 quants   for each block b, for each j in 0..7: 16 rows × 4 bytes,
//	               byte 4·row+i = q[row][32b+4j+i] + 128
//	Q4 quants      for each block b, for each j in 0..3: 16 rows × 4 bytes,
//	               byte 4·row+i = q[row][32b+8j+i] | q[row][32b+8j+4+i]<<4
package blocks

// Size is the number of consecutive weights of a row that share a scale.
const Size = 32

// TileRows is the number of rows in a tile.
const TileRows = 16

// Kind is a block format.
type Kind uint8

// The block formats. A weight is, from its quant q, scale s and minimum m:
// Q8B32 q·s with q in −128…127, Q4B32 (q−8)·s and Q4B32M q·s+m with q in 0…15.
const (
	Q8B32 Kind = iota + 1
	Q4B32
	Q4B32M
)

// String returns the format's name, as in checkpoints' metadata.
func (k Kind) String() string {
	switch k {
	case Q8B32:
		return "Q8B32"
	case Q4B32:
		return "Q4B32"
	case Q4B32M:
		return "Q4B32M"
	}
	return "unknown"
}

// ParamBytes returns the size in bytes of a tile's scales (and minimums) for
// rows of k weights.
func (k Kind) ParamBytes(cols int) int {
	n := cols / Size
	if k == Q4B32M {
		return 64 * n
	}
	return (32*n + 63) &^ 63
}

// BlockBytes returns the size in bytes of the quants of one block of a tile.
func (k Kind) BlockBytes() int {
	if k == Q8B32 {
		return TileRows * Size
	}
	return TileRows * Size / 2
}

// TileBytes returns the size in bytes of a tile of rows of cols weights.
func (k Kind) TileBytes(cols int) int {
	return k.ParamBytes(cols) + cols/Size*k.BlockBytes()
}

// Tiles returns the number of tiles of a matrix with that many rows.
func Tiles(rows int) int { return (rows + TileRows - 1) / TileRows }

// MatrixBytes returns the size in bytes of a rows×cols matrix.
func (k Kind) MatrixBytes(rows, cols int) int { return Tiles(rows) * k.TileBytes(cols) }

// ScaleOffset returns the offset inside a tile of the scale of block b of lane
// row (0…15).
func (k Kind) ScaleOffset(row, b int) int {
	if k == Q4B32M {
		return 64*b + 2*row
	}
	return 32*b + 2*row
}

// MinOffset returns the offset inside a Q4B32M tile of the minimum of block b
// of lane row.
func MinOffset(row, b int) int { return 64*b + 32 + 2*row }

// QuantOffset returns the offset inside a tile of the byte that holds weight
// col of lane row, and the shift of its bits in that byte (0, or 4 for the
// high nibble).
func (k Kind) QuantOffset(row, col, cols int) (offset int, shift uint) {
	b, c := col/Size, col%Size
	base := k.ParamBytes(cols) + b*k.BlockBytes()
	if k == Q8B32 {
		return base + 64*(c/4) + 4*row + c%4, 0
	}
	return base + 64*(c/8) + 4*row + c%4, uint(c & 4)
}
