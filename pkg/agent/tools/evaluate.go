package tools

import (
	"context"
	"fmt"
	"math/big"
	"slices"
)

// An evaluation computes while it parses, by recursive descent:
//
//	sum     = product { (+|-) product }
//	product = signed { (*|/|//|%) signed }
//	signed  = (+|-) signed | power
//	power   = operand [ ** signed ]          so that -2**2 is -4 and 2**3**2 is 2**9
//	operand = number | name ( sum {, sum} ) | ( sum )
type evaluation struct {
	ctx     context.Context
	symbols []symbol
	depth   int
}

// next takes the next symbol; the one at the end stays.
func (e *evaluation) next() symbol {
	s := e.symbols[0]
	if len(e.symbols) > 1 {
		e.symbols = e.symbols[1:]
	}
	return s
}

// accept takes the next symbol if it is one of these operators.
func (e *evaluation) accept(operators ...string) (string, bool) {
	s := e.symbols[0]
	if s.number != nil || s.name || s.text == "" || !slices.Contains(operators, s.text) {
		return "", false
	}
	e.next()
	return s.text, true
}

func (e *evaluation) sum() (*big.Rat, error) { return e.chain(e.product, "+", "-") }

func (e *evaluation) product() (*big.Rat, error) { return e.chain(e.signed, "*", "/", "//", "%") }

// chain computes operands with operators of one rank between them, from left to
// right.
func (e *evaluation) chain(operand func() (*big.Rat, error), operators ...string) (*big.Rat, error) {
	v, err := operand()
	for err == nil {
		op, ok := e.accept(operators...)
		if !ok {
			break
		}
		var w *big.Rat
		if w, err = operand(); err == nil {
			v, err = e.apply(op, v, w)
		}
	}
	return v, err
}

// apply computes one operation.
func (e *evaluation) apply(op string, v, w *big.Rat) (*big.Rat, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	if w.Sign() == 0 && (op == "/" || op == "//" || op == "%") {
		return nil, fmt.Errorf("%w: division by zero", ErrDomain)
	}
	r := new(big.Rat)
	switch op {
	case "+":
		r.Add(v, w)
	case "-":
		r.Sub(v, w)
	case "*":
		r.Mul(v, w)
	case "/":
		r.Quo(v, w)
	case "//":
		r.SetInt(floor(r.Quo(v, w)))
	case "%":
		q := new(big.Rat).SetInt(floor(r.Quo(v, w)))
		r.Sub(v, q.Mul(q, w))
	}
	return r, bounded(r)
}

// floor rounds down. The denominator is positive, so that Euclid's division is
// the one.
func floor(v *big.Rat) *big.Int { return new(big.Int).Div(v.Num(), v.Denom()) }

// enter counts what is in each other, so that no input exhausts the stack.
func (e *evaluation) enter() error {
	if e.depth++; e.depth > maxNesting {
		return fmt.Errorf("%w: nested deeper than %d", ErrTooLarge, maxNesting)
	}
	return nil
}

func (e *evaluation) signed() (*big.Rat, error) {
	op, ok := e.accept("+", "-")
	if !ok {
		return e.power()
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer func() { e.depth-- }()
	v, err := e.signed()
	if err == nil && op == "-" {
		v = new(big.Rat).Neg(v)
	}
	return v, err
}

func (e *evaluation) power() (*big.Rat, error) {
	v, err := e.operand()
	if err != nil {
		return nil, err
	}
	if _, ok := e.accept("**"); !ok {
		return v, nil
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer func() { e.depth-- }()
	w, err := e.signed()
	if err != nil {
		return nil, err
	}
	return e.raise(v, w)
}

// raise computes a power, whose size is known before it is computed.
func (e *evaluation) raise(v, w *big.Rat) (*big.Rat, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	if !w.IsInt() {
		return nil, fmt.Errorf("%w: an exponent must be a whole number", ErrDomain)
	}
	if v.Sign() == 0 && w.Sign() < 0 {
		return nil, fmt.Errorf("%w: division by zero", ErrDomain)
	}
	num, den := v.Num(), v.Denom()
	if num.BitLen() <= 1 && den.BitLen() <= 1 { // 0, 1, -1
		if w.Num().Bit(0) == 0 && w.Sign() != 0 {
			v = new(big.Rat).Abs(v)
		}
		if w.Sign() == 0 {
			v = big.NewRat(1, 1)
		}
		return v, nil
	}
	// A number of b bits is at least 2^(b-1).
	bits := int64(num.BitLen() - 1 + den.BitLen() - 1)
	if n := new(big.Int).Abs(w.Num()); !n.IsInt64() || n.Int64() > maxBits || n.Int64()*bits > maxBits {
		return nil, fmt.Errorf("%w: a power of more than %d digits", ErrTooLarge, maxBits*3/10)
	}
	n := new(big.Int).Abs(w.Num())
	r := new(big.Rat).SetFrac(new(big.Int).Exp(num, n, nil), new(big.Int).Exp(den, n, nil))
	if w.Sign() < 0 {
		r.Inv(r)
	}
	return r, bounded(r)
}

func (e *evaluation) operand() (*big.Rat, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer func() { e.depth-- }()
	s := e.next()
	switch {
	case s.number != nil:
		return s.number, nil
	case s.name:
		return e.function(s)
	case s.text == "(":
		v, err := e.sum()
		if err != nil {
			return nil, err
		}
		return v, e.close()
	}
	return nil, unexpected(s)
}

// close takes a closing parenthesis.
func (e *evaluation) close() error {
	if _, ok := e.accept(")"); !ok {
		return unexpected(e.symbols[0])
	}
	return nil
}

// function computes a function of the arguments that follow.
func (e *evaluation) function(name symbol) (*big.Rat, error) {
	f, ok := functions[name.text]
	if !ok {
		return nil, fmt.Errorf("%w: unknown name %.40q; the functions are %s", ErrExpression, name.text, functionNames())
	}
	if _, ok := e.accept("("); !ok {
		return nil, fmt.Errorf("%w: %s needs its arguments in parentheses", ErrExpression, name.text)
	}
	var args []*big.Rat
	for {
		v, err := e.sum()
		if err != nil {
			return nil, err
		}
		args = append(args, v)
		if _, more := e.accept(","); !more {
			break
		}
	}
	if err := e.close(); err != nil {
		return nil, err
	}
	if len(args) < f.least || len(args) > f.most {
		return nil, fmt.Errorf("%w: %s of %d arguments", ErrExpression, name.text, len(args))
	}
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	v, err := f.compute(args)
	if err != nil {
		return nil, err
	}
	return v, bounded(v)
}
