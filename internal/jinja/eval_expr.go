package jinja

import (
	"fmt"
	"math"
	"strings"
)

func failUndefined(u *undefined) { fail("%s", u.why) }

func (m *machine) eval(x expr) Value {
	defer m.enter()()
	m.use(stepCost)
	switch x := x.(type) {
	case *constExpr:
		return x.v
	case *nameExpr:
		return m.lookup(x.name)
	case *attrExpr:
		return m.attr(m.eval(x.x), x.name)
	case *itemExpr:
		return m.item(m.eval(x.x), m.eval(x.key))
	case *sliceExpr:
		return m.slice(x)
	case *callExpr:
		defer located(x.line)
		fn := m.eval(x.fn)
		return m.call(fn, m.args(&x.args))
	case *filterExpr:
		return m.filter(x, m.eval(x.x))
	case *testExpr:
		return m.test(x)
	case *notExpr:
		return !truth(m.eval(x.x))
	case *negExpr:
		return negate(m.eval(x.x), x.plus)
	case *andExpr:
		if a := m.eval(x.a); !truth(a) {
			return a
		}
		return m.eval(x.b)
	case *orExpr:
		if a := m.eval(x.a); truth(a) {
			return a
		}
		return m.eval(x.b)
	case *condExpr:
		switch {
		case truth(m.eval(x.cond)):
			return m.eval(x.then)
		case x.orElse == nil:
			return &undefined{"the inline if-expression evaluated to false and has no else"}
		}
		return m.eval(x.orElse)
	case *binaryExpr:
		return m.binary(x.op, m.eval(x.a), m.eval(x.b))
	case *concatExpr:
		var b builder
		for _, part := range x.parts {
			b.join(m, m.str(m.eval(part)))
		}
		return b.text()
	case *compareExpr:
		a := m.eval(x.first)
		for _, c := range x.ops {
			b := m.eval(c.x)
			if !m.holds(c.op, a, b) {
				return false
			}
			a = b
		}
		return true
	case *listExpr:
		m.use(32 * len(x.items))
		l := &list{items: make([]Value, len(x.items)), tuple: x.tuple}
		for i, item := range x.items {
			l.items[i] = m.eval(item)
		}
		return l
	case *dictExpr:
		m.use(128 * len(x.keys))
		d := NewDict()
		for i, key := range x.keys {
			k := m.key(m.eval(key))
			d.put(k, m.eval(x.values[i]))
		}
		return d
	}
	fail("unknown expression %T", x)
	return nil
}

// key pays for the hash of a key.
func (m *machine) key(k Value) Value {
	if t, ok := k.(text); ok {
		m.use(len(t.s))
	}
	return k
}

func (m *machine) holds(op string, a, b Value) bool {
	switch op {
	case "==":
		return m.equal(a, b)
	case "!=":
		return !m.equal(a, b)
	case "in":
		return m.contains(b, m.key(a))
	case "not in":
		return !m.contains(b, m.key(a))
	}
	c := m.compare(a, b)
	if isNaN(a) || isNaN(b) {
		return false
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func isNaN(v Value) bool {
	f, ok := v.(float64)
	return ok && f != f
}

// attr is x.name: an attribute, or else a member. Attributes of a dict are its
// methods; they come before members of the same name, as in Jinja2.
func (m *machine) attr(x Value, name string) Value {
	if v, ok := m.attribute(x, name); ok {
		return v
	}
	if d, ok := x.(*Dict); ok {
		if v, ok := d.named(name); ok {
			return v
		}
	}
	return noAttribute(x, name)
}

func noAttribute(x Value, name string) Value {
	return &undefined{fmt.Sprintf("'%s' has no attribute %q", typeName(x), name)}
}

// attribute returns an attribute, if x has it.
func (m *machine) attribute(x Value, name string) (v Value, ok bool) {
	switch x := x.(type) {
	case *undefined:
		failUndefined(x)
	case *namespace:
		return x.d.named(name)
	case *loop:
		v = loopAttr(x, name)
	case *Dict:
		v = dictMethod(x, name)
	case text:
		v = textMethod(x, name)
	case *list:
		v = listMethod(x, name)
	}
	return v, v != nil
}

// item is x[key]: a member, or else an attribute.
func (m *machine) item(x, key Value) Value {
	switch v := x.(type) {
	case *undefined:
		failUndefined(v)
	case *Dict:
		if !hashable(key) {
			break
		}
		if w, ok := v.get(m.key(key)); ok {
			return w
		}
	case *list:
		if _, i, ok, _ := number(key); ok {
			if i < 0 {
				i += int64(len(v.items))
			}
			if i < 0 || i >= int64(len(v.items)) {
				return &undefined{fmt.Sprintf("%s has no element %d", typeName(x), i)}
			}
			return v.items[i]
		}
	case text:
		if _, i, ok, _ := number(key); ok {
			n := int64(m.runes(v))
			if i < 0 {
				i += n
			}
			if i < 0 || i >= n {
				return &undefined{fmt.Sprintf("%s has no element %d", typeName(x), i)}
			}
			start := runeOffset(v.s, int(i))
			return v.slice(start, start+runeOffset(v.s[start:], 1))
		}
	}
	if t, ok := key.(text); ok {
		return m.attr(x, t.s)
	}
	return &undefined{fmt.Sprintf("%s has no element of type %s", typeName(x), typeName(key))}
}

// slice is x[start:stop:step] with Python's rules.
func (m *machine) slice(x *sliceExpr) Value {
	v := m.eval(x.x)
	bound := func(e expr) (int64, bool) {
		if e == nil {
			return 0, false
		}
		w := m.eval(e)
		if w == nil {
			return 0, false
		}
		_, i, isInt, _ := number(w)
		if !isInt {
			fail("a slice needs integers, found %s", typeName(w))
		}
		return i, true
	}
	start, hasStart := bound(x.start)
	stop, hasStop := bound(x.stop)
	step, hasStep := bound(x.step)
	if !hasStep {
		step = 1
	}
	if step == 0 {
		fail("a slice needs a step that is not zero")
	}
	step = max(step, -math.MaxInt32)
	var n int64
	switch v := v.(type) {
	case *undefined:
		failUndefined(v)
	case *list:
		n = int64(len(v.items))
	case text:
		n = int64(m.runes(v))
	default:
		fail("a %s cannot be sliced", typeName(v))
	}
	low, high := int64(0), n // where bounds are clipped to
	if step < 0 {
		low, high = -1, n-1
	}
	clip := func(i int64, has bool, def int64) int64 {
		if !has {
			return def
		}
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	first, last := low, high
	if step < 0 {
		first, last = high, low
	}
	start, stop = clip(start, hasStart, first), clip(stop, hasStop, last)
	if t, ok := v.(text); ok && step == 1 {
		if start >= stop {
			return text{}
		}
		m.use(16 * len(t.data))
		i := runeOffset(t.s, int(start))
		return t.slice(i, i+runeOffset(t.s[i:], int(stop-start)))
	}
	var items []Value
	if l, ok := v.(*list); ok {
		items = l.items
	} else {
		items = m.items(v)
	}
	var out []Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; {
		m.use(16)
		out = append(out, items[i])
		if step > n { // one element; i+step might overflow
			break
		}
		i += step
	}
	if _, ok := v.(text); ok {
		var b builder
		for _, c := range out {
			b.join(m, c.(text))
		}
		return b.text()
	}
	return &list{items: out, tuple: v.(*list).tuple}
}

func negate(v Value, plus bool) Value {
	f, i, isInt, ok := number(v)
	switch {
	case !ok:
		if u, ok := v.(*undefined); ok {
			failUndefined(u)
		}
		fail("bad operand of type %s for a sign", typeName(v))
	case plus && isInt:
		return i
	case plus:
		return v
	case isInt && i != math.MinInt64:
		return -i
	case isInt:
		fail("integer overflow")
	}
	return -f
}

func (m *machine) binary(op string, a, b Value) Value {
	for _, v := range []Value{a, b} {
		if u, ok := v.(*undefined); ok {
			failUndefined(u)
		}
	}
	af, ai, aInt, aNum := number(a)
	bf, bi, bInt, bNum := number(b)
	if aNum && bNum {
		if aInt && bInt {
			return intOp(op, ai, bi)
		}
		return floatOp(op, af, bf)
	}
	switch op {
	case "+":
		switch x := a.(type) {
		case text:
			if y, ok := b.(text); ok {
				return m.concat(x, y)
			}
			fail("can only concatenate str (not %q) to str", typeName(b))
		case *list:
			if y, ok := b.(*list); ok && x.tuple == y.tuple {
				m.use(16 * (len(x.items) + len(y.items)))
				return &list{items: append(append([]Value{}, x.items...), y.items...), tuple: x.tuple}
			}
		}
	case "*":
		if aInt && !bNum {
			a, b, bi, bInt = b, a, ai, true
		}
		if bInt {
			if v, ok := m.repeat(a, bi); ok {
				return v
			}
		}
	case "%":
		if _, ok := a.(text); ok {
			fail("formatting with %% is not supported")
		}
	}
	fail("unsupported operand types for %s: %s and %s", op, typeName(a), typeName(b))
	return nil
}

// repeat is n times a string or list.
func (m *machine) repeat(v Value, n int64) (Value, bool) {
	n = max(n, 0)
	times := func(size int) int {
		if size == 0 || n == 0 {
			return 0
		}
		if n > int64(m.fuel) {
			m.use(m.fuel + 1)
		}
		return int(n)
	}
	switch v := v.(type) {
	case text:
		k := times(len(v.s))
		if k == 0 {
			return text{}, true
		}
		if len(v.s) > m.fuel/k {
			m.use(m.fuel + 1)
		}
		var b builder
		if len(v.data) == 0 {
			b.write(m, repeatString(m, v.s, k))
			return b.text(), true
		}
		for range k {
			b.join(m, v)
		}
		return b.text(), true
	case *list:
		k := times(len(v.items))
		if k > 0 && 16*len(v.items) > m.fuel/k {
			m.use(m.fuel + 1)
		}
		m.use(16 * len(v.items) * k)
		out := &list{tuple: v.tuple, items: make([]Value, 0, len(v.items)*k)}
		for range k {
			out.items = append(out.items, v.items...)
		}
		return out, true
	}
	return nil, false
}

// repeatString is strings.Repeat within the budget.
func repeatString(m *machine, s string, n int) string {
	if n <= 0 || s == "" {
		return ""
	}
	if n > m.fuel/len(s) {
		m.use(m.fuel + 1)
	}
	m.use(n * len(s))
	return strings.Repeat(s, n)
}

func intOp(op string, a, b int64) Value {
	overflow := func() { fail("integer overflow") }
	switch op {
	case "+":
		c := a + b
		if (c > a) != (b > 0) && b != 0 {
			overflow()
		}
		return c
	case "-":
		c := a - b
		if (c < a) != (b > 0) && b != 0 {
			overflow()
		}
		return c
	case "*":
		c := a * b
		if a != 0 && (c/a != b || a == -1 && b == math.MinInt64) {
			overflow()
		}
		return c
	case "/":
		return floatOp(op, float64(a), float64(b))
	case "//", "%":
		if b == 0 {
			fail("division by zero")
		}
		if b == -1 { // math.MinInt64 / -1
			if op == "%" {
				return int64(0)
			}
			return negate(a, false)
		}
		q, r := a/b, a%b
		if r != 0 && (r < 0) != (b < 0) { // towards minus infinity
			q, r = q-1, r+b
		}
		if op == "//" {
			return q
		}
		return r
	}
	// **
	if b < 0 {
		return floatOp(op, float64(a), float64(b))
	}
	var c Value = int64(1)
	for ; b > 0; b-- {
		if a == 0 || a == 1 {
			return a
		}
		if a == -1 {
			if b%2 == 0 {
				return c
			}
			return intOp("*", c.(int64), -1)
		}
		c = intOp("*", c.(int64), a) // overflows after at most 63 rounds
	}
	return c
}

func floatOp(op string, a, b float64) Value {
	if b == 0 && (op == "/" || op == "//" || op == "%") || a == 0 && b < 0 && op == "**" {
		fail("division by zero")
	}
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "//":
		return math.Floor(a / b)
	case "%":
		r := math.Mod(a, b)
		if r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return r
	}
	p := math.Pow(a, b)
	if math.IsInf(p, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		fail("float overflow")
	}
	if p != p && a == a && b == b {
		fail("a negative number to a fractional power")
	}
	return p
}
