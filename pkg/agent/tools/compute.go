package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/leveret-os/leveret/pkg/agent"
)

var (
	// ErrExpression means an expression that cannot be understood.
	ErrExpression = errors.New("bad expression")
	// ErrTooLarge means an expression, or a number on the way to its value, that
	// is too large to compute with.
	ErrTooLarge = errors.New("too large")
	// ErrDomain means an operation that has no result: a division by zero, the
	// root of a number that has no exact one.
	ErrDomain = errors.New("no result")
)

// Bounds of compute. Numerator and denominator of every number on the way have
// maxBits together, which bounds the time of each operation.
const (
	maxExpression = 4096 // bytes
	maxNesting    = 200  // parentheses, signs and powers in each other
	maxBits       = 1 << 15
	maxDecimals   = 1000 // digits after the point that are written out
	rounded       = 20   // significant digits of what cannot be written out
)

const computeSchema = `{"type":"object","properties":{` +
	`"expression":{"type":"string","description":"for example (12.5 + 3) * 2 ** 10"}},` +
	`"required":["expression"],"additionalProperties":false}`

// Compute returns the tool compute: exact arithmetic on whole numbers and
// decimals of any length up to some ten thousand digits. It knows + - * / %
// (the sign of a remainder is that of the divisor), // (division, rounded
// down), ** (or ^) with whole exponents, parentheses, and the functions abs,
// ceil, factorial, floor, gcd, lcm, max, min, round (half away from zero; to
// digits after the point, if a second argument says so) and sqrt (where it is
// exact). A value that has no finite decimals is rounded to 20 significant
// digits and said to be.
func Compute() agent.Tool {
	return agent.NewTool("compute", "Calculate exactly: + - * / // % ** ( ) and abs ceil factorial floor gcd lcm max min round sqrt.", computeSchema,
		func(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
			var args struct{ Expression string }
			if err := decode(raw, &args); err != nil {
				return agent.Result{}, err
			}
			v, err := evaluate(ctx, args.Expression)
			if err != nil {
				return agent.Result{}, err
			}
			return agent.Result{Text: format(v)}, nil
		})
}

// evaluate computes the value of an expression.
func evaluate(ctx context.Context, text string) (*big.Rat, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("%w: an expression of %d bytes, the most is %d", ErrTooLarge, len(text), maxExpression)
	}
	symbols, err := lex(text)
	if err != nil {
		return nil, err
	}
	e := &evaluation{ctx: ctx, symbols: symbols}
	v, err := e.sum()
	if err != nil {
		return nil, err
	}
	if s := e.next(); s.text != "" {
		return nil, unexpected(s)
	}
	return v, nil
}

// unexpected is the error about a symbol that does not belong where it is.
func unexpected(s symbol) error {
	switch s.text {
	case "":
		return fmt.Errorf("%w: it ends too early", ErrExpression)
	case ",":
		return fmt.Errorf(`%w: unexpected ","; numbers are written without separators`, ErrExpression)
	}
	return fmt.Errorf("%w: unexpected %.40q at character %d", ErrExpression, s.text, s.at+1)
}

// bounded reports a number that is too large.
func bounded(v *big.Rat) error {
	if v.Num().BitLen()+v.Denom().BitLen() > maxBits {
		return fmt.Errorf("%w: a number of more than %d digits", ErrTooLarge, maxBits*3/10)
	}
	return nil
}

// format writes a number in decimals.
func format(v *big.Rat) string {
	if v.IsInt() {
		return v.Num().String()
	}
	if n, ok := decimals(v.Denom()); ok && n <= maxDecimals {
		return v.FloatString(n)
	}
	// The first significant digit is at about the place where the numerator is
	// shorter than the denominator.
	num := new(big.Int).Abs(v.Num())
	after := max(1, rounded-len(new(big.Int).Quo(num, v.Denom()).Text(10)))
	if num.Cmp(v.Denom()) < 0 {
		after = rounded + len(v.Denom().Text(10)) - len(num.Text(10))
	}
	text := v.FloatString(after) + " (rounded"
	if exact := v.RatString(); len(exact) <= 40 {
		text += "; exactly " + exact
	}
	return text + ")"
}

// decimals returns how many digits after the point a fraction has whose
// denominator, in lowest terms, is d; ok is false if they do not end.
func decimals(d *big.Int) (n int, ok bool) {
	twos := int(d.TrailingZeroBits())
	rest := new(big.Int).Rsh(d, uint(twos))
	fives := 0
	five, q, r := big.NewInt(5), new(big.Int), new(big.Int)
	for rest.BitLen() > 1 {
		q.QuoRem(rest, five, r)
		if r.Sign() != 0 {
			return 0, false
		}
		rest, q = q, rest
		if fives++; fives > maxDecimals {
			return fives, true
		}
	}
	return max(twos, fives), true
}

// scale returns 10 to the n.
func scale(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// small returns the value of a whole number in a range.
func small(v *big.Rat, what string, least, most int64) (int64, error) {
	if !v.IsInt() || !v.Num().IsInt64() || v.Num().Int64() < least || v.Num().Int64() > most {
		return 0, fmt.Errorf("%w: %s must be a whole number from %s to %s", ErrDomain, what, strconv.FormatInt(least, 10), strconv.FormatInt(most, 10))
	}
	return v.Num().Int64(), nil
}

// names of the functions, for error messages.
func functionNames() string { return strings.Join(functionList, " ") }
