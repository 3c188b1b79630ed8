package tools

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
)

// maxFactorial is the largest argument of factorial; its value has 9,131 digits.
const maxFactorial = 3000

// A numeric function takes from least to most arguments.
type numeric struct {
	least, most int
	compute     func(args []*big.Rat) (*big.Rat, error)
}

var functions = map[string]numeric{
	"abs":   {1, 1, func(a []*big.Rat) (*big.Rat, error) { return new(big.Rat).Abs(a[0]), nil }},
	"floor": {1, 1, func(a []*big.Rat) (*big.Rat, error) { return new(big.Rat).SetInt(floor(a[0])), nil }},
	"ceil": {1, 1, func(a []*big.Rat) (*big.Rat, error) {
		v := floor(new(big.Rat).Neg(a[0]))
		return new(big.Rat).SetInt(v.Neg(v)), nil
	}},
	"min": {1, maxExpression, func(a []*big.Rat) (*big.Rat, error) {
		return slices.MinFunc(a, (*big.Rat).Cmp), nil
	}},
	"max": {1, maxExpression, func(a []*big.Rat) (*big.Rat, error) {
		return slices.MaxFunc(a, (*big.Rat).Cmp), nil
	}},
	"round":     {1, 2, round},
	"sqrt":      {1, 1, sqrt},
	"gcd":       {1, maxExpression, fold("gcd", func(x, y *big.Int) *big.Int { return new(big.Int).GCD(nil, nil, x, y) })},
	"lcm":       {1, maxExpression, fold("lcm", lcm)},
	"factorial": {1, 1, factorial},
}

var functionList = slices.Sorted(maps.Keys(functions))

// round rounds half away from zero, to a whole number or to digits after the
// point.
func round(args []*big.Rat) (*big.Rat, error) {
	var n int64
	if len(args) == 2 {
		var err error
		if n, err = small(args[1], "the number of digits", 0, maxDecimals); err != nil {
			return nil, err
		}
	}
	ten := scale(int(n))
	shifted := new(big.Rat).SetInt(ten)
	shifted.Mul(shifted, args[0])
	half := big.NewRat(1, 2)
	negative := shifted.Sign() < 0
	v := floor(half.Add(half, shifted.Abs(shifted)))
	if negative {
		v.Neg(v)
	}
	return new(big.Rat).SetFrac(v, ten), nil
}

// sqrt computes the root of a number that is a square.
func sqrt(args []*big.Rat) (*big.Rat, error) {
	v := args[0]
	if v.Sign() < 0 {
		return nil, fmt.Errorf("%w: the root of a negative number", ErrDomain)
	}
	num, den := new(big.Int).Sqrt(v.Num()), new(big.Int).Sqrt(v.Denom())
	r := new(big.Rat).SetFrac(num, den)
	if new(big.Rat).Mul(r, r).Cmp(v) != 0 {
		return nil, fmt.Errorf("%w: the number has no exact root", ErrDomain)
	}
	return r, nil
}

// factorial multiplies 1 to n.
func factorial(args []*big.Rat) (*big.Rat, error) {
	n, err := small(args[0], "the argument of factorial", 0, maxFactorial)
	if err != nil {
		return nil, err
	}
	return new(big.Rat).SetInt(new(big.Int).MulRange(1, n)), nil
}

func lcm(x, y *big.Int) *big.Int {
	if x.Sign() == 0 || y.Sign() == 0 {
		return new(big.Int)
	}
	g := new(big.Int).GCD(nil, nil, x, y)
	return g.Mul(g.Quo(x, g), y)
}

// fold makes a function of whole numbers out of one of two.
func fold(name string, f func(x, y *big.Int) *big.Int) func([]*big.Rat) (*big.Rat, error) {
	return func(args []*big.Rat) (*big.Rat, error) {
		var v *big.Int
		for _, a := range args {
			if !a.IsInt() {
				return nil, fmt.Errorf("%w: %s is of whole numbers", ErrDomain, name)
			}
			w := new(big.Int).Abs(a.Num())
			if v == nil {
				v = w
			} else {
				v = f(v, w)
			}
			if err := bounded(new(big.Rat).SetInt(v)); err != nil {
				return nil, err
			}
		}
		return new(big.Rat).SetInt(v), nil
	}
}
