package tasks

import (
	"strconv"
	"strings"
)

// expression returns an expression in digits and operators.
func (m maker) expression() string {
	if m.chance(0.06) {
		return pick(m.random,
			"sqrt("+square(m.between(1, 40))+")", "factorial("+strconv.Itoa(m.between(2, 25))+")",
			"gcd("+m.whole()+", "+m.whole()+")", "max("+m.whole()+", "+m.whole()+")", "min("+m.whole()+", "+m.whole()+", "+m.whole()+")",
			"abs(-"+m.whole()+")", "round("+m.decimal()+")", "lcm("+strconv.Itoa(m.between(2, 30))+", "+strconv.Itoa(m.between(2, 30))+")")
	}
	if m.chance(0.10) {
		return m.whole() + pick(m.random, " ** ", "**", "^", " ^ ") + strconv.Itoa(m.between(2, 12))
	}
	n := pick(m.random, 1, 1, 1, 1, 2, 2, 2, 3, 4)
	terms := []string{m.operand()}
	for range n {
		op := pick(m.random, "+", "-", "*", "/", "+", "-", "*", "+", "*", "%", "//")
		second := m.operand()
		if (op == "/" || op == "%" || op == "//") && (second == "0" || m.chance(0.7)) {
			second = pick(m.random, "2", "4", "5", "8", "10", "20", "25", "100")
		}
		terms = append(terms, op, second)
	}
	if n > 1 && m.chance(0.5) {
		i := 2 * m.IntN(n)
		j := i + 2
		if n > 2 && m.chance(0.3) && j+2 < len(terms) {
			j += 2
		}
		terms[i], terms[j] = "("+terms[i], terms[j]+")"
	}
	if m.chance(0.04) {
		terms[0] = "-" + terms[0]
	}
	return strings.Join(terms, pick(m.random, " ", " ", " ", ""))
}

func (m maker) operand() string {
	x := m.Float64()
	switch {
	case x < 0.08:
		return m.decimal()
	case x < 0.11:
		return strconv.Itoa(m.between(1, 9)) + m.digits(m.between(6, 24))
	}
	return m.whole()
}

func square(n int) string { return strconv.Itoa(n * n) }

var units = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty")
var tens = strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety")

// spelled returns a number in words and in digits.
func (m maker) spelled() (word, digits string) {
	x, small := m.Float64(), 0.75
	if m.rich {
		small = 0.6
	}
	switch {
	case x < small:
		n := m.IntN(len(units))
		return units[n], strconv.Itoa(n)
	case x < 0.9:
		i, n := m.IntN(len(tens)), m.IntN(10)
		if n == 0 {
			return tens[i], strconv.Itoa(10 * (i + 2))
		}
		return tens[i] + "-" + units[n], strconv.Itoa(10*(i+2) + n)
	}
	return pick(m.random, "a hundred", "one hundred", "hundred"), "100"
}

// values chooses what the variables of an expression stand for, as text and as
// digits.
func (m maker) values(expr string) (text, digits map[byte]string) {
	text, digits = map[byte]string{}, map[byte]string{}
	divisor, words := byte(0), 0.12
	if m.rich { // they are learned slowly
		words = 0.24
	}
	for _, op := range []string{"/ ", "% "} {
		if i := strings.Index(expr, op); i >= 0 {
			divisor = expr[i+2]
		}
	}
	for _, c := range []byte("abcn") {
		v := m.operand()
		if c == divisor && (v == "0" || m.chance(0.6)) {
			v = pick(m.random, "2", "4", "5", "8", "10", "20", "25", "100", strconv.Itoa(m.between(2, 12)))
		}
		if strings.Contains(expr, "gcd") || strings.Contains(expr, "lcm") {
			v = strconv.Itoa(m.between(1, 500))
		}
		text[c], digits[c] = v, v
		if m.chance(words) && c != divisor {
			text[c], digits[c] = m.spelled()
		}
	}
	n := strconv.Itoa(m.between(2, 9))
	text['p'], digits['p'] = n, n
	n = square(m.between(2, 60))
	text['s'], digits['s'] = n, n
	return text, digits
}

// substitute puts values in the place of the variables of an expression, which
// are its words of one letter.
func substitute(expr string, values map[byte]string) string {
	var b strings.Builder
	for i := 0; i < len(expr); {
		j := i
		for j < len(expr) && isLetter(expr[j]) {
			j++
		}
		if v, ok := values[expr[i]]; ok && j == i+1 {
			b.WriteString(v)
		} else {
			j = max(j, i+1)
			b.WriteString(expr[i:j])
		}
		i = j
	}
	return b.String()
}
