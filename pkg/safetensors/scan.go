package safetensors

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON (RFC 8259) token by token. encoding/json would take the
// last of two equal keys and match field names in any case; here the caller
// sees every key. The text must be valid UTF-8.
type scanner struct {
	text []byte
	pos  int
	base int // offset of text in its file, for messages
	key  int // position of the key that was read last
}

// maxDepth bounds the nesting of values that are skipped.
const maxDepth = 100

// fail returns an error for the current position.
func (s *scanner) fail(cause error, format string, args ...any) error {
	return fmt.Errorf("%w at offset %d: %s", cause, s.base+s.pos, fmt.Sprintf(format, args...))
}

// duplicate returns the error that the key read last stood there before. what
// says what it names.
func (s *scanner) duplicate(what string, key []byte) error {
	s.pos = s.key
	return s.fail(ErrDuplicateKey, "%s%s", what, quote(string(key)))
}

// unexpected returns the error that something else than want stands here.
func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.text) {
		return s.fail(ErrSyntax, "want %s, found the end", want)
	}
	r, _ := utf8.DecodeRune(s.text[s.pos:])
	return s.fail(ErrSyntax, "want %s, found %q", want, r)
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// take consumes c or fails.
func (s *scanner) take(c byte) error {
	if s.peek() != c || s.pos >= len(s.text) {
		return s.unexpected(strconv.QuoteRune(rune(c)))
	}
	s.pos++
	return nil
}

// object calls member with every key; member reads the value. The key is valid
// during the call.
func (s *scanner) object(member func(key []byte) error) error {
	if err := s.take('{'); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		s.peek()
		start := s.pos
		key, err := s.string()
		if err != nil {
			return err
		}
		s.key = start
		if err := s.take(':'); err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if s.peek() == '}' {
			s.pos++
			return nil
		}
		if err := s.take(','); err != nil {
			return s.unexpected("',' or '}'")
		}
	}
}

// array calls element before every element, which it reads.
func (s *scanner) array(element func() error) error {
	if err := s.take('['); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if s.peek() == ']' {
			s.pos++
			return nil
		}
		if err := s.take(','); err != nil {
			return s.unexpected("',' or ']'")
		}
	}
}

// string reads a string and returns its value, a part of the text where it has
// no escapes.
func (s *scanner) string() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.unexpected("a string")
	}
	s.pos++
	start := s.pos
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			value := s.text[start:s.pos:s.pos]
			s.pos++
			return value, nil
		case c == '\\':
			return s.escaped(bytes.Clone(s.text[start:s.pos]))
		case c < 0x20:
			return nil, s.unexpected("a string without control characters")
		}
		s.pos++
	}
	return nil, s.unexpected("the end of a string")
}

// escaped reads the rest of a string from its first escape on.
func (s *scanner) escaped(value []byte) ([]byte, error) {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		if c < 0x20 {
			return nil, s.unexpected("a string without control characters")
		}
		s.pos++
		switch c {
		case '"':
			return value, nil
		case '\\':
			r, err := s.escape()
			if err != nil {
				return nil, err
			}
			value = utf8.AppendRune(value, r)
		default:
			value = append(value, c)
		}
	}
	return nil, s.unexpected("the end of a string")
}

// escape reads an escape after its backslash.
func (s *scanner) escape() (rune, error) {
	if s.pos >= len(s.text) {
		return 0, s.unexpected("an escape")
	}
	c := s.text[s.pos]
	switch c {
	case '"', '\\', '/':
		s.pos++
		return rune(c), nil
	case 'b':
		s.pos++
		return '\b', nil
	case 'f':
		s.pos++
		return '\f', nil
	case 'n':
		s.pos++
		return '\n', nil
	case 'r':
		s.pos++
		return '\r', nil
	case 't':
		s.pos++
		return '\t', nil
	case 'u':
	default:
		return 0, s.unexpected("an escape")
	}
	start := s.pos - 1
	r, ok := s.hex()
	if !ok {
		return 0, s.unexpected(`\u and four hexadecimal digits`)
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if s.pos+1 < len(s.text) && s.text[s.pos] == '\\' && s.text[s.pos+1] == 'u' {
		s.pos++
		if low, ok := s.hex(); ok {
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				return r, nil
			}
		}
	}
	s.pos = start
	return 0, s.fail(ErrSyntax, "a surrogate without its other half")
}

// hex reads uXXXX.
func (s *scanner) hex() (rune, bool) {
	if len(s.text)-s.pos < 5 {
		return 0, false
	}
	var r rune
	for _, c := range s.text[s.pos+1 : s.pos+5] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.pos += 5
	return r, true
}

// uint reads an integer of 0…2⁶⁴−1, written without sign, fraction and
// exponent.
func (s *scanner) uint() (uint64, error) {
	s.peek()
	start := s.pos
	number, err := s.number()
	if err != nil {
		return 0, s.unexpected("an unsigned integer")
	}
	for _, c := range number {
		if c < '0' || c > '9' {
			s.pos = start
			return 0, s.fail(ErrSyntax, "want an unsigned integer, found %s", cut(number))
		}
	}
	var n uint64
	for _, c := range number {
		d := uint64(c - '0')
		if n > (1<<64-1-d)/10 {
			s.pos = start
			return 0, s.fail(ErrSyntax, "want an integer of 64 bits, found %s", cut(number))
		}
		n = n*10 + d
	}
	return n, nil
}

// cut returns a token for an error message.
func cut(token []byte) string {
	if len(token) > 40 {
		return string(token[:40]) + "…"
	}
	return string(token)
}

// number reads a number and returns its text.
func (s *scanner) number() ([]byte, error) {
	s.peek()
	start := s.pos
	s.accept('-')
	if !s.accept('0') && !s.digits() {
		return nil, s.unexpected("a number")
	}
	if s.accept('.') && !s.digits() {
		return nil, s.unexpected("a digit")
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		if !s.digits() {
			return nil, s.unexpected("a digit")
		}
	}
	return s.text[start:s.pos], nil
}

func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// literal consumes the word (true, false or null) if it stands here.
func (s *scanner) literal(word string) bool {
	s.peek()
	if bytes.HasPrefix(s.text[s.pos:], []byte(word)) {
		s.pos += len(word)
		return true
	}
	return false
}

// skip reads any value, nested at most depth deep.
func (s *scanner) skip(depth int) error {
	if depth == 0 {
		return s.fail(ErrSyntax, "nested too deep")
	}
	switch s.peek() {
	case '{':
		return s.object(func([]byte) error { return s.skip(depth - 1) })
	case '[':
		return s.array(func() error { return s.skip(depth - 1) })
	case '"':
		_, err := s.string()
		return err
	case 't', 'f', 'n':
		if s.literal("true") || s.literal("false") || s.literal("null") {
			return nil
		}
		return s.unexpected("a value")
	}
	start := s.pos
	number, err := s.number()
	if err != nil {
		return err
	}
	if _, err := strconv.ParseFloat(string(number), 64); err != nil {
		s.pos = start
		return s.fail(ErrSyntax, "number %s is out of range", cut(number))
	}
	return nil
}

// end makes sure that only white space is left.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.text) {
		return s.unexpected("the end of the JSON")
	}
	return nil
}

// checkUTF8 returns an error with the place of the first byte that is not UTF-8.
func (s *scanner) checkUTF8() error {
	if utf8.Valid(s.text) {
		return nil
	}
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRune(s.text[i:])
		if r == utf8.RuneError && size == 1 {
			s.pos = i
			return s.fail(ErrSyntax, "byte 0x%02x is not UTF-8", s.text[i])
		}
		i += size
	}
	return nil
}
