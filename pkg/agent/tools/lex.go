package tools

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A symbol is what an expression is made of: a number, a name, or an operator.
type symbol struct {
	text   string // of operators: + - * / // % ** ( ) , and "" at the end
	number *big.Rat
	name   bool
	at     int // byte offset
}

// signs are characters that mean the same as an operator.
var signs = map[rune]string{'+': "+", '-': "-", '−': "-", '–': "-", '*': "*", '×': "*", '·': "*", '/': "/", '÷': "/", '%': "%", '^': "**", '(': "(", ')': ")", ',': ","}

// lex splits an expression.
func lex(text string) ([]symbol, error) {
	var list []symbol
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		rest := text[i:]
		switch {
		case unicode.IsSpace(r):
			i += size
		case r >= '0' && r <= '9' || r == '.':
			n := numberLen(rest)
			v, err := number(rest[:n])
			if err != nil {
				return nil, err
			}
			list = append(list, symbol{rest[:n], v, false, i})
			i += n
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_':
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
			if n < 0 {
				n = len(rest)
			}
			list = append(list, symbol{rest[:n], nil, true, i})
			i += n
		case strings.HasPrefix(rest, "**"), strings.HasPrefix(rest, "//"):
			list = append(list, symbol{rest[:2], nil, false, i})
			i += 2
		case signs[r] != "":
			list = append(list, symbol{signs[r], nil, false, i})
			i += size
		default:
			return nil, fmt.Errorf("%w: unexpected %q", ErrExpression, r)
		}
	}
	return append(list, symbol{at: len(text)}), nil
}

// numberLen returns the length of the number that a text begins with: digits,
// with a point, and an exponent if digits follow.
func numberLen(s string) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	n := digits(0)
	if n < len(s) && s[n] == '.' {
		n = digits(n + 1)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		e := n + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if end := digits(e); end > e {
			n = end
		}
	}
	return n
}

// number reads a number, whose exponent is bounded because it is written out.
func number(s string) (*big.Rat, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if exponent != "" {
		if e, err := strconv.Atoi(exponent); err != nil || e < -maxDecimals || e > maxDecimals {
			return nil, fmt.Errorf("%w: the exponent of %.40s", ErrTooLarge, s)
		}
	}
	if strings.Trim(mantissa, ".") == "" {
		return nil, fmt.Errorf(`%w: unexpected "."`, ErrExpression)
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("%w: %.40q is no number", ErrExpression, s)
	}
	return v, bounded(v)
}
