package grammar

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Bits of the types of JSON Schema. A number is an integer or a fraction.
const (
	typeNull = 1 << iota
	typeBoolean
	typeInteger
	typeFraction
	typeString
	typeArray
	typeObject
	typeAny = 1<<iota - 1
)

var typeBits = map[string]int{
	"null": typeNull, "boolean": typeBoolean, "integer": typeInteger, "number": typeInteger | typeFraction,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// types returns the types that a schema allows.
func (v *value) types() int {
	t := v.get("type")
	if t == nil {
		return typeAny
	}
	if t.kind == '"' {
		return typeBits[t.text]
	}
	bits := 0
	for _, e := range t.list {
		bits |= typeBits[e.text]
	}
	return bits
}

// merge adds to a node the values that satisfy the plain keywords of all atoms.
func (c *compiler) merge(n *node, atoms []*value) error {
	types := typeAny
	var candidates []*value
	listed := false
	for _, v := range atoms {
		types &= v.types()
		if e := v.get("const"); e != nil && !listed {
			candidates, listed = []*value{e}, true
		}
		if e := v.get("enum"); e != nil && !listed {
			candidates, listed = e.list, true
		}
	}
	if listed {
		var valid []*value
		for _, e := range candidates {
			ok, err := c.validAll(atoms, e)
			if err != nil {
				return err
			}
			if ok {
				valid = append(valid, e)
			}
		}
		return c.addLiterals(n, valid)
	}
	n.null = n.null || types&typeNull != 0
	if types&typeBoolean != 0 {
		n.yes, n.no = true, true
	}
	if types&(typeInteger|typeFraction) != 0 {
		if err := c.mergeNumbers(n, atoms, types&typeFraction == 0); err != nil {
			return err
		}
	}
	if types&typeString != 0 {
		l, err := c.mergeStrings(atoms)
		if err != nil {
			return err
		}
		if l != nil {
			n.pendingStrings = append(n.pendingStrings, l)
		}
	}
	if types&typeArray != 0 {
		if err := c.mergeArrays(n, atoms); err != nil {
			return err
		}
	}
	if types&typeObject != 0 {
		return c.mergeObjects(n, atoms)
	}
	return nil
}

func (c *compiler) mergeNumbers(n *node, atoms []*value, integer bool) error {
	spec := numberSpec{integer: integer}
	var at *value
	keyword := ""
	for _, v := range atoms {
		for _, k := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"} {
			e := v.get(k)
			if e == nil {
				continue
			}
			at, keyword = v, k
			d := parseDecimal(e.text)
			b := &bound{d, strings.HasPrefix(k, "exclusive")}
			switch strings.TrimPrefix(strings.ToLower(k), "exclusive") {
			case "minimum":
				if spec.lower == nil || d.cmp(spec.lower.at) > 0 || d.cmp(spec.lower.at) == 0 && b.exclusive {
					spec.lower = b
				}
			case "maximum":
				if spec.upper == nil || d.cmp(spec.upper.at) < 0 || d.cmp(spec.upper.at) == 0 && b.exclusive {
					spec.upper = b
				}
			default:
				if spec.multipleOf != nil {
					d = lcm(*spec.multipleOf, d)
				}
				spec.multipleOf = &d
			}
		}
	}
	key := spec.key()
	b, ok := c.numbers[key]
	if !ok {
		var err error
		if b, err = spec.compileOrKnown(&c.work); err != nil {
			if at == nil {
				return c.wrapNode(n, err)
			}
			return at.wrap(keyword, err)
		}
		if b != nil && int(b.left[0]) > c.opts.MaxNumber {
			return at.fail(keyword, ErrLimit, "the shortest number takes %d bytes, more than Options.MaxNumber, %d", b.left[0], c.opts.MaxNumber)
		}
		c.numbers[key] = b
	}
	if b != nil {
		n.pendingNumbers = append(n.pendingNumbers, b)
	}
	return nil
}

func (n *numberSpec) key() string {
	s := fmt.Sprint("n", n.integer)
	for _, b := range []*bound{n.lower, n.upper} {
		if b == nil {
			s += " -"
		} else {
			s += fmt.Sprintf(" %v e%d %v", b.at.coefficient, b.at.exponent, b.exclusive)
		}
	}
	if n.multipleOf != nil {
		s += fmt.Sprintf(" * %v e%d", n.multipleOf.coefficient, n.multipleOf.exponent)
	}
	return s
}

// mergeStrings returns the strings that all atoms allow, or nil.
func (c *compiler) mergeStrings(atoms []*value) (*stringLang, error) {
	lo, hi := 0, -1
	var patterns, keys []string
	var at *value
	keyword := ""
	bounded := func(n int) {
		if hi < 0 || n < hi {
			hi = n
		}
	}
	for _, v := range atoms {
		lo = max(lo, v.count("minLength", 0))
		if v.get("maxLength") != nil {
			bounded(v.count("maxLength", 0))
		}
		if p := v.get("pattern"); p != nil {
			at, keyword = v, "pattern"
			patterns = append(patterns, p.text)
		}
		if f := v.get("format"); f != nil && !slices.Contains(c.opts.Ignore, "format:"+f.text) {
			known, ok := formats[f.text]
			if !ok {
				return nil, v.fail("format", ErrUnsupported, "%q is not regular, or unknown; known are %s", f.text, formatNames)
			}
			at, keyword = v, "format"
			for _, p := range known.patterns {
				patterns = append(patterns, anchored(p))
			}
			if known.max > 0 {
				bounded(known.max)
			}
		}
	}
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	for _, p := range patterns {
		keys = append(keys, fmt.Sprintf("%q", p))
	}
	key := fmt.Sprint(lo, hi, keys)
	if l, ok := c.langs[key]; ok {
		return l, nil
	}
	var d *dfa
	if len(patterns) > 0 {
		var parts []*dfa
		for _, p := range patterns {
			part, err := c.regexp(p)
			if err != nil {
				return nil, at.wrap(keyword, err)
			}
			parts = append(parts, part)
		}
		var err error
		if d, err = intersect(parts, &c.work); err != nil {
			return nil, at.wrap(keyword, err)
		}
	}
	l, err := newStringLang(d, lo, hi, &c.work)
	if err != nil {
		return nil, at.wrap(keyword, err)
	}
	c.langs[key] = l
	return l, nil
}

func (c *compiler) regexp(pattern string) (*dfa, error) {
	if d, ok := c.dfas[pattern]; ok {
		return d, nil
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, unsupportedf("jsonschema/v5, by which texts are checked, does not know it: %v", err)
	}
	d, err := compileRegexp(pattern, &c.work)
	if err == nil {
		c.dfas[pattern] = d
	}
	return d, err
}

// addLiterals adds listed values to a node.
func (c *compiler) addLiterals(n *node, values []*value) error {
	var texts, numbers []string
	for _, v := range values {
		if err := c.work.spend(16 + len(v.text)); err != nil {
			return v.wrap("", err)
		}
		switch v.kind {
		case 'n':
			n.null = true
		case 't':
			n.yes = true
		case 'f':
			n.no = true
		case '"':
			texts = append(texts, v.text)
		case '0':
			d := parseDecimal(v.text)
			numbers = append(numbers, d.String())
			if whole, _ := d.digits(); d.whole() && len(whole) > 21 && len(whole) < c.opts.MaxNumber {
				numbers = append(numbers, strings.TrimSuffix(d.String()[:1], whole[:1])+whole)
			}
		case '[':
			a := &arrayShape{min: len(v.list), max: len(v.list)}
			for _, e := range v.list {
				a.prefix = append(a.prefix, c.literalNode(e))
			}
			n.arrays = append(n.arrays, a)
		case '{':
			o := &objectShape{max: -1}
			for i, k := range v.keys {
				o.names = append(o.names, k)
				o.nodes = append(o.nodes, c.literalNode(v.list[i]))
				o.required = append(o.required, true)
			}
			if err := o.compileKeys(&c.work); err != nil {
				return v.wrap("", err)
			}
			n.objects = append(n.objects, o)
		}
	}
	if len(texts) > 0 {
		d, err := stringSet(texts, &c.work)
		if err != nil {
			return values[0].wrap("", err)
		}
		l, err := newStringLang(d, 0, -1, &c.work)
		if err != nil {
			return values[0].wrap("", err)
		}
		n.pendingStrings = append(n.pendingStrings, l)
	}
	if len(numbers) > 0 {
		b := &bytesBuilder{work: &c.work}
		if _, err := b.add(-1, true); err != nil {
			return values[0].wrap("", err)
		}
		paths := map[string]int32{"": 0}
		for _, s := range numbers {
			at := int32(0)
			for i := range len(s) {
				to, ok := paths[s[:i+1]]
				if !ok {
					var err error
					if to, err = b.add(-1, true); err != nil {
						return values[0].wrap("", err)
					}
					paths[s[:i+1]] = to
					b.edge(at, s[i], s[i], to)
				}
				at = to
			}
			b.tag[at] = 0
		}
		d, err := b.build()
		if err != nil {
			return values[0].wrap("", err)
		}
		n.pendingNumbers = append(n.pendingNumbers, d)
	}
	return nil
}

// canonical returns the compact JSON text of a value; equal values have equal
// texts if their keys come in one order.
func canonical(v *value) string {
	switch v.kind {
	case 'n':
		return "null"
	case 't':
		return "true"
	case 'f':
		return "false"
	case '0':
		return parseDecimal(v.text).String()
	case '"':
		return string(append(appendSpelled([]byte{'"'}, v.text), '"'))
	}
	var parts []string
	for i, e := range v.list {
		s := canonical(e)
		if v.kind == '{' {
			s = string(appendSpelled([]byte{'"'}, v.keys[i])) + `":` + s
		}
		parts = append(parts, s)
	}
	if v.kind == '[' {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "{" + strings.Join(parts, ",") + "}"
}
