package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/leveret-os/leveret/internal/half"
	"github.com/leveret-os/leveret/pkg/quant"
)

// rowReader returns a function that sets dst, one row long, to row r as
// float32. It may be called from several goroutines.
func rowReader(t *Tensor) func(r int, dst []float32) {
	rows, cols := rowsCols(t.Shape)
	data := t.Data
	switch t.Type {
	case F32:
		return func(r int, dst []float32) {
			b := data[4*r*cols:]
			for i := range dst {
				dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
			}
		}
	case F16:
		return func(r int, dst []float32) {
			b := data[2*r*cols:]
			for i := range dst {
				dst[i] = half.FromF16(binary.LittleEndian.Uint16(b[2*i:]))
			}
		}
	case BF16:
		return func(r int, dst []float32) {
			b := data[2*r*cols:]
			for i := range dst {
				dst[i] = half.FromBF16(binary.LittleEndian.Uint16(b[2*i:]))
			}
		}
	}
	f := t.Type.format()
	return func(r int, dst []float32) { quant.Decode(dst, f, data, rows, cols, r) }
}

// encodeRow writes a row as a type that is no block format, rounded to nearest
// even. A finite weight that the type can only hold as infinity is
// [ErrOverflow].
func encodeRow(dst []byte, t Type, src []float32) error {
	switch t {
	case F32:
		putFloat32s(dst, src)
		return nil
	case F16:
		for i, v := range src {
			h := half.F16(v)
			if h&0x7fff == 0x7c00 && !math.IsInf(float64(v), 0) {
				return tooLarge(i, v, t)
			}
			binary.LittleEndian.PutUint16(dst[2*i:], h)
		}
	case BF16:
		for i, v := range src {
			h := half.BF16(v)
			if h&0x7fff == 0x7f80 && !math.IsInf(float64(v), 0) {
				return tooLarge(i, v, t)
			}
			binary.LittleEndian.PutUint16(dst[2*i:], h)
		}
	}
	return nil
}

func tooLarge(i int, v float32, t Type) error {
	return fmt.Errorf("index %d: %w: %v as %v", i, ErrOverflow, v, t)
}
