package grammar

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxSchemaDepth is how deep a schema may nest.
const maxSchemaDepth = 200

// maxDigits bounds the digits and the exponent of a number in a schema: beyond
// it exact arithmetic would take memory by what an exponent states.
const maxDigits = 400

// A value is one JSON value of a schema, with its place. Objects keep the order
// of their keys. Values that are schemas are identified by their id.
type value struct {
	kind   byte // one of n t f 0 " [ {
	text   string
	list   []*value // elements, or the values of keys
	keys   []string
	index  map[string]int
	doc    *document
	parent *value
	name   string // under the parent
	id     int
	shared *value // for a value made of another: the one that it stands for
}

// get returns the value of a key, or nil.
func (v *value) get(key string) *value {
	if v.kind != '{' {
		return nil
	}
	if v.index != nil {
		if i, ok := v.index[key]; ok {
			return v.list[i]
		}
		return nil
	}
	for i, k := range v.keys {
		if k == key {
			return v.list[i]
		}
	}
	return nil
}

// pointer returns the place of a value as a JSON pointer in fragment form.
func (v *value) pointer() string {
	if v.shared != nil {
		return v.shared.pointer()
	}
	var names []string
	for ; v.parent != nil; v = v.parent {
		names = append(names, v.name)
	}
	var b strings.Builder
	b.WriteByte('#')
	for i := len(names) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(names[i]))
	}
	return b.String()
}

// jsonParser reads one JSON text (RFC 8259) strictly: no duplicate keys, no lone
// surrogates, valid UTF-8.
type jsonParser struct {
	data []byte
	at   int
	doc  *document
	ids  *int
}

// parseJSON parses data as the document doc. Values get ids from *ids on.
func parseJSON(data []byte, doc *document, ids *int) (*value, error) {
	p := &jsonParser{data: data, doc: doc, ids: ids}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("it is not UTF-8")
	}
	v, err := p.value(nil, "", 0)
	if err == nil {
		p.blanks()
		if p.at < len(p.data) {
			err = p.errorf("expected the end, found %q", p.data[p.at])
		}
	}
	return v, err
}

func (p *jsonParser) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", p.at, fmt.Sprintf(format, args...))
}

func (p *jsonParser) blanks() {
	for p.at < len(p.data) && strings.IndexByte(" \t\n\r", p.data[p.at]) >= 0 {
		p.at++
	}
}

// next skips blanks and returns the next byte; 0 at the end.
func (p *jsonParser) next() byte {
	p.blanks()
	if p.at == len(p.data) {
		return 0
	}
	return p.data[p.at]
}

func (p *jsonParser) value(parent *value, name string, depth int) (*value, error) {
	if depth > maxSchemaDepth {
		return nil, p.errorf("nested deeper than %d", maxSchemaDepth)
	}
	v := &value{doc: p.doc, parent: parent, name: name, id: *p.ids}
	*p.ids++
	var err error
	switch c := p.next(); {
	case c == '{':
		v.kind = '{'
		err = p.object(v, depth)
	case c == '[':
		v.kind = '['
		err = p.array(v, depth)
	case c == '"':
		v.kind = '"'
		v.text, err = p.string()
	case c == '-' || c >= '0' && c <= '9':
		v.kind = '0'
		v.text, err = p.number()
	default:
		for _, word := range []string{"null", "true", "false"} {
			if strings.HasPrefix(string(p.data[p.at:min(p.at+5, len(p.data))]), word) {
				p.at += len(word)
				v.kind = word[0]
				return v, nil
			}
		}
		err = p.errorf("expected a value")
	}
	return v, err
}

func (p *jsonParser) object(v *value, depth int) error {
	p.at++
	if p.next() == '}' {
		p.at++
		return nil
	}
	v.index = map[string]int{}
	for {
		if p.next() != '"' {
			return p.errorf("expected a key")
		}
		key, err := p.string()
		if err != nil {
			return err
		}
		if _, ok := v.index[key]; ok {
			return p.errorf("key %q appears twice", key)
		}
		if p.next() != ':' {
			return p.errorf("expected a colon")
		}
		p.at++
		element, err := p.value(v, key, depth+1)
		if err != nil {
			return err
		}
		v.index[key] = len(v.keys)
		v.keys = append(v.keys, key)
		v.list = append(v.list, element)
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return nil
		default:
			return p.errorf("expected a comma or a brace")
		}
	}
}

func (p *jsonParser) array(v *value, depth int) error {
	p.at++
	if p.next() == ']' {
		p.at++
		return nil
	}
	for {
		element, err := p.value(v, strconv.Itoa(len(v.list)), depth+1)
		if err != nil {
			return err
		}
		v.list = append(v.list, element)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return nil
		default:
			return p.errorf("expected a comma or a bracket")
		}
	}
}

func (p *jsonParser) number() (string, error) {
	begin := p.at
	digits := func() int {
		n := 0
		for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
			p.at++
			n++
		}
		return n
	}
	is := func(set string) bool {
		if p.at < len(p.data) && strings.IndexByte(set, p.data[p.at]) >= 0 {
			p.at++
			return true
		}
		return false
	}
	is("-")
	if !is("0") && digits() == 0 {
		return "", p.errorf("expected a digit")
	}
	if is(".") && digits() == 0 {
		return "", p.errorf("expected a digit")
	}
	if p.at-begin > maxDigits {
		return "", p.errorf("a number of more than %d digits", maxDigits)
	}
	if is("eE") {
		is("+-")
		exponent := p.at
		if digits() == 0 {
			return "", p.errorf("expected a digit")
		}
		if e, err := strconv.Atoi(string(p.data[exponent:p.at])); err != nil || e > maxDigits {
			return "", p.errorf("an exponent beyond %d", maxDigits)
		}
	}
	return string(p.data[begin:p.at]), nil
}

func (p *jsonParser) string() (string, error) {
	p.at++
	var b []byte
	for p.at < len(p.data) {
		c := p.data[p.at]
		p.at++
		switch {
		case c == '"':
			return string(b), nil
		case c < 0x20:
			return "", p.errorf("a raw control character in a string")
		case c != '\\':
			b = append(b, c)
			continue
		}
		if p.at == len(p.data) {
			break
		}
		c = p.data[p.at]
		p.at++
		if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
			b = append(b, "\"\\/\b\f\n\r\t"[i])
			continue
		}
		if c != 'u' {
			return "", p.errorf("unknown escape %q", c)
		}
		r, ok := p.hex()
		if ok && utf16.IsSurrogate(r) {
			ok = p.at+1 < len(p.data) && p.data[p.at] == '\\' && p.data[p.at+1] == 'u'
			if ok {
				p.at += 2
				var low rune
				low, ok = p.hex()
				r = utf16.DecodeRune(r, low)
				ok = ok && r != utf8.RuneError
			}
		}
		if !ok {
			return "", p.errorf("a bad \\u escape")
		}
		b = utf8.AppendRune(b, r)
	}
	return "", p.errorf("a string without an end")
}

func (p *jsonParser) hex() (rune, bool) {
	if p.at+4 > len(p.data) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.data[p.at:p.at+4]), 16, 16)
	p.at += 4
	return rune(n), err == nil
}
