package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

// set changes the value of a key, or adds it at the end.
func (o *object) set(key string, value any) {
	for i := range *o {
		if (*o)[i].key == key {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{key, value})
}

func (o object) get(key string) (any, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := compactJSON(m.key)
		if err != nil {
			return nil, err
		}
		value, err := compactJSON(m.value)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", m.key, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// compactJSON is json.Marshal with <, > and & as they are.
func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// indentedJSON writes a file for people to read.
func indentedJSON(v any) ([]byte, error) {
	b, err := compactJSON(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// parseObject reads the members of a JSON object, their values undecoded.
func parseObject(data []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, fmt.Errorf("want an object, found %v", t)
	}
	var o object
	seen := make(map[string]bool)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder lets nothing else stand here
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		if seen[key] {
			return nil, fmt.Errorf("key %q stands twice", key)
		}
		seen[key] = true
		o = append(o, member{key, value})
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return o, nil
}
