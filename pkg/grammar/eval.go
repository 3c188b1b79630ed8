package grammar

import "slices"

// This file decides whether a value of an enum or const is valid by schemas.

// validAll reports whether a value satisfies the plain keywords of all atoms.
func (c *compiler) validAll(atoms []*value, x *value) (bool, error) {
	for _, v := range atoms {
		if ok, err := c.validPlain(v, x); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// valid reports whether a value is valid by a schema; that the branches of a
// oneOf exclude each other is proven elsewhere.
func (c *compiler) valid(v, x *value) (bool, error) {
	alternatives, err := c.expand(v, nil)
	if err != nil {
		return false, err
	}
	for _, atoms := range alternatives {
		if ok, err := c.validAll(atoms, x); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (x *value) typeBit() int {
	switch x.kind {
	case 'n':
		return typeNull
	case 't', 'f':
		return typeBoolean
	case '0':
		if parseDecimal(x.text).whole() {
			return typeInteger
		}
		return typeFraction
	case '"':
		return typeString
	case '[':
		return typeArray
	}
	return typeObject
}

func equal(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case '0':
		return parseDecimal(a.text).cmp(parseDecimal(b.text)) == 0
	case '"':
		return a.text == b.text
	}
	if len(a.list) != len(b.list) {
		return false
	}
	for i, e := range a.list {
		other := b.list[i]
		if a.kind == '{' {
			other = b.get(a.keys[i])
		}
		if other == nil || !equal(e, other) {
			return false
		}
	}
	return true
}

func (c *compiler) validPlain(v, x *value) (bool, error) {
	if err := c.work.spend(16); err != nil {
		return false, v.wrap("", err)
	}
	if x.typeBit()&v.types() == 0 {
		return false, nil
	}
	if e := v.get("const"); e != nil && !equal(e, x) {
		return false, nil
	}
	if e := v.get("enum"); e != nil && x.parent != e {
		if err := c.work.spend(len(e.list)); err != nil {
			return false, v.wrap("enum", err)
		}
		if !slices.ContainsFunc(e.list, func(e *value) bool { return equal(e, x) }) {
			return false, nil
		}
	}
	switch x.kind {
	case '0':
		return v.validNumber(x), nil
	case '"':
		l, err := c.mergeStrings([]*value{v})
		return l != nil && l.accepts(x.text), err
	case '[':
		return c.validArray(v, x)
	case '{':
		return c.validObject(v, x)
	}
	return true, nil
}

func (v *value) validNumber(x *value) bool {
	d := parseDecimal(x.text)
	for _, k := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"} {
		e := v.get(k)
		if e == nil {
			continue
		}
		b := parseDecimal(e.text)
		order := d.cmp(b)
		ok := false
		switch k {
		case "minimum":
			ok = order >= 0
		case "exclusiveMinimum":
			ok = order > 0
		case "maximum":
			ok = order <= 0
		case "exclusiveMaximum":
			ok = order < 0
		case "multipleOf":
			ok = d.multiple(b)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (c *compiler) validArray(v, x *value) (bool, error) {
	if len(x.list) < v.count("minItems", 0) || len(x.list) > v.count("maxItems", 1<<31-1) {
		return false, nil
	}
	listed, rest := v.elements()
	for i, e := range x.list {
		s := rest
		if i < len(listed) {
			s = listed[i]
		}
		if s == nil {
			continue
		}
		if ok, err := c.valid(s, e); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c *compiler) validObject(v, x *value) (bool, error) {
	if len(x.list) < v.count("minProperties", 0) || len(x.list) > v.count("maxProperties", 1<<31-1) {
		return false, nil
	}
	if r := v.get("required"); r != nil {
		for _, e := range r.list {
			if x.get(e.text) == nil {
				return false, nil
			}
		}
	}
	for i, k := range x.keys {
		var all []*value
		if p := v.get("properties"); p != nil && p.get(k) != nil {
			all = append(all, p.get(k))
		}
		if p := v.get("patternProperties"); p != nil {
			for j, pattern := range p.keys {
				d, err := c.regexp(pattern)
				if err != nil {
					return false, v.wrap("patternProperties", err)
				}
				if d.run(k) >= 0 {
					all = append(all, p.list[j])
				}
			}
		}
		if e := v.get("additionalProperties"); e != nil && len(all) == 0 {
			all = append(all, e)
		}
		for _, s := range all {
			if ok, err := c.valid(s, x.list[i]); !ok || err != nil {
				return false, err
			}
		}
		if p := v.get("propertyNames"); p != nil {
			if ok, err := c.valid(p, &value{kind: '"', text: k, doc: x.doc, parent: x, name: k}); !ok || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
