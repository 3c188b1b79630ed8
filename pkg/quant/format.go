package quant

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/leveret-os/leveret/internal/blocks"
)

// BlockSize is the number of consecutive weights of a row that share a scale.
const BlockSize = blocks.Size

// TileRows is the number of rows in a tile.
const TileRows = blocks.TileRows

// Format is a block format. The zero value is none.
type Format uint8

// The block formats. A weight is, from its quant q, scale s and minimum m:
const (
	Q8B32  = Format(blocks.Q8B32)  // q·s, q in −128…127: 8.5 bits a weight
	Q4B32  = Format(blocks.Q4B32)  // (q−8)·s, q in 0…15: 4.5 bits a weight
	Q4B32M = Format(blocks.Q4B32M) // q·s+m, q in 0…15: 5 bits a weight
)

// Formats lists the block formats.
func Formats() []Format { return []Format{Q8B32, Q4B32, Q4B32M} }

func (f Format) kind() blocks.Kind { return blocks.Kind(f) }

// Valid reports whether f is one of the block formats.
func (f Format) Valid() bool { return f >= Q8B32 && f <= Q4B32M }

// String returns the format's name, as in checkpoints' metadata.
func (f Format) String() string {
	if !f.Valid() {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return f.kind().String()
}

// ParseFormat returns the format of a name such as "q8b32", in either case. An
// unknown one is ErrFormat.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats() {
		if strings.EqualFold(name, f.String()) {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%w %q: expected q8b32, q4b32 or q4b32m", ErrFormat, name)
}

// BitsPerWeight returns the bits that a weight takes, its share of the scale
// included.
func (f Format) BitsPerWeight() float64 {
	switch f {
	case Q8B32:
		return 8.5
	case Q4B32:
		return 4.5
	case Q4B32M:
		return 5
	}
	return 0
}

// Bytes returns the size in bytes of a matrix of rows×cols weights. cols is a
// multiple of BlockSize; the size must fit an int, as that of a matrix in
// memory does.
func (f Format) Bytes(rows, cols int) int { return f.kind().MatrixBytes(rows, cols) }

// Shape returns the shape of a matrix's bytes as a tensor of U8, as checkpoints
// store it: [tiles, bytes of a tile].
func (f Format) Shape(rows, cols int) [2]uint64 {
	return [2]uint64{uint64(blocks.Tiles(rows)), uint64(f.kind().TileBytes(cols))}
}

// check returns an error unless a matrix of that shape exists and size is its
// size in bytes.
func (f Format) check(rows, cols, size int) error {
	if err := f.checkShape(rows, cols); err != nil {
		return err
	}
	if want := f.Bytes(rows, cols); size != want {
		return fmt.Errorf("%w: %d bytes for %d×%d weights of %v, which take %d", ErrSize, size, rows, cols, f, want)
	}
	return nil
}

func (f Format) checkShape(rows, cols int) error {
	if !f.Valid() {
		return fmt.Errorf("%w: %v", ErrFormat, f)
	}
	if cols%BlockSize != 0 {
		return fmt.Errorf("%w: %d, the block size is %d", ErrRowLength, cols, BlockSize)
	}
	// A weight takes less than 4 bytes, the padding of 15 rows included.
	if rows < 0 || cols < 0 || rows > math.MaxInt-TileRows {
		return fmt.Errorf("%w: shape [%d, %d]", ErrSize, rows, cols)
	}
	if hi, lo := bits.Mul64(uint64(rows+TileRows), uint64(cols)); hi != 0 || lo > math.MaxInt/4 {
		return fmt.Errorf("%w: shape [%d, %d] is too large", ErrSize, rows, cols)
	}
	return nil
}
