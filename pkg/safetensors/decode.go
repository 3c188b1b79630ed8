package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/x448/float16"
)

// Float32s writes the elements first, first+1, … of data to dst, as many as
// dst holds: a row of a matrix, for instance. Conversions are those of
// [Tensor.Float32s]; it allocates nothing. Elements of 4 and 6 bits are taken
// from the lowest bits of the bytes upwards (the format leaves the order open;
// this is PyTorch's for F4). Errors: [ErrNotReal] for C64, [ErrDType],
// [ErrSize] where data has too few elements.
func (d DType) Float32s(dst []float32, data []byte, first int) error {
	if err := decode(dst, d, data, first); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
}

// Float64s is [DType.Float32s] with float64.
func (d DType) Float64s(dst []float64, data []byte, first int) error {
	if err := decode(dst, d, data, first); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
}

func decode[T float32 | float64](dst []T, d DType, data []byte, first int) error {
	if !d.valid() {
		return fmt.Errorf("%w %v", ErrDType, d)
	}
	if d == C64 {
		return fmt.Errorf("%v: %w", d, ErrNotReal)
	}
	if have := elements(d, len(data)); first < 0 || first > have || len(dst) > have-first {
		return fmt.Errorf("%w: %d bytes hold %d elements of %v, want %d from %d on",
			ErrSize, len(data), have, d, len(dst), first)
	}
	if d.Bits() < 8 {
		decodePacked(dst, d, data, first)
		return nil
	}
	src := data[first*(d.Bits()/8):]
	le := binary.LittleEndian
	switch d {
	case BOOL:
		for i := range dst {
			dst[i] = 0
			if src[i] != 0 {
				dst[i] = 1
			}
		}
	case U8:
		for i := range dst {
			dst[i] = T(src[i])
		}
	case I8:
		for i := range dst {
			dst[i] = T(int8(src[i]))
		}
	case I16:
		for i := range dst {
			dst[i] = T(int16(le.Uint16(src[2*i:])))
		}
	case U16:
		for i := range dst {
			dst[i] = T(le.Uint16(src[2*i:]))
		}
	case F16:
		for i := range dst {
			dst[i] = T(float16.Frombits(le.Uint16(src[2*i:])).Float32())
		}
	case BF16:
		for i := range dst {
			dst[i] = T(math.Float32frombits(uint32(le.Uint16(src[2*i:])) << 16))
		}
	case I32:
		for i := range dst {
			dst[i] = T(int32(le.Uint32(src[4*i:])))
		}
	case U32:
		for i := range dst {
			dst[i] = T(le.Uint32(src[4*i:]))
		}
	case F32:
		for i := range dst {
			dst[i] = T(math.Float32frombits(le.Uint32(src[4*i:])))
		}
	case F64:
		for i := range dst {
			dst[i] = T(math.Float64frombits(le.Uint64(src[8*i:])))
		}
	case I64:
		for i := range dst {
			dst[i] = T(int64(le.Uint64(src[8*i:])))
		}
	case U64:
		for i := range dst {
			dst[i] = T(le.Uint64(src[8*i:]))
		}
	default:
		table := minifloatTable(d)
		for i := range dst {
			dst[i] = T(table[src[i]])
		}
	}
	return nil
}

// elements returns how many elements of d the bytes hold.
func elements(d DType, bytes int) int {
	if size := d.Bits() / 8; size > 0 {
		return bytes / size
	}
	if bytes > math.MaxInt/8 {
		bytes = math.MaxInt / 8
	}
	return bytes * 8 / d.Bits()
}

// decodePacked decodes elements of less than a byte.
func decodePacked[T float32 | float64](dst []T, d DType, data []byte, first int) {
	table := minifloatTable(d)
	width := d.Bits()
	for i := range dst {
		bit := (first + i) * width
		word := uint(data[bit/8]) >> (bit % 8)
		if bit%8+width > 8 {
			word |= uint(data[bit/8+1]) << (8 - bit%8)
		}
		dst[i] = T(table[word&(1<<width-1)])
	}
}

func complexes(data []byte) []complex64 {
	dst := make([]complex64, len(data)/8)
	for i := range dst {
		re := binary.LittleEndian.Uint32(data[8*i:])
		im := binary.LittleEndian.Uint32(data[8*i+4:])
		dst[i] = complex(math.Float32frombits(re), math.Float32frombits(im))
	}
	return dst
}
