package grammar

import (
	"math/big"
	"strconv"
	"strings"
)

// A decimal is coefficient × 10^exponent, exactly. The coefficient has no
// factor of ten, and zero has exponent 0, so equal decimals have equal fields.
type decimal struct {
	coefficient *big.Int
	exponent    int
}

var ten = big.NewInt(10)

// parseDecimal reads a JSON number, whose size the parser has bounded.
func parseDecimal(s string) decimal {
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(s[i+1:])
		s = s[:i]
	}
	if i := strings.IndexByte(s, '.'); i >= 0 {
		exponent -= len(s) - i - 1
		s = s[:i] + s[i+1:]
	}
	c, _ := new(big.Int).SetString(s, 10)
	if c == nil {
		c = new(big.Int)
	}
	return newDecimal(c, exponent)
}

func newDecimal(c *big.Int, exponent int) decimal {
	if c.Sign() == 0 {
		return decimal{c, 0}
	}
	var r big.Int
	for {
		q, _ := new(big.Int).QuoRem(c, ten, &r)
		if r.Sign() != 0 {
			return decimal{c, exponent}
		}
		c = q
		exponent++
	}
}

// scaled returns the value times 10^n, which must be whole.
func (d decimal) scaled(n int) *big.Int {
	p := new(big.Int).Exp(ten, big.NewInt(int64(d.exponent+n)), nil)
	return p.Mul(p, d.coefficient)
}

func (d decimal) sign() int    { return d.coefficient.Sign() }
func (d decimal) neg() decimal { return decimal{new(big.Int).Neg(d.coefficient), d.exponent} }
func (d decimal) whole() bool  { return d.exponent >= 0 }

func (d decimal) cmp(e decimal) int {
	n := -min(d.exponent, e.exponent, 0)
	return d.scaled(n).Cmp(e.scaled(n))
}

// multiple reports whether d is a whole multiple of m, which is above 0.
func (d decimal) multiple(m decimal) bool {
	n := -min(d.exponent, m.exponent, 0)
	return new(big.Int).Rem(d.scaled(n), m.scaled(n)).Sign() == 0
}

// lcm returns the least common multiple of two decimals above 0.
func lcm(d, e decimal) decimal {
	n := -min(d.exponent, e.exponent, 0)
	a, b := d.scaled(n), e.scaled(n)
	g := new(big.Int).GCD(nil, nil, a, b)
	return newDecimal(new(big.Int).Mul(a, b.Quo(b, g)), -n)
}

// digits returns the magnitude as the digits before and after the point, the
// first without leading and the second without trailing zeros.
func (d decimal) digits() (whole, fraction string) {
	s := new(big.Int).Abs(d.coefficient).String()
	switch {
	case s == "0":
		return "", ""
	case d.exponent >= 0:
		return s + strings.Repeat("0", d.exponent), ""
	case -d.exponent >= len(s):
		return "", strings.Repeat("0", -d.exponent-len(s)) + s
	}
	return s[:len(s)+d.exponent], s[len(s)+d.exponent:]
}

// String returns the number as encoding/json prints a float64: scientific
// notation below 1e-6 and from 1e21 on, and never otherwise.
func (d decimal) String() string {
	sign := ""
	if d.sign() < 0 {
		sign = "-"
	}
	whole, fraction := d.digits()
	if d.sign() != 0 {
		s := new(big.Int).Abs(d.coefficient).String()
		if e := d.exponent + len(s) - 1; e < -6 || e >= 21 {
			sign += s[:1]
			if len(s) > 1 {
				sign += "." + s[1:]
			}
			if e > 0 {
				return sign + "e+" + strconv.Itoa(e)
			}
			return sign + "e" + strconv.Itoa(e)
		}
	}
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}
