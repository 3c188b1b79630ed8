package jinja

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// method binds a function to a receiver.
func method[T any](name string, self T, f func(m *machine, self T, p *params) Value, required int, names ...string) *callable {
	return &callable{name, func(m *machine, a *args) Value {
		return f(m, self, m.params(name, a, required, names...))
	}}
}

// immutable is what stands for methods that would change their receiver.
func immutable(name string) *callable {
	return &callable{name, func(*machine, *args) Value {
		fail("%s would change a value, which templates may not", name)
		return nil
	}}
}

// dictMethod returns a method of a dict, or nil.
func dictMethod(d *Dict, name string) Value {
	switch name {
	case "items":
		return method("items", d, func(m *machine, d *Dict, _ *params) Value { return m.pairs(d) }, 0)
	case "keys":
		return method("keys", d, func(_ *machine, d *Dict, _ *params) Value { return &list{items: d.keys} }, 0)
	case "values":
		return method("values", d, func(_ *machine, d *Dict, _ *params) Value { return &list{items: d.values} }, 0)
	case "copy":
		return method("copy", d, func(_ *machine, d *Dict, _ *params) Value { return d }, 0)
	case "get":
		return method("get", d, func(m *machine, d *Dict, p *params) Value {
			if v, ok := d.get(m.key(p.vals[0])); ok {
				return v
			}
			return p.vals[1]
		}, 1, "key", "default")
	case "clear", "pop", "popitem", "setdefault", "update":
		return immutable(name)
	}
	return nil
}

// pairs is the list of (key, value) of a dict.
func (m *machine) pairs(d *Dict) *list {
	m.use(96 * len(d.keys))
	l := &list{items: make([]Value, len(d.keys))}
	for i, k := range d.keys {
		l.items[i] = &list{items: []Value{k, d.values[i]}, tuple: true}
	}
	return l
}

func listMethod(l *list, name string) Value {
	switch name {
	case "index":
		return method("index", l, func(m *machine, l *list, p *params) Value {
			i := slices.IndexFunc(l.items, func(v Value) bool { return m.equal(v, p.vals[0]) })
			if i < 0 {
				fail("index: the value is not in the list")
			}
			return int64(i)
		}, 1, "value")
	case "count":
		return method("count", l, func(m *machine, l *list, p *params) Value {
			n := int64(0)
			for _, v := range l.items {
				if m.equal(v, p.vals[0]) {
					n++
				}
			}
			return n
		}, 1, "value")
	case "copy":
		return method("copy", l, func(_ *machine, l *list, _ *params) Value { return l }, 0)
	case "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort":
		return immutable(name)
	}
	return nil
}

// textMethod returns a method of Python's str, or nil.
func textMethod(t text, name string) Value {
	def := func(f func(m *machine, t text, p *params) Value, required int, names ...string) Value {
		return method(name, t, func(m *machine, t text, p *params) Value {
			m.walk(len(t.s))
			m.use(16 * len(t.data))
			return f(m, t, p)
		}, required, names...)
	}
	where := func(find func(s, sub string) int, must bool) Value {
		return def(func(m *machine, t text, p *params) Value {
			i := find(t.s, p.text(0, "").s)
			if i < 0 {
				if must {
					fail("%s: substring not found", name)
				}
				return int64(-1)
			}
			return int64(utf8.RuneCountInString(t.s[:i]))
		}, 1, "sub")
	}
	is := func(f func(r rune) bool) Value {
		return def(func(_ *machine, t text, _ *params) Value {
			return t.s != "" && strings.IndexFunc(t.s, func(r rune) bool { return !f(r) }) < 0
		}, 0)
	}
	switch name {
	case "strip", "lstrip", "rstrip":
		return def(func(_ *machine, t text, p *params) Value {
			return t.strip(p.text(0, ""), p.vals[0] == nil, name != "rstrip", name != "lstrip")
		}, 0, "chars")
	case "split", "rsplit":
		return def(func(m *machine, t text, p *params) Value {
			return m.split(t, p.text(0, ""), p.vals[0] == nil, p.int(1, -1), name == "rsplit")
		}, 0, "sep", "maxsplit")
	case "splitlines":
		return def(func(m *machine, t text, p *params) Value {
			return &list{items: m.splitLines(t, p.bool(0, false))}
		}, 0, "keepends")
	case "partition", "rpartition":
		return def(func(_ *machine, t text, p *params) Value {
			sep := p.text(0, "").s
			if sep == "" {
				fail("%s: empty separator", name)
			}
			i := strings.Index(t.s, sep)
			parts := []Value{t, text{}, text{}}
			if name == "rpartition" {
				i = strings.LastIndex(t.s, sep)
				parts = []Value{text{}, text{}, t}
			}
			if i >= 0 {
				parts = []Value{t.slice(0, i), t.slice(i, i+len(sep)), t.slice(i+len(sep), len(t.s))}
			}
			return &list{items: parts, tuple: true}
		}, 1, "sep")
	case "startswith", "endswith":
		test := strings.HasPrefix
		if name == "endswith" {
			test = strings.HasSuffix
		}
		return def(func(m *machine, t text, p *params) Value {
			if l, ok := p.vals[0].(*list); ok && l.tuple {
				for _, v := range l.items {
					m.use(1)
					if s, ok := v.(text); ok && test(t.s, s.s) {
						return true
					}
				}
				return false
			}
			return test(t.s, p.text(0, "").s)
		}, 1, "prefix")
	case "removeprefix":
		return def(func(_ *machine, t text, p *params) Value {
			return t.slice(len(t.s)-len(strings.TrimPrefix(t.s, p.text(0, "").s)), len(t.s))
		}, 1, "prefix")
	case "removesuffix":
		return def(func(_ *machine, t text, p *params) Value {
			return t.slice(0, len(strings.TrimSuffix(t.s, p.text(0, "").s)))
		}, 1, "suffix")
	case "replace":
		return def(func(m *machine, t text, p *params) Value {
			return m.replace(t, p.text(0, "").s, p.text(1, ""), p.int(2, -1))
		}, 2, "old", "new", "count")
	case "find":
		return where(strings.Index, false)
	case "rfind":
		return where(strings.LastIndex, false)
	case "index":
		return where(strings.Index, true)
	case "rindex":
		return where(strings.LastIndex, true)
	case "count":
		return def(func(_ *machine, t text, p *params) Value {
			return int64(strings.Count(t.s, p.text(0, "").s))
		}, 1, "sub")
	case "join":
		return def(func(m *machine, t text, p *params) Value {
			var b builder
			for i, v := range m.items(p.vals[0]) {
				s, ok := v.(text)
				if !ok {
					fail("join: want strings, found %s", typeName(v))
				}
				if i > 0 {
					b.join(m, t)
				}
				b.join(m, s)
			}
			return b.text()
		}, 1, "iterable")
	case "upper":
		return def(func(m *machine, t text, _ *params) Value { return m.upper(t) }, 0)
	case "lower", "casefold":
		return def(func(m *machine, t text, _ *params) Value { return m.lower(t) }, 0)
	case "capitalize":
		return def(func(m *machine, t text, _ *params) Value { return m.capitalize(t) }, 0)
	case "title":
		return def(func(m *machine, t text, _ *params) Value {
			inside := false
			return m.mapRunes(t, func(r rune) string {
				was := inside
				inside = unicode.IsLetter(r)
				if was {
					return lowerRune(r)
				}
				return string(unicode.ToTitle(r))
			})
		}, 0)
	case "center", "ljust", "rjust":
		return def(func(m *machine, t text, p *params) Value {
			return m.pad(t, p.int(0, 0), p.text(1, " "), name)
		}, 1, "width", "fillchar")
	case "zfill":
		return def(func(m *machine, t text, p *params) Value {
			sign := 0
			if strings.HasPrefix(t.s, "+") || strings.HasPrefix(t.s, "-") {
				sign = 1
			}
			zeros := written(repeatString(m, "0", missing(m, t, p.int(0, 0))))
			return m.concat(m.concat(t.slice(0, sign), zeros), t.slice(sign, len(t.s)))
		}, 1, "width")
	case "isalpha":
		return is(unicode.IsLetter)
	case "isdigit", "isdecimal":
		return is(unicode.IsDigit)
	case "isnumeric":
		return is(unicode.IsNumber)
	case "isalnum":
		return is(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	case "isspace":
		return is(isSpace)
	case "isascii":
		return def(func(_ *machine, t text, _ *params) Value {
			return strings.IndexFunc(t.s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
		}, 0)
	case "isupper", "islower":
		return def(func(_ *machine, t text, _ *params) Value { return isCased(t.s, name == "isupper") }, 0)
	case "format":
		return &callable{"format", func(m *machine, a *args) Value { return m.format(t, a) }}
	}
	return nil
}

// strip removes characters from the ends: white space, or those of chars.
func (t text) strip(chars text, space, left, right bool) text {
	cut := func(r rune) bool { return strings.ContainsRune(chars.s, r) }
	if space {
		cut = isSpace
	}
	i, j := 0, len(t.s)
	if left {
		i = len(t.s) - len(strings.TrimLeftFunc(t.s, cut))
	}
	if right {
		j = max(i, len(strings.TrimRightFunc(t.s, cut)))
	}
	return t.slice(i, j)
}

// split is Python's str.split and rsplit.
func (m *machine) split(t text, sep text, space bool, most int64, fromRight bool) Value {
	if !space && sep.s == "" {
		fail("split: empty separator")
	}
	var parts [][2]int
	add := func(i, j int) {
		m.use(96)
		parts = append(parts, [2]int{i, j})
	}
	more := func() bool { return most < 0 || int64(len(parts)) < most }
	i, j := 0, len(t.s)
	switch {
	case space && !fromRight:
		for {
			i = len(t.s) - len(strings.TrimLeftFunc(t.s[i:], isSpace))
			if i == len(t.s) {
				break
			}
			n := strings.IndexFunc(t.s[i:], isSpace)
			if n < 0 || !more() {
				add(i, len(t.s))
				break
			}
			add(i, i+n)
			i += n
		}
	case space:
		for {
			j = len(strings.TrimRightFunc(t.s[:j], isSpace))
			if j == 0 {
				break
			}
			n := strings.LastIndexFunc(t.s[:j], isSpace)
			if n < 0 || !more() {
				add(0, j)
				break
			}
			_, size := utf8.DecodeRuneInString(t.s[n:])
			add(n+size, j)
			j = n
		}
	case !fromRight:
		for more() {
			n := strings.Index(t.s[i:], sep.s)
			if n < 0 {
				break
			}
			add(i, i+n)
			i += n + len(sep.s)
		}
		add(i, len(t.s))
	default:
		for more() {
			n := strings.LastIndex(t.s[:j], sep.s)
			if n < 0 {
				break
			}
			add(n+len(sep.s), j)
			j = n
		}
		add(0, j)
	}
	if fromRight {
		slices.Reverse(parts)
	}
	l := &list{}
	for _, p := range parts {
		l.items = append(l.items, t.slice(p[0], p[1]))
	}
	return l
}

// splitLines is Python's str.splitlines.
func (m *machine) splitLines(t text, keep bool) []Value {
	m.walk(len(t.s))
	var lines []Value
	for i := 0; i < len(t.s); {
		n := strings.IndexFunc(t.s[i:], isLineEnd)
		if n < 0 {
			m.use(64)
			return append(lines, t.slice(i, len(t.s)))
		}
		_, size := utf8.DecodeRuneInString(t.s[i+n:])
		if strings.HasPrefix(t.s[i+n:], "\r\n") {
			size = 2
		}
		end := i + n
		if keep {
			end += size
		}
		m.use(64)
		lines = append(lines, t.slice(i, end))
		i += n + size
	}
	return lines
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}

// replace is Python's str.replace.
func (m *machine) replace(t text, old string, with text, most int64) text {
	m.walk(len(t.s))
	var b builder
	i := 0
	for n := int64(0); most < 0 || n < most; n++ {
		m.use(1)
		at := strings.Index(t.s[i:], old)
		if old == "" && n > 0 { // between all characters
			if i == len(t.s) {
				break
			}
			_, at = utf8.DecodeRuneInString(t.s[i:])
		}
		if at < 0 {
			break
		}
		b.join(m, t.slice(i, i+at))
		b.join(m, with)
		i += at + len(old)
	}
	b.join(m, t.slice(i, len(t.s)))
	return b.text()
}

func lowerRune(r rune) string { return strings.ToLower(string(r)) }

func (m *machine) upper(t text) text {
	return m.mapRunes(t, func(r rune) string {
		if r == 'ß' {
			return "SS"
		}
		return strings.ToUpper(string(r))
	})
}

func (m *machine) lower(t text) text { return m.mapRunes(t, lowerRune) }

func (m *machine) capitalize(t text) text {
	first := true
	return m.mapRunes(t, func(r rune) string {
		if first {
			first = false
			return string(unicode.ToTitle(r))
		}
		return lowerRune(r)
	})
}

// missing returns by how many characters t is shorter than width.
func missing(m *machine, t text, width int64) int {
	n := int64(m.runes(t))
	if width <= n {
		return 0
	}
	if width-n > int64(m.fuel) {
		m.use(m.fuel + 1)
	}
	return int(width - n)
}

// pad fills a text up to a width.
func (m *machine) pad(t text, width int64, fill text, side string) text {
	if utf8.RuneCountInString(fill.s) != 1 {
		fail("%s: the fill character must be exactly one", side)
	}
	n := missing(m, t, width)
	left := 0
	switch side {
	case "rjust":
		left = n
	case "center":
		left = n/2 + n&int(width)&1 // as CPython rounds
	}
	l, r := repeatString(m, fill.s, left), repeatString(m, fill.s, n-left)
	return m.concat(m.concat(fill.like(l), t), fill.like(r))
}

// format is Python's str.format with plain fields: {}, {0}, {name}.
func (m *machine) format(t text, a *args) text {
	var b builder
	next := 0
	for i := 0; i < len(t.s); {
		n := strings.IndexAny(t.s[i:], "{}")
		if n < 0 {
			b.join(m, t.slice(i, len(t.s)))
			break
		}
		b.join(m, t.slice(i, i+n))
		i += n
		if i+1 < len(t.s) && t.s[i+1] == t.s[i] { // doubled: itself
			b.join(m, t.slice(i, i+1))
			i += 2
			continue
		}
		end := strings.IndexByte(t.s[i:], '}')
		if t.s[i] == '}' || end < 0 {
			fail("format: a single brace")
		}
		field := t.s[i+1 : i+end]
		i += end + 1
		b.join(m, m.str(a.field(field, &next)))
	}
	return b.text()
}

// field returns the argument that a field of a format names.
func (a *args) field(field string, next *int) Value {
	if field == "" {
		field = fmt.Sprint(*next)
		*next++
	}
	if field[0] >= '0' && field[0] <= '9' {
		i := 0
		if _, err := fmt.Sscanf(field, "%d", &i); err != nil || fmt.Sprint(i) != field {
			fail("format: the field {%.40s} is not supported", field)
		}
		if i < 0 || i >= len(a.list) {
			fail("format: there is no argument %d", i)
		}
		return a.list[i]
	}
	for _, kw := range a.kwargs {
		if kw.name == field {
			return kw.v
		}
	}
	fail("format: there is no argument %.40q", field)
	return nil
}
