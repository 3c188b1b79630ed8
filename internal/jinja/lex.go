package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokData
	tokVarBegin
	tokVarEnd
	tokBlockBegin
	tokBlockEnd
	tokName
	tokString
	tokInt
	tokFloat
	tokOp
)

// A token of a template. text is a name, an operator, the value of a string, or
// data between tags.
type token struct {
	kind tokenKind
	text string
	i    int64
	f    float64
	line int
}

func (t token) String() string {
	switch t.kind {
	case tokEOF:
		return "end of template"
	case tokVarEnd:
		return "}}"
	case tokBlockEnd:
		return "%}"
	case tokString:
		return fmt.Sprintf("string %.40q", t.text)
	case tokInt:
		return strconv.FormatInt(t.i, 10)
	case tokFloat:
		return strconv.FormatFloat(t.f, 'g', -1, 64)
	}
	return fmt.Sprintf("%.40q", t.text)
}

// A lexer follows Jinja2's (lexer.py) with trim_blocks and lstrip_blocks.
type lexer struct {
	src    string
	pos    int
	line   int
	tokens []token
	// lineStart means that the last tag took a newline with it.
	lineStart bool
}

func lex(source string) ([]token, error) {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	source = strings.TrimSuffix(source, "\n")
	l := &lexer{src: source, line: 1, lineStart: true}
	for l.pos < len(l.src) {
		if err := l.root(); err != nil {
			return nil, err
		}
	}
	l.emit(token{kind: tokEOF})
	return l.tokens, nil
}

func (l *lexer) emit(t token) {
	t.line = l.line
	l.tokens = append(l.tokens, t)
}

func (l *lexer) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrSyntax, l.line, fmt.Sprintf(format, args...))
}

// advance moves to pos and counts the lines on the way.
func (l *lexer) advance(pos int) {
	l.line += strings.Count(l.src[l.pos:pos], "\n")
	l.pos = pos
}

// root reads data up to the next tag, and that tag.
func (l *lexer) root() error {
	rest := l.src[l.pos:]
	at, open := -1, byte(0)
	for i := 0; ; i++ {
		j := strings.IndexByte(rest[i:], '{')
		if j < 0 || i+j+1 >= len(rest) {
			break
		}
		i += j
		if c := rest[i+1]; c == '{' || c == '%' || c == '#' {
			at, open = i, c
			break
		}
	}
	if at < 0 {
		l.data(rest, len(rest))
		return nil
	}
	sign := byte(0)
	if at+2 < len(rest) && (rest[at+2] == '-' || rest[at+2] == '+') {
		sign = rest[at+2]
	}
	l.data(l.strip(rest[:at], sign, open != '{'), at)
	l.advance(l.pos + 2)
	if sign != 0 {
		l.pos++
	}
	switch open {
	case '#':
		return l.comment()
	case '{':
		l.emit(token{kind: tokVarBegin})
		return l.expression("}}", tokVarEnd)
	}
	if n := rawTag(l.src[l.pos:], "raw"); n > 0 {
		return l.raw(n)
	}
	l.emit(token{kind: tokBlockBegin})
	return l.expression("%}", tokBlockEnd)
}

// data emits what is left of the n bytes of data at pos.
func (l *lexer) data(text string, n int) {
	if text != "" {
		l.emit(token{kind: tokData, text: text})
	}
	l.advance(l.pos + n)
}

// strip removes white space before a tag: all of it for a minus sign, and the
// indentation before a block or comment at the start of a line.
func (l *lexer) strip(text string, sign byte, block bool) string {
	switch {
	case sign == '-':
		return strings.TrimRightFunc(text, isSpace)
	case sign == '+' || !block:
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || l.lineStart) && strings.TrimFunc(text[start:], isSpace) == "" {
		return text[:start]
	}
	return text
}

// endTag returns the length of the end of a tag at the start of s, with the
// white space or newline that it takes along, or 0.
func endTag(s, closer string) int {
	n := 0
	if s != "" && (s[0] == '-' || s[0] == '+' && closer != "}}") {
		n = 1
	}
	if !strings.HasPrefix(s[n:], closer) {
		return 0
	}
	end := n + len(closer)
	switch {
	case n == 1 && s[0] == '-':
		rest := strings.TrimLeftFunc(s[end:], isSpace)
		return len(s) - len(rest)
	case n == 0 && closer != "}}" && strings.HasPrefix(s[end:], "\n"):
		return end + 1
	}
	return end
}

// endOf ends a tag of n bytes.
func (l *lexer) endOf(n int) {
	l.lineStart = l.src[l.pos+n-1] == '\n'
	l.advance(l.pos + n)
}

func (l *lexer) comment() error {
	i := strings.Index(l.src[l.pos:], "#}")
	if i < 0 {
		return l.errorf("a comment without end")
	}
	end := l.pos + i
	if i > 0 && (l.src[end-1] == '-' || l.src[end-1] == '+') {
		end--
	}
	l.advance(end)
	l.endOf(endTag(l.src[end:], "#}"))
	return nil
}

// rawTag returns the length of the inside of a raw or endraw tag, up to the
// end of the tag, or 0.
func rawTag(s, name string) int {
	inside := strings.TrimLeftFunc(s, isSpace)
	if !strings.HasPrefix(inside, name) {
		return 0
	}
	inside = strings.TrimLeftFunc(inside[len(name):], isSpace)
	if endTag(inside, "%}") == 0 {
		return 0
	}
	return len(s) - len(inside)
}

// raw reads up to endraw, having seen n bytes of the opening tag.
func (l *lexer) raw(n int) error {
	l.advance(l.pos + n)
	// Unlike other tags, this one leaves a newline after it.
	end := endTag(l.src[l.pos:], "%}")
	if l.src[l.pos] != '-' {
		end = len(strings.TrimSuffix(l.src[l.pos:l.pos+end], "\n"))
	}
	l.endOf(end)
	for from := l.pos; ; {
		i := strings.Index(l.src[from:], "{%")
		if i < 0 {
			return l.errorf("raw without endraw")
		}
		tag := from + i + 2
		sign := byte(0)
		if tag < len(l.src) && (l.src[tag] == '-' || l.src[tag] == '+') {
			sign = l.src[tag]
			tag++
		}
		if n := rawTag(l.src[tag:], "endraw"); n > 0 {
			l.data(l.strip(l.src[l.pos:from+i], sign, true), from+i-l.pos)
			l.advance(tag + n)
			l.endOf(endTag(l.src[l.pos:], "%}"))
			return nil
		}
		from = from + i + 2
	}
}

// expression reads the tokens of a tag up to its end.
func (l *lexer) expression(closer string, end tokenKind) error {
	var open []byte // brackets to be closed; inside them a closer is none
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		if len(open) == 0 {
			if n := endTag(rest, closer); n > 0 {
				l.emit(token{kind: end})
				l.endOf(n)
				return nil
			}
		}
		r, size := utf8.DecodeRuneInString(rest)
		var err error
		switch {
		case isSpace(r):
			l.advance(l.pos + size)
		case r >= '0' && r <= '9':
			err = l.number(rest)
		case r == '_' || unicode.IsLetter(r):
			n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if n < 0 {
				n = len(rest)
			}
			l.emit(token{kind: tokName, text: rest[:n]})
			l.pos += n
		case r == '\'' || r == '"':
			err = l.quoted(rest)
		default:
			open, err = l.operator(rest, open)
		}
		if err != nil {
			return err
		}
	}
	return l.errorf("a tag without its %s", closer)
}

var operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";"}

func (l *lexer) operator(rest string, open []byte) ([]byte, error) {
	for _, op := range operators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		switch op {
		case "(":
			open = append(open, ')')
		case "[":
			open = append(open, ']')
		case "{":
			open = append(open, '}')
		case ")", "]", "}":
			if len(open) == 0 || open[len(open)-1] != op[0] {
				return nil, l.errorf("unexpected %q", op)
			}
			open = open[:len(open)-1]
		}
		l.emit(token{kind: tokOp, text: op})
		l.pos += len(op)
		return open, nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return nil, l.errorf("unexpected character %q", r)
}

// number reads an integer or a float in Python's notation.
func (l *lexer) number(rest string) error {
	isDigit := func(i int) bool { return i < len(rest) && rest[i] >= '0' && rest[i] <= '9' }
	digits := func(i int) int { // digits with single underscores between them
		for isDigit(i) || i < len(rest) && rest[i] == '_' && isDigit(i+1) {
			i++
		}
		return i
	}
	afterDot := l.pos > 0 && l.src[l.pos-1] == '.' // a.0.5 has no float
	n := digits(0)
	float := false
	if !afterDot {
		if n < len(rest) && rest[n] == '.' && isDigit(n+1) {
			n, float = digits(n+1), true
		}
		if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
			exp := n + 1
			if exp < len(rest) && (rest[exp] == '+' || rest[exp] == '-') {
				exp++
			}
			if isDigit(exp) {
				n, float = digits(exp), true
			}
		}
	}
	if !float && len(rest) > 1 && rest[0] == '0' && strings.IndexByte("xXoObB", rest[1]) >= 0 {
		for n = 2; n < len(rest) && (rest[n] == '_' || strings.IndexByte("0123456789abcdefABCDEF", rest[n]) >= 0); {
			n++
		}
	}
	digitsOnly := strings.ReplaceAll(rest[:n], "_", "")
	t := token{kind: tokInt}
	var err error
	if float {
		t.kind = tokFloat
		t.f, err = strconv.ParseFloat(digitsOnly, 64)
	} else {
		if strings.Trim(digitsOnly, "0") == "" {
			digitsOnly = "0"
		} else if digitsOnly[0] == '0' && digitsOnly[1] >= '0' && digitsOnly[1] <= '9' {
			return l.errorf("number %.40q begins with a zero", rest[:n])
		}
		t.i, err = strconv.ParseInt(digitsOnly, 0, 64)
	}
	if err != nil {
		return l.errorf("number %.40q: %v", rest[:n], err.(*strconv.NumError).Err)
	}
	l.emit(t)
	l.pos += n
	return nil
}

// quoted reads a string literal.
func (l *lexer) quoted(rest string) error {
	n := 1
	for ; n < len(rest) && rest[n] != rest[0]; n++ {
		if rest[n] == '\\' {
			n++
		}
	}
	if n >= len(rest) {
		return l.errorf("a string without its closing %c", rest[0])
	}
	s, err := unescape(rest[1:n])
	if err != nil {
		return l.errorf("%v", err)
	}
	l.emit(token{kind: tokString, text: s})
	l.advance(l.pos + n + 1)
	return nil
}

// unescape decodes Python's escapes; unknown ones stay as they are.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
		if j := strings.IndexByte("\n\\'\"abfnrtv", c); j >= 0 {
			b.WriteString([...]string{"", "\\", "'", "\"", "\a", "\b", "\f", "\n", "\r", "\t", "\v"}[j])
			continue
		}
		digits, base := 0, 16
		switch {
		case c == 'x':
			digits = 2
		case c == 'u':
			digits = 4
		case c == 'U':
			digits = 8
		case c >= '0' && c <= '7':
			i--
			for base = 8; digits < 3 && i+digits < len(s) && s[i+digits] >= '0' && s[i+digits] <= '7'; {
				digits++
			}
		case c == 'N':
			return "", fmt.Errorf("the escape \\N is not supported")
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		if i+digits > len(s) {
			return "", fmt.Errorf("a truncated escape \\%c", c)
		}
		r, err := strconv.ParseUint(s[i:i+digits], base, 32)
		if err != nil || r > unicode.MaxRune {
			return "", fmt.Errorf("a malformed escape \\%c", c)
		}
		b.WriteRune(rune(r))
		i += digits
	}
	return b.String(), nil
}

// isSpace is Python's str.isspace.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
