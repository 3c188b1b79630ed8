package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of JSON that others wrote. The exponent is bounded because exact
// arithmetic writes a number like 1e999999999 out.
const (
	maxJSONBytes  = 1 << 20
	maxJSONDepth  = 64
	maxNumberLen  = 1000
	maxExponent   = 1000
	maxSchemaSize = 1 << 18
)

// checkJSON reports what is wrong with a JSON value: syntax, duplicate keys
// (also when they are spelled differently), text that is not Unicode, and
// exorbitant numbers, depth or size. encoding/json alone would take the last
// of two keys and replace what is not Unicode.
func checkJSON(data []byte, maxBytes int) error {
	if len(data) > maxBytes {
		return fmt.Errorf("%d bytes of JSON, expected at most %d", len(data), maxBytes)
	}
	if !utf8.Valid(data) {
		return fmt.Errorf("the JSON is not UTF-8")
	}
	if !json.Valid(data) {
		return fmt.Errorf("malformed JSON")
	}
	if at := loneSurrogate(data); at >= 0 {
		return fmt.Errorf("half a surrogate pair at offset %d", at)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []map[string]bool // for each open object its keys; nil for an array
	key := false               // the next token, if a string, is a key
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("malformed JSON: %w", err)
		}
		switch t := t.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			if len(open) > maxJSONDepth {
				return fmt.Errorf("JSON deeper than %d", maxJSONDepth)
			}
		case string:
			if key {
				keys := open[len(open)-1]
				if keys[t] {
					return fmt.Errorf("duplicate key %.100q", t)
				}
				keys[t] = true
				key = false
				continue
			}
		case json.Number:
			if err := checkNumber(string(t)); err != nil {
				return err
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// checkNumber bounds what a number costs when it is computed exactly.
func checkNumber(s string) error {
	if len(s) > maxNumberLen {
		return fmt.Errorf("a number of %d characters, expected at most %d", len(s), maxNumberLen)
	}
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return nil
	}
	exponent, err := strconv.Atoi(s[i+1:])
	if err != nil || exponent < -maxExponent || exponent > maxExponent {
		return fmt.Errorf("number %.40s: exponent beyond ±%d", s, maxExponent)
	}
	return nil
}

// loneSurrogate returns the offset of the first \u escape in valid JSON that is
// half a surrogate pair, or -1. (RFC 8259, section 8.2.)
func loneSurrogate(data []byte) int {
	unit := func(i int) (u uint64, ok bool) { // the escape at i
		if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
			return 0, false
		}
		u, err := strconv.ParseUint(string(data[i+2:i+6]), 16, 16)
		return u, err == nil
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		u, ok := unit(i)
		switch {
		case !ok:
			i++ // the escaped character, which may be a backslash
		case u >= 0xd800 && u < 0xdc00:
			if low, ok := unit(i + 6); !ok || low < 0xdc00 || low > 0xdfff {
				return i
			}
			i += 11
		case u >= 0xdc00 && u < 0xe000:
			return i
		default:
			i += 5
		}
	}
	return -1
}

// decodeJSON decodes a value that passed checkJSON; numbers are json.Number.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
