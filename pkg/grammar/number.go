package grammar

import (
	"math/big"
	"strings"
	"sync"
)

// A bound of numbers.
type bound struct {
	at        decimal
	exclusive bool
}

// A numberSpec says which numbers are meant.
type numberSpec struct {
	integer    bool
	lower      *bound
	upper      *bound
	multipleOf *decimal
}

// numberBytes are the bytes of numbers.
const numberBytes = "0123456789-+.eE"

// compile returns the automaton of the spellings of the numbers, or nil where
// there is none:
//   - integers: digits without a fraction or an exponent;
//   - numbers with bounds: decimal notation, and scientific notation as
//     encoding/json prints it (one digit other than 0 before the point, an
//     exponent below -6 or above 20), so that the mantissa decides how the
//     exponent compares before the exponent is read;
//   - multiples of a number: decimal notation;
//   - any number: all notations, within the range of a float64.
func (n *numberSpec) compile(w *work) (*bytesDFA, error) {
	a := &numberAutomaton{free: !n.integer && n.lower == nil && n.upper == nil && n.multipleOf == nil, integer: n.integer}
	a.sides[0] = newMagnitude(n.lower, n.upper)
	a.sides[1] = newMagnitude(negated(n.upper), negated(n.lower))
	if m := n.multipleOf; m != nil {
		// A multiple of p·10^zeros, or of p/10^places.
		a.zeros, a.places = max(m.exponent, 0), max(-m.exponent, 0)
		if !m.coefficient.IsInt64() || m.coefficient.Int64() >= 1<<31 {
			return nil, unsupportedf("a factor of %v is too large", m.coefficient)
		}
		a.modulus = m.coefficient.Int64()
		if n.integer && a.places > 0 {
			// Whole multiples of p/10^places are the multiples of this.
			g := new(big.Int).GCD(nil, nil, m.coefficient, new(big.Int).Exp(ten, big.NewInt(int64(a.places)), nil))
			whole := newDecimal(new(big.Int).Quo(m.coefficient, g), 0)
			a.modulus, a.zeros, a.places = whole.coefficient.Int64(), whole.exponent, 0
		}
	}
	return explore(numberState{zeros: -1}, numberBytes, a.step, a.accept, w)
}

// The automata of all numbers and of all integers are the same in all schemas.
var (
	anyNumber  = sync.OnceValue(func() *bytesDFA { return known(numberSpec{}) })
	anyInteger = sync.OnceValue(func() *bytesDFA { return known(numberSpec{integer: true}) })
)

func known(n numberSpec) *bytesDFA {
	b, err := n.compile(&work{left: 1 << 24})
	if err != nil {
		panic(err) // a constant
	}
	return b
}

// compileOrKnown is compile.
func (n *numberSpec) compileOrKnown(w *work) (*bytesDFA, error) {
	switch {
	case n.lower != nil || n.upper != nil || n.multipleOf != nil:
		return n.compile(w)
	case n.integer:
		return anyInteger(), nil
	}
	return anyNumber(), nil
}

func negated(b *bound) *bound {
	if b == nil {
		return nil
	}
	return &bound{b.at.neg(), b.exclusive}
}

// A magnitude is the range of absolute values of one sign.
type magnitude struct {
	none         bool // no value has this sign
	lower, upper *limit
}

// A limit is a bound above or at 0, as digits.
type limit struct {
	whole, fraction string
	significant     string // both, without zeros at the ends
	exponent        int    // of the first significant digit
	exclusive       bool
}

func newLimit(b bound) *limit {
	l := &limit{exclusive: b.exclusive}
	l.whole, l.fraction = b.at.digits()
	l.significant = strings.TrimLeft(l.whole+l.fraction, "0")
	l.exponent = len(l.whole) - 1
	if l.whole == "" {
		l.exponent = len(l.significant) - len(l.fraction) - 1
	}
	l.significant = strings.TrimRight(l.significant, "0")
	return l
}

func newMagnitude(lower, upper *bound) magnitude {
	var m magnitude
	if upper != nil {
		if upper.at.sign() < 0 {
			m.none = true
			return m
		}
		m.upper = newLimit(*upper)
	}
	if lower != nil && lower.at.sign() >= 0 && (lower.at.sign() > 0 || lower.exclusive) {
		m.lower = newLimit(*lower)
	}
	return m
}

// maxFloat is the largest exponent of a float64, whose mantissa then is at most
// 1.7976931348623157.
var maxFloat = newLimit(bound{at: parseDecimal("1.7976931348623157e308")})

// Phases of a number.
const (
	numBegin = iota
	numMinus
	numZero     // the digit 0
	numWhole    // other digits
	numPoint    // the point
	numFraction // digits after it
	numE        // e or E
	numSign     // the exponent's sign
	numExponent // the exponent's digits
)

// A numberState is what must be known of the bytes read so far.
type numberState struct {
	phase    uint8
	negative bool
	// How the digits compare with those of the lower and upper limit, and how
	// many digits were read, as far as it matters.
	lower, upper int8
	whole        int16
	fraction     int16
	// The same for the significant digits, while scientific notation is open.
	scientific             bool
	sigLower, sigUpper     int8
	significant            int16
	rest                   int64 // modulo the modulus
	zeros                  int16 // read after a multiple; -1: no multiple yet
	expLow, expHigh        int16 // exponents in range
	expNegative, expLedBy0 bool
	expDigits              int8
	exp                    int16
	general                bool
}

type numberAutomaton struct {
	free    bool
	integer bool
	sides   [2]magnitude // not negative, negative
	modulus int64        // 0: no multipleOf
	zeros   int
	places  int
}

func (a *numberAutomaton) side(s numberState) *magnitude {
	if s.negative {
		return &a.sides[1]
	}
	return &a.sides[0]
}

// lastExponent is the state after an exponent of as many digits as there can be.
var lastExponent = numberState{phase: numExponent, zeros: -1, expLow: 21, expHigh: 21, exp: 21, expDigits: 3}

func (a *numberAutomaton) step(s numberState, c byte) (numberState, bool) {
	m := a.side(s)
	switch {
	case c == '-' && s.phase == numBegin:
		s.phase, s.negative = numMinus, true
		return s, !a.sides[1].none
	case c >= '0' && c <= '9' && s.phase <= numFraction:
		return a.digit(s, m, c)
	case c == '.' && (s.phase == numZero || s.phase == numWhole) && !a.integer:
		s.lower, s.upper = s.compareWhole(m.lower, s.lower), s.compareWhole(m.upper, s.upper)
		s.phase, s.whole = numPoint, 0
		return s, s.upper <= 0 || m.upper == nil || s.scientific
	case (c == 'e' || c == 'E') && (s.phase == numZero || s.phase == numWhole || s.phase == numFraction):
		return a.exponent(s, m, c)
	case (c == '+' || c == '-') && s.phase == numE:
		s.phase, s.expNegative = numSign, c == '-'
		return s, s.general || c == '-' && s.expLow <= -7 || c == '+' && s.expHigh >= 21
	case c >= '0' && c <= '9' && (s.phase == numSign || s.phase == numExponent || s.phase == numE && s.general):
		if s.expDigits == 0 {
			s.expLedBy0 = c == '0'
		}
		s.phase = numExponent
		s.expDigits++
		s.exp = s.exp*10 + int16(c-'0')
		if s.expDigits >= 3 { // nothing follows, so one state is enough
			return lastExponent, s.expDigits == 3 && a.accept(s)
		}
		return s, true
	}
	return s, false
}

// digit reads a digit of the mantissa.
func (a *numberAutomaton) digit(s numberState, m *magnitude, c byte) (numberState, bool) {
	zero := s.phase == numZero
	if zero || m.none {
		return s, false
	}
	if s.phase <= numMinus {
		s.phase = numWhole
		if c == '0' {
			s.phase = numZero
		} else {
			s.scientific = !a.integer && a.modulus == 0
		}
	} else if s.phase == numWhole {
		s.scientific = false
	} else {
		s.phase = numFraction
	}
	if s.phase == numFraction {
		s.lower = compareDigit(s.lower, m.lower.fractionDigit(s.fraction), c)
		s.upper = compareDigit(s.upper, m.upper.fractionDigit(s.fraction), c)
		if m.upper != nil && s.upper > 0 && !s.scientific { // an exponent may make it small
			return s, false
		}
	} else if s.phase == numWhole {
		s.lower = compareDigit(s.lower, m.lower.wholeDigit(s.whole), c)
		s.upper = compareDigit(s.upper, m.upper.wholeDigit(s.whole), c)
		s.whole++
		if m.upper != nil && int(s.whole) > len(m.upper.whole) && !s.scientific {
			return s, false
		}
		if longest := max(m.lower.wholeLen(), m.upper.wholeLen()) + 1; int(s.whole) > longest {
			s.whole = int16(longest)
		}
	}
	if s.scientific {
		s.sigLower = compareDigit(s.sigLower, m.lower.significantDigit(s.significant), c)
		s.sigUpper = compareDigit(s.sigUpper, m.sciUpper().significantDigit(s.significant), c)
		s.significant = min(s.significant+1, int16(max(m.lower.significantLen(), m.sciUpper().significantLen())))
	} else {
		s.sigLower, s.sigUpper, s.significant = 0, 0, 0
	}
	if a.modulus > 0 {
		if s.phase == numFraction && int(s.fraction) >= a.places {
			if c != '0' {
				return s, false
			}
		} else {
			s.rest = (s.rest*10 + int64(c-'0')) % a.modulus
			switch {
			case a.zeros == 0:
			case s.zeros >= 0 && c == '0' && s.rest == 0:
				s.zeros = min(s.zeros+1, int16(a.zeros))
			case s.rest == 0:
				s.zeros = 0
			default:
				s.zeros = -1
			}
			if s.phase == numZero && a.zeros > 0 {
				s.zeros = int16(a.zeros)
			}
		}
	}
	if s.phase == numFraction {
		longest := max(m.lower.fractionLen(), m.upper.fractionLen(), a.places)
		s.fraction = min(s.fraction+1, int16(longest))
	}
	return s, true
}

// exponent reads e or E.
func (a *numberAutomaton) exponent(s numberState, m *magnitude, c byte) (numberState, bool) {
	if a.integer || a.modulus > 0 || !a.free && (!s.scientific || c != 'e') {
		return s, false
	}
	// From here on the sign of the number makes no difference.
	t := numberState{phase: numE, general: a.free, expLow: 1, expHigh: 0, zeros: -1}
	if s.scientific {
		low, high := -324, 308
		if l := m.lower; l != nil && len(l.significant) > 0 {
			low = max(low, l.exponent)
			order := compareEnd(s.sigLower, l.significant, int(s.significant))
			if order < 0 || order == 0 && l.exclusive {
				low = max(low, l.exponent+1)
			}
		}
		u := m.sciUpper()
		if len(u.significant) == 0 {
			high = -1000
		} else {
			high = min(high, u.exponent)
			order := compareEnd(s.sigUpper, u.significant, int(s.significant))
			if order > 0 || order == 0 && u.exclusive {
				high = min(high, u.exponent-1)
			}
		}
		// Only exponents below -6 and above 20 are spelled so: the rest of the
		// range makes no difference.
		if high < 21 {
			high = min(high, -7)
		}
		if low > -7 {
			low = max(low, 21)
		}
		t.expLow, t.expHigh = int16(low), int16(high)
	}
	return t, t.general || t.expLow <= t.expHigh
}

func (a *numberAutomaton) accept(s numberState) bool {
	m := a.side(s)
	switch s.phase {
	case numExponent:
		e := s.exp
		if s.expNegative {
			e = -e
		}
		canonical := !s.expLedBy0 && (e <= -7 || e >= 21) && e >= s.expLow && e <= s.expHigh
		return canonical || s.general && s.expDigits <= 2
	case numZero, numWhole, numFraction:
	default:
		return false
	}
	lower, upper := s.lower, s.upper
	if s.phase != numFraction {
		lower, upper = s.compareWhole(m.lower, lower), s.compareWhole(m.upper, upper)
	}
	if l := m.lower; l != nil {
		order := compareEnd(lower, l.fraction, int(s.fraction))
		if order < 0 || order == 0 && l.exclusive {
			return false
		}
	}
	if u := m.upper; u != nil {
		order := compareEnd(upper, u.fraction, int(s.fraction))
		if order > 0 || order == 0 && u.exclusive {
			return false
		}
	}
	if m.none {
		return false
	}
	if a.modulus > 0 {
		if int(s.zeros) < a.zeros && a.zeros > 0 {
			return false
		}
		rest := s.rest
		for i := int(s.fraction); i < a.places; i++ {
			rest = rest * 10 % a.modulus
		}
		return rest == 0
	}
	return true
}

// compareWhole tells how the whole part compares with a limit's, when it has
// ended.
func (s numberState) compareWhole(l *limit, order int8) int8 {
	if l == nil {
		return 0
	}
	n := int(s.whole)
	if s.phase == numZero {
		n = 0
	}
	switch {
	case n < len(l.whole):
		return -1
	case n > len(l.whole):
		return 1
	}
	return order
}

// compareDigit goes on comparing, digit by digit; other is 0 without a limit.
func compareDigit(order int8, other, c byte) int8 {
	switch {
	case other == 0 || order != 0:
		return order
	case c < other:
		return -1
	case c > other:
		return 1
	}
	return 0
}

// compareEnd ends a comparison in which n digits of the limit were met; the
// last digit of a limit is not 0.
func compareEnd(order int8, digits string, n int) int8 {
	if order == 0 && n < len(digits) {
		return -1
	}
	return order
}

// sciUpper is the upper limit of scientific notation.
func (m *magnitude) sciUpper() *limit {
	if m.upper == nil {
		return maxFloat
	}
	return m.upper
}

func digitAt(s string, i int16) byte {
	if int(i) < len(s) {
		return s[i]
	}
	return '0'
}

func (l *limit) wholeDigit(i int16) byte {
	if l == nil || int(i) >= len(l.whole) {
		return 0
	}
	return l.whole[i]
}

func (l *limit) fractionDigit(i int16) byte {
	if l == nil {
		return 0
	}
	return digitAt(l.fraction, i)
}

func (l *limit) significantDigit(i int16) byte {
	if l == nil {
		return 0
	}
	return digitAt(l.significant, i)
}

func (l *limit) wholeLen() int {
	if l == nil {
		return 0
	}
	return len(l.whole)
}

func (l *limit) fractionLen() int {
	if l == nil {
		return 0
	}
	return len(l.fraction)
}

func (l *limit) significantLen() int {
	if l == nil {
		return 0
	}
	return len(l.significant)
}
