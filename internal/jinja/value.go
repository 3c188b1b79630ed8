package jinja

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Value is a value of a template: nil (none), bool, int64, float64, *big.Int
// (integers of JSON beyond 64 bits, which can only be printed and compared),
// and the types of this package. Make them with Written, Given, List, NewDict
// and FromJSON.
type Value any

// maxDepth bounds the nesting of lists and dicts in each other.
const maxDepth = 200

type (
	// undefined is what a missing name or member gives. why says what was missing.
	undefined struct{ why string }

	// A list is a list or tuple.
	list struct {
		items []Value
		tuple bool
	}

	// A Dict is a mapping that keeps the order of its keys.
	Dict struct {
		keys   []Value
		values []Value
		index  map[string]int // by hash
	}

	// A namespace is the one thing that a template can change.
	namespace struct{ d *Dict }

	// A callable is a function, method or macro.
	callable struct {
		name string
		call func(m *machine, a *args) Value
	}
)

// Written is a string that counts as the template's own, such as a special
// token.
func Written(s string) Value { return written(s) }

// Given is a string that is data.
func Given(s string) Value { return given(s) }

// List is a list of values.
func List(items ...Value) Value { return &list{items: items} }

// NewDict returns an empty mapping.
func NewDict() *Dict { return &Dict{index: map[string]int{}} }

// Set adds or replaces a member whose key is the template's own text.
func (d *Dict) Set(key string, v Value) { d.put(written(key), v) }

func (d *Dict) put(key, v Value) {
	h := hash(key)
	if i, ok := d.index[h]; ok {
		d.values[i] = v
		return
	}
	d.index[h] = len(d.keys)
	d.keys = append(d.keys, key)
	d.values = append(d.values, v)
}

func (d *Dict) get(key Value) (Value, bool) {
	if i, ok := d.index[hash(key)]; ok {
		return d.values[i], true
	}
	return nil, false
}

func (d *Dict) named(key string) (Value, bool) {
	i, ok := d.index["s"+key]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

func hashable(key Value) bool {
	switch key.(type) {
	case text, nil, bool, int64, float64, *big.Int:
		return true
	}
	return false
}

// hash returns a string that is equal for equal keys; numbers that are equal
// are the same key, as in Python.
func hash(key Value) string {
	switch k := key.(type) {
	case text:
		return "s" + k.s
	case nil:
		return "n"
	case bool:
		if k {
			return "i1"
		}
		return "i0"
	case int64:
		return "i" + strconv.FormatInt(k, 10)
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return "i" + strconv.FormatInt(int64(k), 10)
		}
		return "f" + strconv.FormatFloat(k, 'g', -1, 64)
	case *big.Int:
		return "i" + k.String()
	}
	fail("a %s cannot be a key", typeName(key))
	return ""
}

func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case text:
		return "str"
	case *list:
		if v.tuple {
			return "tuple"
		}
		return "list"
	case *Dict:
		return "dict"
	case *undefined:
		return "undefined"
	case *namespace:
		return "namespace"
	case *loop:
		return "loop"
	}
	return "function"
}

// truth is Python's bool.
func truth(v Value) bool {
	switch v := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case text:
		return v.s != ""
	case *list:
		return len(v.items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

// number returns a number as a float and, if it is one, as an integer.
func number(v Value) (f float64, i int64, isInt, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, 1, true, true
		}
		return 0, 0, true, true
	case int64:
		return float64(v), v, true, true
	case float64:
		return v, 0, false, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, 0, false, true
	}
	return 0, 0, false, false
}

// equal is Python's ==.
func (m *machine) equal(a, b Value) bool {
	defer m.enter()()
	m.use(elementCost)
	af, ai, aInt, aNum := number(a)
	bf, bi, bInt, bNum := number(b)
	if aNum || bNum {
		if aInt && bInt {
			return ai == bi
		}
		if x, ok := a.(*big.Int); ok {
			if y, ok := b.(*big.Int); ok {
				return x.Cmp(y) == 0
			}
		}
		return aNum && bNum && af == bf
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	case text:
		b, ok := b.(text)
		if !ok || len(a.s) != len(b.s) {
			return false
		}
		m.scan(len(a.s))
		return a.s == b.s
	case *list:
		b, ok := b.(*list)
		if !ok || a.tuple != b.tuple || len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			if !m.equal(a.items[i], b.items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		b, ok := b.(*Dict)
		if !ok || len(a.keys) != len(b.keys) {
			return false
		}
		for i, k := range a.keys {
			v, ok := b.get(k)
			if !ok || !m.equal(a.values[i], v) {
				return false
			}
		}
		return true
	}
	return a == b
}

// compare orders numbers, strings and lists, as Python's < does.
func (m *machine) compare(a, b Value) int {
	defer m.enter()()
	m.use(elementCost)
	if af, ai, aInt, ok := number(a); ok {
		if bf, bi, bInt, ok := number(b); ok {
			if aInt && bInt {
				return cmp.Compare(ai, bi)
			}
			return cmp.Compare(af, bf)
		}
	}
	switch a := a.(type) {
	case text:
		if b, ok := b.(text); ok {
			m.scan(min(len(a.s), len(b.s)))
			return strings.Compare(a.s, b.s)
		}
	case *list:
		if b, ok := b.(*list); ok && a.tuple == b.tuple {
			for i := range min(len(a.items), len(b.items)) {
				if !m.equal(a.items[i], b.items[i]) {
					return m.compare(a.items[i], b.items[i])
				}
			}
			return cmp.Compare(len(a.items), len(b.items))
		}
	}
	if u, ok := a.(*undefined); ok {
		failUndefined(u)
	}
	if u, ok := b.(*undefined); ok {
		failUndefined(u)
	}
	fail("cannot order %s and %s", typeName(a), typeName(b))
	return 0
}

// contains is Python's "item in container".
func (m *machine) contains(container, item Value) bool {
	switch c := container.(type) {
	case text:
		t, ok := item.(text)
		if !ok {
			fail("'in <string>' needs a string on its left, not %s", typeName(item))
		}
		m.scan(len(c.s) + len(t.s))
		return strings.Contains(c.s, t.s)
	case *list:
		return slices.ContainsFunc(c.items, func(v Value) bool { return m.equal(v, item) })
	case *Dict:
		_, ok := c.get(item)
		return ok
	case *undefined:
		return false
	}
	fail("a %s is not iterable", typeName(container))
	return false
}

// items iterates: the elements of a list, the keys of a dict, the characters of
// a string. The result must not be changed.
func (m *machine) items(v Value) []Value {
	switch v := v.(type) {
	case *list:
		return v.items
	case *Dict:
		return v.keys
	case *undefined:
		return nil
	case text:
		n := m.runes(v)
		m.use(64 * n)
		out := make([]Value, 0, n)
		for i := 0; i < len(v.s); {
			_, size := utf8.DecodeRuneInString(v.s[i:])
			out = append(out, v.slice(i, i+size))
			i += size
		}
		return out
	}
	fail("a %s is not iterable", typeName(v))
	return nil
}

// str is Python's str: what {{ v }} shows.
func (m *machine) str(v Value) text {
	switch v := v.(type) {
	case text:
		return v
	case *undefined:
		return text{}
	}
	var b builder
	m.repr(&b, v)
	return b.text()
}

// repr writes Python's repr.
func (m *machine) repr(b *builder, v Value) {
	defer m.enter()()
	m.use(elementCost)
	switch v := v.(type) {
	case nil:
		b.write(m, "None")
	case bool:
		if v {
			b.write(m, "True")
		} else {
			b.write(m, "False")
		}
	case int64:
		b.write(m, strconv.FormatInt(v, 10))
	case *big.Int:
		b.write(m, v.String())
	case float64:
		b.write(m, reprFloat(v))
	case text:
		m.reprString(b, v)
	case *list:
		open, end := "[", "]"
		if v.tuple {
			open, end = "(", ")"
			if len(v.items) == 1 {
				end = ",)"
			}
		}
		b.write(m, open)
		for i, item := range v.items {
			if i > 0 {
				b.write(m, ", ")
			}
			m.repr(b, item)
		}
		b.write(m, end)
	case *Dict:
		b.write(m, "{")
		for i, k := range v.keys {
			if i > 0 {
				b.write(m, ", ")
			}
			m.repr(b, k)
			b.write(m, ": ")
			m.repr(b, v.values[i])
		}
		b.write(m, "}")
	case *undefined:
		b.write(m, "Undefined")
	case *namespace:
		b.write(m, "<Namespace ")
		m.repr(b, v.d)
		b.write(m, ">")
	case *callable:
		b.write(m, "<function "+v.name+">")
	default:
		b.write(m, "<"+typeName(v)+">")
	}
}

// reprFloat is the shortest decimal that reads back as f, in Python's form.
func reprFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f != f:
		return "nan"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		return s // Go also writes at least two digits of exponent
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// reprString writes a string literal: in single quotes, unless there are single
// and no double quotes in it.
func (m *machine) reprString(b *builder, t text) {
	quote := '\''
	if strings.ContainsRune(t.s, '\'') && !strings.ContainsRune(t.s, '"') {
		quote = '"'
	}
	b.write(m, string(quote))
	b.join(m, m.mapRunes(t, func(r rune) string {
		switch {
		case r == quote || r == '\\':
			return "\\" + string(r)
		case r == '\n':
			return `\n`
		case r == '\r':
			return `\r`
		case r == '\t':
			return `\t`
		case unicode.IsPrint(r):
			return string(r)
		case r < 0x100:
			return `\x` + hex(r, 2)
		case r < 0x10000:
			return `\u` + hex(r, 4)
		}
		return `\U` + hex(r, 8)
	}))
	b.write(m, string(quote))
}

func hex(r rune, digits int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(0, digits-len(s))) + s
}
