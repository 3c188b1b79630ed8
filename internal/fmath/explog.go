package fmath

import "math"

// ln 2 as the sum of a 42-bit number, whose product with an exponent is exact,
// and a float64.
const (
	ln2Hi = 0x1.62e42fefa3800p-1
	ln2Lo = 0x1.ef35793c76730p-45
)

// Beyond these e^x is infinite or 0.
const (
	expMax = 709.782712893384
	expMin = -745.1332191019412
)

// expTail are the Taylor coefficients of (e^x − 1 − x)/x². On |x| ≤ ln 2 / 2
// the first term left out is below 2^-60.
var expTail = []float64{1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
	1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800, 1. / 87178291200}

// logTail are the coefficients of 2·artanh(s)/s from s⁴ on, in powers of s².
var logTail = []float64{2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19, 2. / 21, 2. / 23}

// 2/3 as the sum of two float64.
const (
	twoThirdsHi = 0x1.5555555555555p-1
	twoThirdsLo = 0x1.5555555555555p-55
)

// Exp returns e^x with an error below 1 ulp; 0 below about −745, +Inf above
// about 709.78, NaN for NaN.
func Exp(x float64) float64 { return exp(x, 0) }

// exp returns e^(x+lo), |lo| small against x.
func exp(x, lo float64) float64 {
	switch {
	case x != x:
		return x
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return 0
	}
	k := math.RoundToEven(float64(x * (1 / math.Ln2)))
	a := x - float64(k*ln2Hi) // exact
	b := lo - float64(k*ln2Lo)
	r := a + b
	t := (a - r) + b
	y := 1 + (r + (float64(float64(r*r)*horner(r, expTail)) + float64(t*(1+r))))
	if n := int(k); n > -1021 && n < 1023 {
		return y * pow2(n)
	}
	return math.Ldexp(y, int(k)) // one rounding, subnormals included
}

// Log returns the natural logarithm of x with an error below 1 ulp: −Inf for 0,
// NaN below 0.
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	hi, lo := log(x)
	return hi + lo
}

// log returns ln x as the sum of two float64 with an error of about 2^-64 of
// it, for a finite x > 0: x = m·2^k with m near 1, ln m = 2·artanh((m−1)/(m+1)).
func log(x float64) (hi, lo float64) {
	m, k := math.Frexp(x) // m in [1/2, 1)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	f := m - 1 // exact
	d, dl := twoSum(m, 1)
	s := f / d
	sl := (math.FMA(-s, d, f) - float64(s*dl)) / d
	z, zl := twoProduct(s, s)
	zl += float64(2 * float64(s*sl))

	// 2s + (2/3)s³ in two float64 each, the rest in one.
	c, cl := twoProduct(s, z)
	cl += float64(s*zl) + float64(sl*z)
	b, bl := twoProduct(c, twoThirdsHi)
	bl += float64(c*twoThirdsLo) + float64(cl*twoThirdsHi)
	rest := float64(float64(float64(s*z)*z) * horner(z, logTail))

	n := float64(k)
	hi, lo = twoSum(float64(n*ln2Hi), 2*s)
	hi, e := twoSum(hi, b)
	lo += e + (float64(n*ln2Lo) + (float64(2*sl) + (bl + rest)))
	return twoSum(hi, lo)
}

// Pow returns x^y for x ≥ 0 with an error below 1 ulp, and NaN for x < 0. The
// special cases are those of math.Pow.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y || x < 0:
		return math.NaN()
	case x == 0 || math.IsInf(x, 1):
		if (x == 0) == (y > 0) {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(y, 0):
		if (x > 1) == (y > 0) {
			return math.Inf(1)
		}
		return 0
	}
	lh, ll := log(x)
	p := float64(y * lh)
	if p > 2*expMax || p < 2*expMin {
		return exp(p, 0)
	}
	return exp(p, math.FMA(y, lh, -p)+float64(y*ll))
}
