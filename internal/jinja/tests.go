package jinja

import (
	"math"
	"strings"
	"unicode"
)

// test evaluates "x is name".
func (m *machine) test(x *testExpr) Value {
	defer located(x.line)
	v := m.eval(x.x)
	a := m.args(&x.args)
	return m.passes(x.name, v, a) != x.negated
}

// passes applies a test by its name (jinja2/tests.py).
func (m *machine) passes(name string, v Value, a *args) bool {
	f, i, isInt, isNum := number(v)
	_, isBool := v.(bool)
	none := func() { m.params("test "+name, a, 0) }
	other := func() Value { return m.params("test "+name, a, 1, "other").vals[0] }
	switch name {
	case "defined", "undefined":
		none()
		_, undef := v.(*undefined)
		return undef == (name == "undefined")
	case "none":
		none()
		return v == nil
	case "boolean":
		none()
		return isBool
	case "true", "false":
		none()
		return isBool && v.(bool) == (name == "true")
	case "integer":
		none()
		return typeName(v) == "int"
	case "float":
		none()
		_, ok := v.(float64)
		return ok
	case "number":
		none()
		return isNum
	case "string":
		none()
		_, ok := v.(text)
		return ok
	case "mapping":
		none()
		_, ok := v.(*Dict)
		return ok
	case "sequence", "iterable":
		none()
		switch v.(type) {
		case text, *list, *Dict, *undefined:
			return true
		}
		return false
	case "callable":
		none()
		_, ok := v.(*callable)
		return ok
	case "even", "odd":
		none()
		if !isNum {
			fail("test %s: want a number, found %s", name, typeName(v))
		}
		if !isInt {
			r := math.Abs(math.Mod(f, 2))
			return name == "even" && r == 0 || name == "odd" && r == 1
		}
		return (i%2 == 0) == (name == "even")
	case "divisibleby":
		_, n, ok, _ := number(other())
		if !isInt || !ok || n == 0 {
			fail("test divisibleby: want integers other than zero")
		}
		return n == -1 || i%n == 0
	case "lower", "upper":
		none()
		return isCased(m.str(v).s, name == "upper")
	case "sameas":
		o := other()
		switch v.(type) {
		case text, int64, float64:
			return typeName(v) == typeName(o) && m.equal(v, o)
		}
		return v == o
	case "eq", "equalto", "==":
		return m.equal(v, other())
	case "ne", "!=":
		return !m.equal(v, other())
	case "lt", "lessthan", "<":
		return m.holds("<", v, other())
	case "le", "<=":
		return m.holds("<=", v, other())
	case "gt", "greaterthan", ">":
		return m.holds(">", v, other())
	case "ge", ">=":
		return m.holds(">=", v, other())
	case "in":
		return m.contains(other(), m.key(v))
	case "filter":
		return filterNamed(m.str(v).s) != nil
	}
	fail("the test %q is not supported", name)
	return false
}

// isCased is Python's str.islower or str.isupper: all cased letters have the
// case, and there is one.
func isCased(s string, upper bool) bool {
	other := unicode.IsUpper
	same := unicode.IsLower
	if upper {
		other, same = same, other
	}
	return strings.IndexFunc(s, other) < 0 && strings.IndexFunc(s, same) >= 0
}
