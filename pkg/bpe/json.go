package bpe

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a tokenizer file. Real files need six levels.
const maxDepth = 64

// jsonReader reads JSON (RFC 8259) front to back without building a tree:
// vocabularies have hundreds of thousands of entries, and opening a model
// should take milliseconds. Names are matched exactly and every error names
// the path and the byte offset. The input must be valid UTF-8.
type jsonReader struct {
	data  []byte
	pos   int
	depth int
	path  []byte // "model.vocab", for errors
	buf   []byte // the last string that had escapes, unescaped
}

func (r *jsonReader) place() string {
	p := string(r.path)
	if p == "" {
		p = "tokenizer.json"
	}
	return fmt.Sprintf("%s (byte %d)", p, r.pos)
}

func (r *jsonReader) syntax(format string, args ...any) error {
	return placed(ErrSyntax, r.place(), format, args...)
}

func (r *jsonReader) field(format string, args ...any) error {
	return placed(ErrField, r.place(), format, args...)
}

// push appends a step to the path and returns what pop needs to undo it.
func (r *jsonReader) push(name string) int {
	n := len(r.path)
	if n > 0 {
		r.path = append(r.path, '.')
	}
	if plain(name) {
		r.path = append(r.path, name...)
	} else {
		r.path = strconv.AppendQuote(r.path, name[:min(len(name), 64)])
	}
	return n
}

// plain reports whether a name can stand in a path as it is.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && !isASCIILetter(c) && (c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

func (r *jsonReader) pushIndex(i int) int {
	n := len(r.path)
	r.path = append(r.path, '[')
	r.path = strconv.AppendInt(r.path, int64(i), 10)
	r.path = append(r.path, ']')
	return n
}

func (r *jsonReader) pop(n int) { r.path = r.path[:n] }

// peek skips white space and returns the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// kind names the value that is next, for messages.
func (r *jsonReader) kind() string {
	switch c := r.peek(); {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case r.at("true"), r.at("false"):
		return "a boolean"
	case r.at("null"):
		return "null"
	case c == '-', '0' <= c && c <= '9':
		return "a number"
	case r.pos >= len(r.data), (c == 't' || c == 'f' || c == 'n') && len(r.data)-r.pos < 5:
		return "the end of the file"
	default:
		return fmt.Sprintf("%q", c)
	}
}

// mismatch is the error for a value of another kind than wanted.
func (r *jsonReader) mismatch(want string) error {
	switch k := r.kind(); k {
	case "the end of the file":
		return r.syntax("the file ends where %s should be", want)
	case "an object", "an array", "a string", "a boolean", "null", "a number":
		return r.field("expected %s, found %s", want, k)
	default:
		return r.syntax("expected %s, found %s", want, k)
	}
}

// object calls f for each member; f must read the value. A name may appear once.
// The key is valid until the next read.
func (r *jsonReader) object(f func(key string) error) error {
	seen := make(map[string]bool, 8)
	return r.members(func(key []byte) error {
		k := string(key)
		if seen[k] {
			return r.field("the name %q appears twice", clip(k))
		}
		seen[k] = true
		n := r.push(k)
		if err := f(k); err != nil {
			return err
		}
		r.pop(n)
		return nil
	})
}

// members is object without paths and without the check for doubled names, for
// large objects that check otherwise.
func (r *jsonReader) members(f func(key []byte) error) error {
	if r.peek() != '{' {
		return r.mismatch("an object")
	}
	if err := r.enter(); err != nil {
		return err
	}
	if r.peek() == '}' {
		return r.leave()
	}
	for {
		if r.peek() != '"' {
			return r.syntax("expected a name in quotes, found %s", r.kind())
		}
		key, err := r.stringBytes()
		if err != nil {
			return err
		}
		if r.peek() != ':' {
			return r.syntax("expected ':' after a name, found %s", r.kind())
		}
		r.pos++
		if err := f(key); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.pos++
		case '}':
			return r.leave()
		default:
			return r.syntax("expected ',' or '}' in an object, found %s", r.kind())
		}
	}
}

// array calls f for each element; f must read it.
func (r *jsonReader) array(f func(i int) error) error {
	if r.peek() != '[' {
		return r.mismatch("an array")
	}
	if err := r.enter(); err != nil {
		return err
	}
	if r.peek() == ']' {
		return r.leave()
	}
	for i := 0; ; i++ {
		if err := f(i); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.pos++
		case ']':
			return r.leave()
		default:
			return r.syntax("expected ',' or ']' in an array, found %s", r.kind())
		}
	}
}

// list is array with the index in the path.
func (r *jsonReader) list(f func(i int) error) error {
	return r.array(func(i int) error {
		n := r.pushIndex(i)
		if err := f(i); err != nil {
			return err
		}
		r.pop(n)
		return nil
	})
}

func (r *jsonReader) enter() error {
	if r.depth++; r.depth > maxDepth {
		return r.syntax("nested more than %d levels deep", maxDepth)
	}
	r.pos++
	return nil
}

func (r *jsonReader) leave() error {
	r.depth--
	r.pos++
	return nil
}

// stringBytes reads a string. The result points into the file or into a buffer
// and is valid until the next read.
func (r *jsonReader) stringBytes() ([]byte, error) {
	if r.peek() != '"' {
		return nil, r.mismatch("a string")
	}
	start := r.pos + 1
	for i := start; i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			r.pos = i + 1
			return r.data[start:i], nil
		case c == '\\':
			return r.escapedString(start, i)
		case c < 0x20:
			r.pos = i
			return nil, r.syntax("control character %#02x inside a string", c)
		}
	}
	r.pos = len(r.data)
	return nil, r.syntax("the file ends inside a string")
}

// escapedString continues stringBytes at the first backslash.
func (r *jsonReader) escapedString(start, i int) ([]byte, error) {
	buf := append(r.buf[:0], r.data[start:i]...)
	for i < len(r.data) {
		c := r.data[i]
		switch {
		case c == '"':
			r.pos = i + 1
			r.buf = buf
			return buf, nil
		case c < 0x20:
			r.pos = i
			return nil, r.syntax("control character %#02x inside a string", c)
		case c != '\\':
			buf = append(buf, c)
			i++
			continue
		}
		if i+1 >= len(r.data) {
			break
		}
		r.pos = i
		e := r.data[i+1]
		i += 2
		switch e {
		case '"', '\\', '/':
			buf = append(buf, e)
		case 'b':
			buf = append(buf, '\b')
		case 'f':
			buf = append(buf, '\f')
		case 'n':
			buf = append(buf, '\n')
		case 'r':
			buf = append(buf, '\r')
		case 't':
			buf = append(buf, '\t')
		case 'u':
			c, ok := r.hex4(i)
			if !ok {
				return nil, r.syntax("\\u needs four hexadecimal digits")
			}
			i += 4
			if 0xD800 <= c && c <= 0xDFFF { // half of a surrogate pair
				low, ok := r.hex4(i + 2)
				if c >= 0xDC00 || !ok || r.data[i] != '\\' || r.data[i+1] != 'u' || low < 0xDC00 || low > 0xDFFF {
					return nil, r.syntax("\\u%04x is half of a surrogate pair, without the other half", c)
				}
				c = 0x10000 + (c-0xD800)<<10 + (low - 0xDC00)
				i += 6
			}
			buf = utf8.AppendRune(buf, c)
		default:
			return nil, r.syntax("unknown escape \\%c", e)
		}
	}
	r.pos = len(r.data)
	return nil, r.syntax("the file ends inside a string")
}

func (r *jsonReader) hex4(i int) (rune, bool) {
	if i+4 > len(r.data) {
		return 0, false
	}
	var v rune
	for _, c := range r.data[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 + rune(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 + rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			v = v<<4 + rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

func (r *jsonReader) string() (string, error) {
	b, err := r.stringBytes()
	return string(b), err
}

// stringOrNull reads a string; null counts as "".
func (r *jsonReader) stringOrNull() (string, error) {
	if r.isNull() {
		return "", r.skip()
	}
	return r.string()
}

func (r *jsonReader) isNull() bool { return r.peek() == 'n' }

func (r *jsonReader) bool() (bool, error) {
	switch {
	case r.literal("true"):
		return true, nil
	case r.literal("false"):
		return false, nil
	}
	return false, r.mismatch("a boolean")
}

// literal reads the given word if it is next.
func (r *jsonReader) literal(word string) bool {
	r.peek()
	if !r.at(word) {
		return false
	}
	r.pos += len(word)
	return true
}

func (r *jsonReader) at(word string) bool {
	return len(r.data)-r.pos >= len(word) && string(r.data[r.pos:r.pos+len(word)]) == word
}

// id reads a token id: a whole number that an int32 holds.
func (r *jsonReader) id() (int, error) {
	c := r.peek()
	if c == '-' {
		return 0, r.field("a negative number where a token id should be")
	}
	if c < '0' || c > '9' {
		return 0, r.mismatch("a number")
	}
	start, v := r.pos, int64(0)
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		if c < '0' || c > '9' {
			break
		}
		if v = v*10 + int64(c-'0'); v > 1<<31-1 {
			return 0, r.field("the number is larger than %d, the largest token id", 1<<31-1)
		}
		r.pos++
	}
	if r.data[start] == '0' && r.pos-start > 1 {
		return 0, r.syntax("a number may not begin with 0")
	}
	if r.pos < len(r.data) {
		switch r.data[r.pos] {
		case '.', 'e', 'E':
			return 0, r.field("a fraction where a token id should be")
		}
	}
	return int(v), nil
}

// float reads any number.
func (r *jsonReader) float() (float64, error) {
	c := r.peek()
	if c != '-' && (c < '0' || c > '9') {
		return 0, r.mismatch("a number")
	}
	start := r.pos
	next := func() byte {
		if r.pos < len(r.data) {
			return r.data[r.pos]
		}
		return 0
	}
	digits := func() bool {
		from := r.pos
		for '0' <= next() && next() <= '9' {
			r.pos++
		}
		return r.pos > from
	}
	if c == '-' {
		r.pos++
	}
	first := r.pos
	ok := digits() && (r.data[first] != '0' || r.pos == first+1)
	if ok && next() == '.' {
		r.pos++
		ok = digits()
	}
	if ok && next()|0x20 == 'e' {
		r.pos++
		if next() == '+' || next() == '-' {
			r.pos++
		}
		ok = digits()
	}
	if !ok {
		return 0, r.syntax("not a number: %q", clip(r.data[start:r.pos]))
	}
	v, err := strconv.ParseFloat(string(r.data[start:r.pos]), 64)
	if err != nil {
		return 0, r.field("the number %q is out of range", clip(r.data[start:r.pos]))
	}
	return v, nil
}

// skip reads past one value of any kind.
func (r *jsonReader) skip() error {
	switch c := r.peek(); {
	case c == '{':
		return r.members(func([]byte) error { return r.skip() })
	case c == '[':
		return r.array(func(int) error { return r.skip() })
	case c == '"':
		_, err := r.stringBytes()
		return err
	case c == '-', '0' <= c && c <= '9':
		_, err := r.float()
		return err
	case r.literal("true"), r.literal("false"), r.literal("null"):
		return nil
	}
	return r.mismatch("a value")
}

// end checks that nothing follows the value.
func (r *jsonReader) end() error {
	if r.peek(); r.pos < len(r.data) {
		return r.syntax("something follows the end of the value")
	}
	return nil
}

// newJSONReader checks the encoding once, so that nothing later has to. root
// begins the paths in errors; empty for tokenizer.json.
func newJSONReader(data []byte, root string) (*jsonReader, error) {
	r := &jsonReader{data: data, path: []byte(root)}
	if !utf8.Valid(data) {
		for r.pos < len(data) {
			c, n := utf8.DecodeRune(data[r.pos:])
			if c == utf8.RuneError && n == 1 {
				break
			}
			r.pos += n
		}
		return nil, r.syntax("not UTF-8")
	}
	return r, nil
}
