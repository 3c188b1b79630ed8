package quant

import (
	"encoding/binary"
	"fmt"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/internal/ggml"
)

// FromQ8_0 writes a matrix whose rows are Q8_0 blocks of a GGUF file to dst in
// Q8B32, value for value. src holds the rows one after another; row r of the
// matrix is row order(r) of src, or row r where order is nil. A scale that is
// not finite is ErrNonFinite.
func FromQ8_0(dst []byte, rows, cols int, src []byte, order func(r int) int) error {
	return repack(dst, Q8B32, rows, cols, src, ggml.Q8_0, order, func(blk *block, b []byte) {
		for i, q := range b[2:34] {
			blk.quants[i] = q + 128 // two's complement to biased
		}
	})
}

// FromQ4_0 does for Q4_0 and Q4B32 what FromQ8_0 does.
func FromQ4_0(dst []byte, rows, cols int, src []byte, order func(r int) int) error {
	return repack(dst, Q4B32, rows, cols, src, ggml.Q4_0, order, func(blk *block, b []byte) {
		nibbles(blk, b[2:18])
	})
}

// FromQ4_1 does for Q4_1 and Q4B32M what FromQ8_0 does.
func FromQ4_1(dst []byte, rows, cols int, src []byte, order func(r int) int) error {
	return repack(dst, Q4B32M, rows, cols, src, ggml.Q4_1, order, func(blk *block, b []byte) {
		blk.minimum = binary.LittleEndian.Uint16(b[2:])
		nibbles(blk, b[4:20])
	})
}

// nibbles reads 16 bytes: weight i is in the low half of byte i, weight 16+i in
// the high one.
func nibbles(blk *block, b []byte) {
	for i, q := range b[:16] {
		blk.quants[i], blk.quants[16+i] = q&15, q>>4
	}
}

func repack(dst []byte, f Format, rows, cols int, src []byte, t ggml.Type, order func(int) int, read func(*block, []byte)) error {
	if err := f.check(rows, cols, len(dst)); err != nil {
		return err
	}
	nb, size := cols/BlockSize, t.BlockBytes()
	if want := rows * nb * size; len(src) != want {
		return fmt.Errorf("%w: %d bytes for %d×%d weights of %v, which take %d", ErrSize, len(src), rows, cols, t, want)
	}
	kind := f.kind()
	tileBytes := kind.TileBytes(cols)
	return eachTile(rows, func() func(int) (int, error) {
		return func(t int) (int, error) {
			tile := dst[t*tileBytes : (t+1)*tileBytes]
			clear(tile)
			for lane := range min(TileRows, rows-t*TileRows) {
				r := t*TileRows + lane
				from := r
				if order != nil {
					from = order(r)
				}
				row := src[from*nb*size : (from+1)*nb*size]
				if err := repackRow(tile, kind, lane, cols, row, size, read); err != nil {
					return r, fmt.Errorf("row %d, %w", from, err)
				}
			}
			return 0, nil
		}
	})
}

func repackRow(tile []byte, kind blocks.Kind, lane, cols int, row []byte, size int, read func(*block, []byte)) error {
	var blk block
	for b := range cols / BlockSize {
		in := row[b*size : (b+1)*size]
		blk.scale = binary.LittleEndian.Uint16(in)
		read(&blk, in)
		if blk.scale&0x7fff > maxScaleBits || blk.minimum&0x7fff > maxScaleBits {
			return fmt.Errorf("weights %d to %d: %w: scale %#04x, minimum %#04x", b*BlockSize, (b+1)*BlockSize-1, ErrNonFinite, blk.scale, blk.minimum)
		}
		blk.put(tile, kind, lane, b, cols)
	}
	return nil
}
