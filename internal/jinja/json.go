package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// FromJSON decodes one JSON value: objects in the order of their members,
// integers and other numbers apart, strings (keys too) as data. A duplicate key
// keeps its first place and its last value, as in Python.
func FromJSON(data []byte) (Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := decode(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("JSON: more than one value before byte %d", dec.InputOffset())
	}
	return v, nil
}

func decode(dec *json.Decoder, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("JSON: nested deeper than %d at byte %d", maxDepth, dec.InputOffset())
	}
	tok, err := dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("JSON: %w", err)
	}
	switch tok := tok.(type) {
	case string:
		return given(tok), nil
	case json.Number:
		return parseNumber(string(tok))
	case json.Delim:
		if tok == '[' {
			l := &list{}
			for dec.More() {
				v, err := decode(dec, depth+1)
				if err != nil {
					return nil, err
				}
				l.items = append(l.items, v)
			}
			_, err := dec.Token()
			return l, wrapJSON(err)
		}
		d := NewDict()
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, wrapJSON(err)
			}
			v, err := decode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			d.put(given(key.(string)), v)
		}
		_, err := dec.Token()
		return d, wrapJSON(err)
	}
	return tok, nil // nil, bool
}

func wrapJSON(err error) error {
	if err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	return nil
}

func parseNumber(s string) (Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, fmt.Errorf("JSON: number %.40q", s)
		}
		return f, nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	if len(s) > 4300 { // Python's limit
		return nil, fmt.Errorf("JSON: an integer of %d digits", len(s))
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("JSON: number %.40q", s)
	}
	return i, nil
}

// jsonStyle is how tojson writes.
type jsonStyle struct {
	ascii    bool
	indent   string // per level; used if multi
	multi    bool
	item     text
	key      text
	sortKeys bool
}

func (m *machine) writeJSON(b *builder, v Value, style *jsonStyle, level int) {
	defer m.enter()()
	m.use(elementCost)
	switch v := v.(type) {
	case nil:
		b.write(m, "null")
	case bool:
		b.write(m, strconv.FormatBool(v))
	case int64:
		b.write(m, strconv.FormatInt(v, 10))
	case *big.Int:
		b.write(m, v.String())
	case float64:
		b.write(m, jsonFloat(v))
	case text:
		m.jsonString(b, v, style.ascii)
	case *list:
		if len(v.items) == 0 {
			b.write(m, "[]")
			return
		}
		b.write(m, "[")
		for i, item := range v.items {
			m.jsonBreak(b, style, i, level+1)
			m.writeJSON(b, item, style, level+1)
		}
		m.jsonEnd(b, style, level)
		b.write(m, "]")
	case *Dict:
		if len(v.keys) == 0 {
			b.write(m, "{}")
			return
		}
		keys, values := v.keys, v.values
		if style.sortKeys {
			order := m.sortedIndex(len(keys), false, func(i int) Value { return keys[i] })
			keys, values = pick(keys, order), pick(values, order)
		}
		b.write(m, "{")
		for i, k := range keys {
			m.jsonBreak(b, style, i, level+1)
			m.jsonString(b, jsonKey(k), style.ascii)
			b.join(m, style.key)
			m.writeJSON(b, values[i], style, level+1)
		}
		m.jsonEnd(b, style, level)
		b.write(m, "}")
	default:
		fail("a value of type %s is not JSON serializable", typeName(v))
	}
}

// jsonBreak writes what stands before element i.
func (m *machine) jsonBreak(b *builder, style *jsonStyle, i, level int) {
	if i > 0 {
		b.join(m, style.item)
	}
	if style.multi {
		m.jsonLine(b, style, level)
	}
}

func (m *machine) jsonEnd(b *builder, style *jsonStyle, level int) {
	if style.multi {
		m.jsonLine(b, style, level)
	}
}

func (m *machine) jsonLine(b *builder, style *jsonStyle, level int) {
	m.use(level * len(style.indent))
	b.write(m, "\n"+strings.Repeat(style.indent, level))
}

func jsonKey(k Value) text {
	switch k := k.(type) {
	case text:
		return k
	case nil:
		return written("null")
	case bool:
		return written(strconv.FormatBool(k))
	case int64:
		return written(strconv.FormatInt(k, 10))
	case float64:
		return written(jsonFloat(k))
	case *big.Int:
		return written(k.String())
	}
	fail("a %s is no key of JSON", typeName(k))
	return text{}
}

// jsonFloat is Python's, which writes non-finite numbers by name.
func jsonFloat(f float64) string {
	switch s := reprFloat(f); s {
	case "inf":
		return "Infinity"
	case "-inf":
		return "-Infinity"
	case "nan":
		return "NaN"
	default:
		return s
	}
}

// jsonString writes a string as Python's json module does: control characters,
// quotes and backslashes escaped, and all beyond ASCII if ascii is set.
func (m *machine) jsonString(b *builder, t text, ascii bool) {
	b.write(m, `"`)
	b.join(m, m.mapRunes(t, func(r rune) string {
		switch {
		case r == '"':
			return `\"`
		case r == '\\':
			return `\\`
		case r == '\n':
			return `\n`
		case r == '\r':
			return `\r`
		case r == '\t':
			return `\t`
		case r == '\b':
			return `\b`
		case r == '\f':
			return `\f`
		case r < ' ':
			return `\u` + hex(r, 4)
		case ascii && r >= 0x10000:
			r -= 0x10000
			return `\u` + hex(0xd800+r>>10, 4) + `\u` + hex(0xdc00+r&0x3ff, 4)
		case ascii && r > '~':
			return `\u` + hex(r, 4)
		}
		return string(r)
	}))
	b.write(m, `"`)
}
