package safetensors

import (
	"math"
	"sync"
)

// minifloat describes a float of at most 8 bits: a sign, exponent bits and
// mantissa bits from the top.
type minifloat struct {
	exponent, mantissa int
	bias               int
	special            special
}

// special says which codes are no finite numbers.
type special uint8

const (
	finite  special = iota // none
	ieee                   // exponent all ones: infinity, NaN
	topNaN                 // all ones but the sign: NaN
	zeroNaN                // the code of −0: NaN
)

// The formats: OCP Microscaling Formats (MX) v1.0 for FP4 and FP6,
// arXiv:2209.05433 for E4M3 and E5M2, arXiv:2206.02915 for the FNUZ kinds.
var minifloats = map[DType]minifloat{
	F4:          {2, 1, 1, finite},
	F6_E2M3:     {2, 3, 1, finite},
	F6_E3M2:     {3, 2, 3, finite},
	F8_E5M2:     {5, 2, 15, ieee},
	F8_E4M3:     {4, 3, 7, topNaN},
	F8_E4M3FNUZ: {4, 3, 8, zeroNaN},
	F8_E5M2FNUZ: {5, 2, 16, zeroNaN},
}

// value returns the number of a code.
func (f minifloat) value(code int) float32 {
	sign := code >> (f.exponent + f.mantissa)
	e := code >> f.mantissa & (1<<f.exponent - 1)
	m := code & (1<<f.mantissa - 1)
	ones := e == 1<<f.exponent-1
	switch {
	case f.special == ieee && ones && m == 0:
		return float32(math.Inf(1 - 2*sign))
	case f.special == ieee && ones,
		f.special == topNaN && ones && m == 1<<f.mantissa-1,
		f.special == zeroNaN && sign == 1 && e == 0 && m == 0:
		return float32(math.NaN())
	}
	if e == 0 {
		e = 1 // subnormal: the exponent of the smallest normal numbers
	} else {
		m |= 1 << f.mantissa
	}
	v := math.Ldexp(float64(m), e-f.bias-f.mantissa)
	if sign == 1 {
		v = math.Copysign(v, -1)
	}
	return float32(v)
}

// minifloatTables returns the values of all codes by dtype.
var minifloatTables = sync.OnceValue(func() map[DType]*[256]float32 {
	tables := make(map[DType]*[256]float32)
	for d, f := range minifloats {
		table := new([256]float32)
		for code := range 1 << d.Bits() {
			table[code] = f.value(code)
		}
		tables[d] = table
	}
	scales := new([256]float32) // E8M0: 2^(code−127), float32's smallest subnormals included
	for code := range 255 {
		scales[code] = float32(math.Ldexp(1, code-127))
	}
	scales[255] = float32(math.NaN())
	tables[F8_E8M0] = scales
	return tables
})

func minifloatTable(d DType) *[256]float32 { return minifloatTables()[d] }
