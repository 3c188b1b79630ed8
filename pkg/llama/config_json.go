package llama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// maxConfigBytes bounds a configuration file; real ones hold a few kilobytes.
const maxConfigBytes = 4 << 20

// jsonObject reads the members of one JSON object by key, in strict types. The
// first failure is kept in err (shared with nested objects) and turns every
// later read into its default, so that a reader is a list of lines without
// checks between them.
type jsonObject struct {
	file    string // "config.json"
	prefix  string // "rope_scaling."
	members map[string]json.RawMessage
	err     *error
}

// parseObject parses a document whose root is an object. Duplicate keys, at any
// depth, are refused: which of the two is meant cannot be known.
func parseObject(file string, data []byte) (*jsonObject, error) {
	if len(data) > maxConfigBytes {
		return nil, fmt.Errorf("%w: %s: %d bytes, at most %d", ErrConfig, file, len(data), maxConfigBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := checkDuplicateKeys(data); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, file, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, file, err)
	}
	if members == nil {
		return nil, fmt.Errorf("%w: %s: want an object, found null", ErrConfig, file)
	}
	return &jsonObject{file: file, members: members, err: new(error)}, nil
}

// checkDuplicateKeys walks the tokens of one JSON value, without recursion.
func checkDuplicateKeys(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	type level struct {
		keys  map[string]bool // nil for an array
		key   string
		value bool // a value is due, not a key
	}
	var stack []level
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if len(stack) > 0 || dec.InputOffset() == 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		if n := len(stack); n > 0 && stack[n-1].keys != nil && !stack[n-1].value {
			if key, ok := tok.(string); ok {
				top := &stack[n-1]
				if top.keys[key] {
					return fmt.Errorf("duplicate key %q before byte %d", key, dec.InputOffset())
				}
				top.keys[key], top.key, top.value = true, key, true
				continue
			}
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
		if n := len(stack); n > 0 {
			stack[n-1].value = false // an object awaits its next key
		}
	}
}

// failf keeps the first failure, naming file and key.
func (o *jsonObject) failf(key, format string, args ...any) {
	if *o.err == nil {
		*o.err = fmt.Errorf("%w: %s: %s%s: %s", ErrConfig, o.file, o.prefix, key, fmt.Sprintf(format, args...))
	}
}

// raw returns the bytes of a member. null counts as absent.
func (o *jsonObject) raw(key string) (json.RawMessage, bool) {
	v, ok := o.members[key]
	if !ok || string(v) == "null" {
		return nil, false
	}
	return v, true
}

// present reports whether a key is there, be it with null.
func (o *jsonObject) present(key string) bool {
	_, ok := o.members[key]
	return ok
}

// integer returns an integer member, or def where it is absent or null.
func (o *jsonObject) integer(key string, def int) int {
	v, ok := o.raw(key)
	if !ok {
		return def
	}
	n, ok := parseInteger(v)
	if !ok {
		o.failf(key, "want an integer, found %s", abbreviate(v))
		return def
	}
	return n
}

// parseInteger accepts an integer, also one written as a number with a zero
// fraction (8192.0), which Python's tools produce.
func parseInteger(v json.RawMessage) (int, bool) {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return int(n), int64(int(n)) == n
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 || int64(int(f)) != int64(f) {
		return 0, false
	}
	return int(f), true
}

// number returns a finite number, or def where it is absent or null.
func (o *jsonObject) number(key string, def float64) float64 {
	v, ok := o.raw(key)
	if !ok {
		return def
	}
	f, err := strconv.ParseFloat(string(v), 64)
	// ParseFloat takes spellings that are no JSON numbers, but v is a JSON value.
	if err != nil || v[0] == '"' {
		o.failf(key, "want a number, found %s", abbreviate(v))
		return def
	}
	return f
}

// optionalNumber is number for members whose absence matters.
func (o *jsonObject) optionalNumber(key string) *float64 {
	if _, ok := o.raw(key); !ok {
		return nil
	}
	f := o.number(key, 0)
	return &f
}

func (o *jsonObject) boolean(key string, def bool) bool {
	v, ok := o.raw(key)
	if !ok {
		return def
	}
	switch string(v) {
	case "true":
		return true
	case "false":
		return false
	}
	o.failf(key, "want true or false, found %s", abbreviate(v))
	return def
}

func (o *jsonObject) text(key, def string) string {
	v, ok := o.raw(key)
	if !ok {
		return def
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		o.failf(key, "want a string, found %s", abbreviate(v))
		return def
	}
	return s
}

// texts returns a list of strings, or nil where it is absent or null.
func (o *jsonObject) texts(key string) []string {
	v, ok := o.raw(key)
	if !ok {
		return nil
	}
	var raw []json.RawMessage
	list := []string{}
	if json.Unmarshal(v, &raw) != nil {
		o.failf(key, "want a list of strings, found %s", abbreviate(v))
		return nil
	}
	for i, r := range raw {
		var s *string
		if json.Unmarshal(r, &s) != nil || s == nil {
			o.failf(key, "element %d: want a string, found %s", i, abbreviate(r))
			return nil
		}
		list = append(list, *s)
	}
	return list
}

// tokenIDs returns token ids given as one integer or a list of them, or nil
// where the key is absent or null.
func (o *jsonObject) tokenIDs(key string) []int {
	v, ok := o.raw(key)
	if !ok {
		return nil
	}
	list := []json.RawMessage{v}
	if v[0] == '[' && json.Unmarshal(v, &list) != nil {
		o.failf(key, "want a token id or a list of them, found %s", abbreviate(v))
		return nil
	}
	ids := make([]int, 0, min(len(list), 16))
	for _, r := range list {
		id, ok := parseInteger(r)
		if !ok {
			o.failf(key, "want a token id or a list of them, found %s", abbreviate(r))
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// object returns a nested object, or nil where it is absent or null.
func (o *jsonObject) object(key string) *jsonObject {
	v, ok := o.raw(key)
	if !ok {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(v, &members) != nil {
		o.failf(key, "want an object, found %s", abbreviate(v))
		return nil
	}
	return &jsonObject{file: o.file, prefix: o.prefix + key + ".", members: members, err: o.err}
}

// abbreviate shows a JSON value in an error.
func abbreviate(v json.RawMessage) string {
	const most = 60
	if len(v) > most {
		return fmt.Sprintf("%s… (%d bytes)", bytes.ToValidUTF8(v[:most], nil), len(v))
	}
	return string(v)
}
