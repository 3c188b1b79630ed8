package jinja

import (
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// A filterFunc is a filter applied to v.
type filterFunc func(m *machine, v Value, a *args) Value

// filter applies a filter of the template.
func (m *machine) filter(x *filterExpr, v Value) Value {
	defer located(x.line)
	f := filterNamed(x.name)
	if f == nil {
		fail("the filter %q is not supported", x.name)
	}
	return f(m, v, m.args(&x.args))
}

// filterNamed returns one of Jinja2's filters (jinja2/filters.py), or nil.
func filterNamed(name string) filterFunc {
	switch name {
	case "abs":
		return filterAbs
	case "attr":
		return filterAttr
	case "batch":
		return filterBatch
	case "capitalize":
		return onText("capitalize", func(m *machine, t text) Value { return m.capitalize(t) })
	case "center":
		return func(m *machine, v Value, a *args) Value {
			return m.pad(m.str(v), m.params(name, a, 0, "width").int(0, 80), written(" "), "center")
		}
	case "default", "d":
		return filterDefault
	case "dictsort":
		return filterDictsort
	case "escape", "e", "forceescape":
		return onText("escape", func(m *machine, t text) Value { return m.escape(t) })
	case "first", "last":
		return func(m *machine, v Value, a *args) Value {
			m.params(name, a, 0)
			items := m.items(v)
			switch {
			case len(items) == 0:
				return &undefined{"no " + name + " item, the sequence was empty"}
			case name == "first":
				return items[0]
			}
			return items[len(items)-1]
		}
	case "float":
		return filterFloat
	case "indent":
		return filterIndent
	case "int":
		return filterInt
	case "items":
		return filterItems
	case "join":
		return filterJoin
	case "length", "count":
		return filterLength
	case "list":
		return func(m *machine, v Value, a *args) Value {
			m.params(name, a, 0)
			return &list{items: m.items(v)}
		}
	case "lower":
		return onText("lower", func(m *machine, t text) Value { return m.lower(t) })
	case "map":
		return filterMap
	case "max", "min":
		return func(m *machine, v Value, a *args) Value { return m.extreme(name, v, a) }
	case "reject", "select":
		return func(m *machine, v Value, a *args) Value { return m.choose(name, v, a, false, name == "select") }
	case "rejectattr", "selectattr":
		return func(m *machine, v Value, a *args) Value { return m.choose(name, v, a, true, name == "selectattr") }
	case "replace":
		return func(m *machine, v Value, a *args) Value {
			p := m.params(name, a, 2, "old", "new", "count")
			return m.replace(m.str(v), m.str(p.vals[0]).s, m.str(p.vals[1]), p.int(2, -1))
		}
	case "reverse":
		return filterReverse
	case "round":
		return filterRound
	case "safe":
		return onText("safe", func(_ *machine, t text) Value { return t })
	case "sort":
		return filterSort
	case "string":
		return onText("string", func(_ *machine, t text) Value { return t })
	case "sum":
		return filterSum
	case "title":
		return onText("title", func(m *machine, t text) Value { return m.titleWords(t) })
	case "tojson":
		return filterToJSON
	case "trim":
		return func(m *machine, v Value, a *args) Value {
			p := m.params(name, a, 0, "chars")
			t := m.str(v)
			m.walk(len(t.s))
			m.use(16 * len(t.data))
			return t.strip(p.text(0, ""), p.vals[0] == nil, true, true)
		}
	case "unique":
		return filterUnique
	case "upper":
		return onText("upper", func(m *machine, t text) Value { return m.upper(t) })
	case "wordcount":
		return onText("wordcount", func(m *machine, t text) Value {
			m.walk(len(t.s))
			n, inside := int64(0), false
			for _, r := range t.s {
				word := r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
				if word && !inside {
					n++
				}
				inside = word
			}
			return n
		})
	}
	return nil
}

func onText(name string, f func(m *machine, t text) Value) filterFunc {
	return func(m *machine, v Value, a *args) Value {
		m.params(name, a, 0)
		return f(m, m.str(v))
	}
}

func filterAbs(m *machine, v Value, a *args) Value {
	m.params("abs", a, 0)
	if b, ok := v.(*big.Int); ok {
		return new(big.Int).Abs(b)
	}
	f, i, isInt, ok := number(v)
	switch {
	case !ok:
		fail("abs: want a number, found %s", typeName(v))
	case isInt && i < 0:
		return negate(i, false)
	case isInt:
		return i
	}
	return math.Abs(f)
}

func filterAttr(m *machine, v Value, a *args) Value {
	name := m.params("attr", a, 1, "name").text(0, "").s
	if w, ok := m.attribute(v, name); ok {
		return w
	}
	return noAttribute(v, name)
}

func filterBatch(m *machine, v Value, a *args) Value {
	p := m.params("batch", a, 1, "linecount", "fill_with")
	n := p.int(0, 0)
	if n < 1 || n > math.MaxInt32 {
		fail("batch: want a count of at least 1, found %d", n)
	}
	out := &list{}
	for items := m.items(v); len(items) > 0; {
		k := min(int(n), len(items))
		m.use(48 + 16*k)
		row := slices.Clone(items[:k])
		items = items[k:]
		if p.vals[1] != nil && k < int(n) {
			m.use(16 * (int(n) - k))
			for len(row) < int(n) {
				row = append(row, p.vals[1])
			}
		}
		out.items = append(out.items, &list{items: row})
	}
	return out
}

func filterDefault(m *machine, v Value, a *args) Value {
	p := m.params("default", a, 0, "default_value", "boolean")
	_, undef := v.(*undefined)
	if undef || p.bool(1, false) && !truth(v) {
		if p.has[0] {
			return p.vals[0]
		}
		return text{}
	}
	return v
}

func filterItems(m *machine, v Value, a *args) Value {
	m.params("items", a, 0)
	switch v := v.(type) {
	case *undefined:
		return &list{}
	case *Dict:
		return m.pairs(v)
	}
	fail("items: want a mapping, found %s", typeName(v))
	return nil
}

func filterLength(m *machine, v Value, a *args) Value {
	m.params("length", a, 0)
	switch v := v.(type) {
	case text:
		return int64(m.runes(v))
	case *list:
		return int64(len(v.items))
	case *Dict:
		return int64(len(v.keys))
	case *undefined:
		return int64(0)
	}
	fail("length: a %s has none", typeName(v))
	return nil
}

func filterJoin(m *machine, v Value, a *args) Value {
	p := m.params("join", a, 0, "d", "attribute")
	sep := text{}
	if p.has[0] {
		sep = m.str(p.vals[0])
	}
	get := m.attrGetter(p, 1)
	var b builder
	for i, item := range m.items(v) {
		m.use(stepCost)
		if i > 0 {
			b.join(m, sep)
		}
		b.join(m, m.str(get(item)))
	}
	return b.text()
}

// attrGetter returns a function that follows a path such as "a.b.0".
func (m *machine) attrGetter(p *params, i int) func(Value) Value {
	if !p.has[i] || p.vals[i] == nil {
		return func(v Value) Value { return v }
	}
	var path []Value
	if n, ok := p.vals[i].(int64); ok {
		path = []Value{n}
	} else {
		name := p.text(i, "").s
		m.use(64 * len(name))
		for _, part := range strings.Split(name, ".") {
			if n, err := strconv.ParseInt(part, 10, 32); err == nil && n >= 0 {
				path = append(path, n)
			} else {
				path = append(path, written(part))
			}
		}
	}
	return func(v Value) Value {
		for _, part := range path {
			m.use(stepCost)
			v = m.item(v, part)
		}
		return v
	}
}

func filterMap(m *machine, v Value, a *args) Value {
	out := &list{}
	var apply func(item Value) Value
	if len(a.list) == 0 {
		p := m.params("map", a, 0, "attribute", "default")
		if !p.has[0] {
			fail("map: want a filter or an attribute")
		}
		get := m.attrGetter(p, 0)
		apply = func(item Value) Value {
			w := get(item)
			if _, undef := w.(*undefined); undef && p.has[1] {
				return p.vals[1]
			}
			return w
		}
	} else {
		name, _ := a.list[0].(text)
		f := filterNamed(name.s)
		if f == nil {
			fail("map: the filter %.40q is not supported", name.s)
		}
		rest := &args{list: a.list[1:], kwargs: a.kwargs}
		apply = func(item Value) Value { return f(m, item, rest) }
	}
	defer m.enter()()
	for _, item := range m.itemsIfAny(v) {
		m.use(stepCost)
		out.items = append(out.items, apply(item))
	}
	return out
}

// itemsIfAny iterates, taking all that is false as empty, as map and select do.
func (m *machine) itemsIfAny(v Value) []Value {
	if !truth(v) {
		return nil
	}
	return m.items(v)
}

// choose is select, reject, selectattr and rejectattr.
func (m *machine) choose(name string, v Value, a *args, attr, want bool) Value {
	get := func(item Value) Value { return item }
	if attr {
		if len(a.list) == 0 {
			fail("%s: want an attribute", name)
		}
		get = m.attrGetter(&params{m: m, fn: name, vals: a.list[:1], has: []bool{true}}, 0)
		a = &args{list: a.list[1:], kwargs: a.kwargs}
	}
	pass := truth
	if len(a.list) > 0 {
		test, ok := a.list[0].(text)
		if !ok {
			fail("%s: want the name of a test", name)
		}
		rest := &args{list: a.list[1:], kwargs: a.kwargs}
		pass = func(item Value) bool { return m.passes(test.s, item, rest) }
	}
	out := &list{}
	for _, item := range m.itemsIfAny(v) {
		m.use(stepCost)
		if pass(get(item)) == want {
			out.items = append(out.items, item)
		}
	}
	return out
}

func filterReverse(m *machine, v Value, a *args) Value {
	m.params("reverse", a, 0)
	items := slices.Clone(m.items(v))
	m.use(16 * len(items))
	slices.Reverse(items)
	if _, ok := v.(text); !ok {
		return &list{items: items}
	}
	var b builder
	for _, c := range items {
		b.join(m, c.(text))
	}
	return b.text()
}

// foldCase is how sort, unique, min and max compare strings, unless they are
// told otherwise.
func (m *machine) foldCase(v Value, sensitive bool) Value {
	if t, ok := v.(text); ok && !sensitive {
		return m.lower(t)
	}
	return v
}

// sortedIndex returns the order of n keys, equal ones as they stand.
func (m *machine) sortedIndex(n int, reverse bool, key func(i int) Value) []int {
	m.use(32 * n)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		if reverse {
			return m.compare(key(order[j]), key(order[i])) < 0
		}
		return m.compare(key(order[i]), key(order[j])) < 0
	})
	return order
}

func pick(items []Value, order []int) []Value {
	out := make([]Value, len(order))
	for i, k := range order {
		out[i] = items[k]
	}
	return out
}

func (m *machine) sorted(items []Value, sensitive, reverse bool, get func(Value) Value) []Value {
	m.use(48 * len(items))
	keys := make([]Value, len(items))
	for i, item := range items {
		keys[i] = m.foldCase(get(item), sensitive)
	}
	return pick(items, m.sortedIndex(len(items), reverse, func(i int) Value { return keys[i] }))
}

func filterSort(m *machine, v Value, a *args) Value {
	p := m.params("sort", a, 0, "reverse", "case_sensitive", "attribute")
	get := m.attrGetter(p, 2)
	// Keys are lists of one, in which equal values need no order.
	key := func(v Value) Value { return &list{items: []Value{m.foldCase(get(v), p.bool(1, false))}} }
	return &list{items: m.sorted(m.items(v), true, p.bool(0, false), key)}
}

func filterDictsort(m *machine, v Value, a *args) Value {
	p := m.params("dictsort", a, 0, "case_sensitive", "by", "reverse")
	d, ok := v.(*Dict)
	if !ok {
		fail("dictsort: want a mapping, found %s", typeName(v))
	}
	by := 0
	switch p.text(1, "key").s {
	case "key":
	case "value":
		by = 1
	default:
		fail("dictsort: sorts by \"key\" or \"value\"")
	}
	return &list{items: m.sorted(m.pairs(d).items, p.bool(0, false), p.bool(2, false), func(pair Value) Value { return pair.(*list).items[by] })}
}

func filterUnique(m *machine, v Value, a *args) Value {
	p := m.params("unique", a, 0, "case_sensitive", "attribute")
	get := m.attrGetter(p, 1)
	seen := NewDict()
	out := &list{}
	for _, item := range m.items(v) {
		m.use(128)
		key := m.key(m.foldCase(get(item), p.bool(0, false)))
		if _, ok := seen.get(key); !ok {
			seen.put(key, nil)
			out.items = append(out.items, item)
		}
	}
	return out
}

func (m *machine) extreme(name string, v Value, a *args) Value {
	p := m.params(name, a, 0, "case_sensitive", "attribute")
	get := m.attrGetter(p, 1)
	key := func(v Value) Value { return m.foldCase(get(v), p.bool(0, false)) }
	items := m.items(v)
	if len(items) == 0 {
		return &undefined{"no aggregated item, the sequence was empty"}
	}
	best := items[0]
	for _, item := range items[1:] {
		m.use(stepCost)
		if c := m.compare(key(item), key(best)); name == "max" && c > 0 || name == "min" && c < 0 {
			best = item
		}
	}
	return best
}

func filterSum(m *machine, v Value, a *args) Value {
	p := m.params("sum", a, 0, "attribute", "start")
	get := m.attrGetter(p, 0)
	sum := Value(int64(0))
	if p.has[1] {
		sum = p.vals[1]
	}
	for _, item := range m.items(v) {
		m.use(stepCost)
		sum = m.binary("+", sum, get(item))
	}
	return sum
}

func filterInt(m *machine, v Value, a *args) Value {
	p := m.params("int", a, 0, "default", "base")
	def := Value(int64(0))
	if p.has[0] {
		def = p.vals[0]
	}
	base := p.int(1, 10)
	switch v := v.(type) {
	case text:
		s := strings.TrimFunc(v.s, isSpace)
		m.walk(len(s))
		if base < 2 || base > 36 {
			fail("int: base %d", base)
		}
		for _, prefix := range map[int64][]string{2: {"0b", "0B"}, 8: {"0o", "0O"}, 16: {"0x", "0X"}}[base] {
			s = strings.Replace(s, prefix, "", 1)
		}
		if i, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), int(base), 64); err == nil {
			return i
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<62 {
			return int64(f)
		}
		return def
	case *big.Int:
		return v
	case *undefined:
		failUndefined(v)
	}
	f, i, isInt, ok := number(v)
	switch {
	case isInt:
		return i
	case ok && math.Abs(f) < 1<<62:
		return int64(f)
	}
	return def
}

func filterFloat(m *machine, v Value, a *args) Value {
	p := m.params("float", a, 0, "default")
	if t, ok := v.(text); ok {
		m.walk(len(t.s))
		if f, err := strconv.ParseFloat(strings.TrimFunc(t.s, isSpace), 64); err == nil {
			return f
		}
	} else if f, _, _, ok := number(v); ok {
		return f
	} else if u, ok := v.(*undefined); ok {
		failUndefined(u)
	}
	if p.has[0] {
		return p.vals[0]
	}
	return 0.0
}

// filterRound rounds as Python does: half to even, of the exact value.
func filterRound(m *machine, v Value, a *args) Value {
	p := m.params("round", a, 0, "precision", "method")
	precision := p.int(0, 0)
	f, i, isInt, ok := number(v)
	if !ok {
		fail("round: want a number, found %s", typeName(v))
	}
	if precision < 0 || precision > 300 {
		fail("round: want a precision of 0 to 300, found %d", precision)
	}
	switch how := p.text(1, "common").s; how {
	case "common":
		if isInt {
			return i
		}
		if math.IsInf(f, 0) || f != f {
			return f
		}
		r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(precision), 64), 64)
		if err != nil {
			fail("round: %v", err)
		}
		return r
	case "ceil", "floor":
		scale := math.Pow10(int(precision))
		if how == "ceil" {
			return math.Ceil(f*scale) / scale
		}
		return math.Floor(f*scale) / scale
	default:
		fail("round: the method %.40q is not one of common, ceil, floor", how)
	}
	return nil
}

// filterIndent indents all lines but the first and empty ones.
func filterIndent(m *machine, v Value, a *args) Value {
	p := m.params("indent", a, 0, "width", "first", "blank")
	var pad text
	if t, ok := p.vals[0].(text); ok {
		pad = t
	} else {
		width := p.int(0, 4)
		if width > int64(m.fuel) {
			m.use(m.fuel + 1)
		}
		pad = written(repeatString(m, " ", int(max(width, 0))))
	}
	first, blank := p.bool(1, false), p.bool(2, false)
	t, ok := v.(text)
	if !ok {
		fail("indent: want a string, found %s", typeName(v))
	}
	lines := m.splitLines(m.concat(t, written("\n")), false)
	var b builder
	for i, line := range lines {
		line := line.(text)
		if i > 0 {
			b.write(m, "\n")
		}
		if i == 0 && first || i > 0 && (blank || line.s != "") {
			b.join(m, pad)
		}
		b.join(m, line)
	}
	return b.text()
}

func (m *machine) escape(t text) text {
	return m.mapRunes(t, func(r rune) string {
		switch r {
		case '&':
			return "&amp;"
		case '<':
			return "&lt;"
		case '>':
			return "&gt;"
		case '\'':
			return "&#39;"
		case '"':
			return "&#34;"
		}
		return string(r)
	})
}

// titleWords is the filter title: unlike the method, it sees words between
// blanks, dashes and opening brackets.
func (m *machine) titleWords(t text) text {
	start := true
	return m.mapRunes(t, func(r rune) string {
		was := start
		start = isSpace(r) || strings.ContainsRune("-({[<", r)
		if was {
			return strings.ToUpper(string(r))
		}
		return lowerRune(r)
	})
}

func filterToJSON(m *machine, v Value, a *args) Value {
	p := m.params("tojson", a, 0, "ensure_ascii", "indent", "separators", "sort_keys")
	style := &jsonStyle{ascii: p.bool(0, false), sortKeys: p.bool(3, false), item: written(", "), key: written(": ")}
	switch indent := p.vals[1].(type) {
	case nil:
	case text:
		style.multi, style.indent = true, indent.s
	default:
		n := p.int(1, 0)
		if n > int64(m.fuel) {
			m.use(m.fuel + 1)
		}
		style.multi, style.indent = true, repeatString(m, " ", int(max(n, 0)))
	}
	if style.multi {
		style.item = written(",")
	}
	if p.vals[2] != nil {
		l := m.items(p.vals[2])
		if len(l) != 2 {
			fail("tojson: separators: want two, found %d", len(l))
		}
		style.item, style.key = m.str(l[0]), m.str(l[1])
	}
	var b builder
	m.writeJSON(&b, v, style, 0)
	return b.text()
}
