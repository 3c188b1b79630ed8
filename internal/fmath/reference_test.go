package fmath_test

import (
	"math"
	"math/big"
)

// Reference values by power series in 1,400-bit arithmetic: enough for the
// reduction of any float64.
const prec = 1400

func num(x float64) *big.Float       { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func zero() *big.Float               { return num(0) }
func mul(x, y *big.Float) *big.Float { return zero().Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return zero().Quo(x, y) }
func add(x, y *big.Float) *big.Float { return zero().Add(x, y) }
func sub(x, y *big.Float) *big.Float { return zero().Sub(x, y) }

// sumSeries adds term(1), term(2)… to first until a term no longer matters.
func sumSeries(first *big.Float, next func(n int, last *big.Float) *big.Float) *big.Float {
	s, t := zero().Set(first), first
	for n := 1; t.Sign() != 0 && t.MantExp(nil) > -prec; n++ {
		t = next(n, t)
		s = add(s, t)
	}
	return s
}

// artanhInv returns artanh(1/n), or arctan(1/n) for sign −1.
func artanhInv(n, sign float64) *big.Float {
	p := quo(num(1), num(n))
	s := zero().Set(p)
	for i := 3.0; p.MantExp(nil) > -prec; i += 2 {
		p = quo(mul(p, num(sign)), num(n*n))
		s = add(s, quo(p, num(i)))
	}
	return s
}

var (
	bigPi  = sub(mul(num(16), artanhInv(5, -1)), mul(num(4), artanhInv(239, -1))) // Machin
	bigLn2 = mul(num(2), artanhInv(3, 1))
)

// bigSincos returns sin x and cos x.
func bigSincos(x float64) (sin, cos *big.Float) {
	half := quo(bigPi, num(2))
	q, _ := add(quo(num(math.Abs(x)), half), num(0.5)).Int(nil)
	r := sub(num(math.Abs(x)), mul(half, zero().SetInt(q)))
	z := zero().Neg(mul(r, r))
	sin = sumSeries(r, func(n int, t *big.Float) *big.Float { return quo(mul(t, z), num(float64(2*n*(2*n+1)))) })
	cos = sumSeries(num(1), func(n int, t *big.Float) *big.Float { return quo(mul(t, z), num(float64(2*n*(2*n-1)))) })
	m := new(big.Int).And(q, big.NewInt(3)).Int64()
	if m&1 != 0 {
		sin, cos = cos, sin.Neg(sin)
	}
	if m&2 != 0 {
		sin, cos = sin.Neg(sin), cos.Neg(cos)
	}
	if x < 0 {
		sin.Neg(sin)
	}
	return sin, cos
}

func bigExp(x *big.Float) *big.Float {
	k, _ := quo(x, bigLn2).Int64()
	r := sub(x, mul(bigLn2, num(float64(k))))
	e := sumSeries(num(1), func(n int, t *big.Float) *big.Float { return quo(mul(t, r), num(float64(n))) })
	return zero().SetMantExp(e, int(k))
}

func bigLog(x float64) *big.Float {
	m, k := math.Frexp(x)
	s := quo(sub(num(m), num(1)), add(num(m), num(1)))
	p, z, sum := zero().Set(s), mul(s, s), zero().Set(s)
	for i := 3.0; p.Sign() != 0 && p.MantExp(nil) > -prec; i += 2 {
		p = mul(p, z)
		sum = add(sum, quo(p, num(i)))
	}
	return add(mul(num(2), sum), mul(bigLn2, num(float64(k))))
}

// ulps returns the error of got against want in units of the last place of a
// float64 of that size.
func ulps(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		if got == 0 {
			return 0
		}
		return math.Inf(1)
	}
	exp := max(want.MantExp(nil)-53, -1074)
	e, _ := zero().SetMantExp(sub(num(got), want), -exp).Float64()
	return math.Abs(e)
}
