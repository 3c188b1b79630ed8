// Package half converts between float32 and the 16-bit floating-point formats
// of checkpoints, rounding to nearest, ties to even.
package half

import (
	"math"

	"github.com/x448/float16"
)

// F16 returns f as IEEE 754 binary16: infinity where it is too large, a quiet
// NaN for a NaN.
func F16(f float32) uint16 { return float16.Fromfloat32(f).Bits() }

// FromF16 returns the value of a binary16 number. It is exact.
func FromF16(h uint16) float32 { return float16.Frombits(h).Float32() }

// BF16 returns f as bfloat16, the upper half of a float32: infinity where it
// is too large, the quiet NaN 0x7fc0, with the sign of f, for a NaN.
func BF16(f float32) uint16 {
	b := math.Float32bits(f)
	if f != f {
		return uint16(b>>16)&0x8000 | 0x7fc0
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// FromBF16 returns the value of a bfloat16 number. It is exact.
func FromBF16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
