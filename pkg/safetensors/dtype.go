package safetensors

import (
	"fmt"
	"math/bits"
)

// DType is the type of a tensor's elements. Its zero value is no type.
type DType uint8

// The dtypes of the format, as in safetensors 0.8.0.
const (
	BOOL        DType = iota + 1 // one byte; any other than 0 is true
	F4                           // OCP MX FP4: E2M1, two elements to a byte
	F6_E2M3                      // OCP MX FP6, four elements to three bytes
	F6_E3M2                      // OCP MX FP6, four elements to three bytes
	U8                           // unsigned integer
	I8                           // two's complement integer
	F8_E5M2                      // IEEE-like 8-bit float (arXiv:2209.05433)
	F8_E4M3                      // 8-bit float without infinities (arXiv:2209.05433)
	F8_E8M0                      // OCP MX scale: a power of two, 0xff is NaN
	F8_E4M3FNUZ                  // bias 8, no infinities, no −0: 0x80 is NaN (arXiv:2206.02915)
	F8_E5M2FNUZ                  // bias 16, no infinities, no −0: 0x80 is NaN (arXiv:2206.02915)
	I16                          // two's complement integer
	U16                          // unsigned integer
	F16                          // IEEE 754 binary16
	BF16                         // bfloat16, the upper half of a binary32
	I32                          // two's complement integer
	U32                          // unsigned integer
	F32                          // IEEE 754 binary32
	C64                          // complex: real and imaginary binary32
	F64                          // IEEE 754 binary64
	I64                          // two's complement integer
	U64                          // unsigned integer
)

var dtypes = [...]struct {
	name string
	bits uint8
}{
	BOOL: {"BOOL", 8}, F4: {"F4", 4}, F6_E2M3: {"F6_E2M3", 6}, F6_E3M2: {"F6_E3M2", 6},
	U8: {"U8", 8}, I8: {"I8", 8}, F8_E5M2: {"F8_E5M2", 8}, F8_E4M3: {"F8_E4M3", 8},
	F8_E8M0: {"F8_E8M0", 8}, F8_E4M3FNUZ: {"F8_E4M3FNUZ", 8}, F8_E5M2FNUZ: {"F8_E5M2FNUZ", 8},
	I16: {"I16", 16}, U16: {"U16", 16}, F16: {"F16", 16}, BF16: {"BF16", 16},
	I32: {"I32", 32}, U32: {"U32", 32}, F32: {"F32", 32}, C64: {"C64", 64},
	F64: {"F64", 64}, I64: {"I64", 64}, U64: {"U64", 64},
}

func (d DType) valid() bool { return d > 0 && int(d) < len(dtypes) }

// String returns the name that headers use: "BF16".
func (d DType) String() string {
	if !d.valid() {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Bits returns the size of an element in bits: 4, 6, 8, 16, 32 or 64, and 0
// for a value that is no dtype.
func (d DType) Bits() int {
	if !d.valid() {
		return 0
	}
	return int(dtypes[d].bits)
}

// ParseDType returns the dtype of a name as headers spell it, or [ErrDType].
func ParseDType(name string) (DType, error) {
	for d := BOOL; d.valid(); d++ {
		if dtypes[d].name == name {
			return d, nil
		}
	}
	return 0, fmt.Errorf("safetensors: %w %s", ErrDType, quote(name))
}

// Bytes returns the number of bytes that a tensor of this shape takes. A shape
// without dimensions is a scalar. Errors: [ErrDType], [ErrOverflow] where the
// product of the dimensions, taken from the first on, or the number of bits
// does not fit 64 bits, [ErrPartialByte].
func (d DType) Bytes(shape []uint64) (uint64, error) {
	if !d.valid() {
		return 0, fmt.Errorf("%w %v", ErrDType, d)
	}
	n := uint64(1)
	for i, dim := range shape {
		hi, lo := bits.Mul64(n, dim)
		if hi != 0 {
			return 0, fmt.Errorf("%w at dimension %d of %v", ErrOverflow, i, shapeString(shape))
		}
		n = lo
	}
	hi, nbits := bits.Mul64(n, uint64(d.Bits()))
	if hi != 0 {
		return 0, fmt.Errorf("%w: %d elements of %d bits", ErrOverflow, n, d.Bits())
	}
	if nbits%8 != 0 {
		return 0, fmt.Errorf("%w: %d elements of %d bits", ErrPartialByte, n, d.Bits())
	}
	return nbits / 8, nil
}

// shapeString returns a shape for an error message, cut where it is long.
func shapeString(shape []uint64) string {
	const most = 16
	if len(shape) <= most {
		return fmt.Sprint(shape)
	}
	return fmt.Sprintf("%v… (%d dimensions)", shape[:most], len(shape))
}
