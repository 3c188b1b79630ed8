package fmath

import (
	"math"
	"math/bits"
)

// twoOverPi is 2/π in binary: a word of zeros (the integer part), then the
// first 1,216 bits of the fraction.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
}

// π/2 as the sum of two float64.
const (
	halfPiHi = 0x1.921fb54442d18p+0
	halfPiLo = 0x1.1a62633145c07p-54
)

// Taylor coefficients of sin and cos after the leading terms, in powers of x².
// On |x| ≤ π/4 the first term left out is below 2^-60 of the result.
var (
	sinTail = []float64{-1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800,
		1. / 6227020800, -1. / 1307674368000, 1. / 355687428096000}
	cosTail = []float64{1. / 24, -1. / 720, 1. / 40320, -1. / 3628800, 1. / 479001600,
		-1. / 87178291200, 1. / 20922789888000, -1. / 6402373705728000}
)

// Sincos returns the sine and the cosine of x radians, for any finite x with
// an error below 1 ulp each. Both are NaN for an infinity or a NaN.
func Sincos(x float64) (sin, cos float64) {
	if x-x != 0 { // infinity or NaN
		return math.NaN(), math.NaN()
	}
	a, lo := math.Abs(x), 0.0
	var q uint64
	if a > math.Pi/4 {
		q, a, lo = reduce(a)
	}
	sin, cos = sincosKernel(a, lo)
	if q&1 != 0 {
		sin, cos = cos, -sin
	}
	if q&2 != 0 {
		sin, cos = -sin, -cos
	}
	if math.Signbit(x) {
		sin = -sin
	}
	return sin, cos
}

// reduce returns q mod 4 and hi+lo with x = q·π/2 + hi + lo, |hi| ≤ π/4, for
// x ≥ π/4. It multiplies x by 192 bits of 2/π in integers, from the place on
// where the product's bits are worth less than 4 (Payne and Hanek, "Radian
// reduction for trigonometric functions", 1983), so its error is 2^-126.
func reduce(x float64) (q uint64, hi, lo float64) {
	b := math.Float64bits(x)
	exp := int(b>>52) - 1075 // x = m·2^exp
	m := b&(1<<52-1) | 1<<52
	// The product's weight-2 bit is the window's first: bit exp+62 of the table.
	word, shift := uint(exp+62)/64, uint(exp+62)%64
	var w [3]uint64
	for i := range w {
		w[i] = twoOverPi[word+uint(i)]<<shift | twoOverPi[word+uint(i)+1]>>(64-shift)
	}
	// The upper two words of m·w mod 2^192.
	carry, _ := bits.Mul64(m, w[2])
	h1, l1 := bits.Mul64(m, w[1])
	mid, c := bits.Add64(l1, carry, 0)
	top := m*w[0] + h1 + c

	q = top >> 62
	fh, fl := top<<2|mid>>62, mid<<2 // the fraction of a quarter turn
	negative := fh>>63 != 0
	if negative { // nearer to the next quarter
		q++
		var borrow uint64
		fl, borrow = bits.Sub64(0, fl, 0)
		fh, _ = bits.Sub64(0, fh, borrow)
	}
	if fh == 0 && fl == 0 {
		return q & 3, 0, 0
	}
	n := bits.LeadingZeros64(fh)
	if n == 64 {
		n += bits.LeadingZeros64(fl)
		fh, fl = fl<<(n-64), 0
	} else if n > 0 {
		fh, fl = fh<<n|fl>>(64-n), fl<<n
	}
	// Both parts are exact: 53 bits each.
	f := float64(fh>>11) * pow2(-53-n)
	g := float64(fh<<53>>11|fl>>22) * pow2(-106-n)
	hi, lo = twoProduct(f, halfPiHi)
	lo += float64(f*halfPiLo) + float64(g*halfPiHi)
	hi, lo = hi+lo, lo-((hi+lo)-hi)
	if negative {
		hi, lo = -hi, -lo
	}
	return q & 3, hi, lo
}

// pow2 returns 2^n for a normal result.
func pow2(n int) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// sincosKernel returns sine and cosine of x+lo for |x| ≤ π/4, |lo| ≤ ulp(x)/2.
func sincosKernel(x, lo float64) (sin, cos float64) {
	z := float64(x * x)
	half := float64(0.5 * z)
	sin = x + (float64(float64(x*z)*horner(z, sinTail)) + (lo - float64(half*lo)))
	one := 1 - half
	rest := ((1 - one) - half) + (float64(float64(z*z)*horner(z, cosTail)) - float64(x*lo))
	return sin, one + rest
}
