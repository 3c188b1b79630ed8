package quant

import (
	"encoding/binary"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/internal/half"
)

// Decode sets dst, cols long, to row r of the rows×cols matrix in src, as
// float32. It is exact but for the rounding of q·s+m in Q4B32M. src has
// f.Bytes(rows, cols) bytes and 0 ≤ r < rows, else Decode panics.
func Decode(dst []float32, f Format, src []byte, rows, cols, r int) {
	if err := f.check(rows, cols, len(src)); err != nil {
		panic("quant: " + err.Error())
	}
	if r < 0 || r >= rows {
		panic("quant: row out of range")
	}
	kind := f.kind()
	tile := src[r/TileRows*kind.TileBytes(cols):][:kind.TileBytes(cols)]
	lane := r % TileRows
	for b := range cols / BlockSize {
		decodeBlock((*[BlockSize]float32)(dst[b*BlockSize:]), kind, tile, lane, b, cols)
	}
}

func decodeBlock(dst *[BlockSize]float32, kind blocks.Kind, tile []byte, lane, b, cols int) {
	scale := half.FromF16(binary.LittleEndian.Uint16(tile[kind.ScaleOffset(lane, b):]))
	first, _ := kind.QuantOffset(lane, b*BlockSize, cols)
	quants := tile[first:]
	switch kind {
	case blocks.Q8B32:
		for i := range dst {
			dst[i] = float32(int(quants[16*(i&^3)+i&3])-128) * scale
		}
	case blocks.Q4B32:
		for i := range dst {
			q := quants[8*(i&^7)+i&3] >> (i & 4) & 15
			dst[i] = float32(int(q)-8) * scale
		}
	case blocks.Q4B32M:
		minimum := half.FromF16(binary.LittleEndian.Uint16(tile[blocks.MinOffset(lane, b):]))
		for i := range dst {
			q := quants[8*(i&^7)+i&3] >> (i & 4) & 15
			dst[i] = float32(float32(q)*scale) + minimum
		}
	}
}
