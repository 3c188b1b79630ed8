package grammar

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads regular expressions: the regular part of ECMA 262, as JSON
// Schema asks for. Where ECMA 262 and RE2, by which jsonschema/v5 checks
// patterns, differ in what a class holds (\s, \S and the dot), the class here
// holds what both do.

// A reOp is the kind of a reNode.
type reOp uint8

const (
	reEmpty reOp = iota
	reChars      // one code point out of ranges
	reConcat
	reAlternate
	reRepeat // min to max times; max -1: without end
	reBegin
	reEnd
)

// A reNode is a node of a regular expression's syntax tree.
type reNode struct {
	op       reOp
	ranges   []rune // pairs, sorted, not adjacent
	list     []*reNode
	min, max int
}

const maxRune = unicode.MaxRune

var (
	reDigit = []rune{'0', '9'}
	reWord  = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	// White space of RE2, and of ECMA 262 (WhiteSpace and LineTerminator).
	reSpaceRE2  = []rune{'\t', '\n', '\f', '\r', ' ', ' '}
	reSpaceECMA = []rune{'\t', '\r', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff}
	reDot       = negateRanges([]rune{'\n', '\n', '\r', '\r', 0x2028, 0x2029})
)

// negateRanges returns the code points that are not in sorted ranges.
func negateRanges(ranges []rune) []rune {
	var out []rune
	from := rune(0)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] > from {
			out = append(out, from, ranges[i]-1)
		}
		from = ranges[i+1] + 1
	}
	if from <= maxRune {
		out = append(out, from, maxRune)
	}
	return out
}

// sortRanges sorts and merges ranges.
func sortRanges(ranges []rune) []rune {
	type span struct{ lo, hi rune }
	spans := make([]span, 0, len(ranges)/2)
	for i := 0; i < len(ranges); i += 2 {
		spans = append(spans, span{ranges[i], ranges[i+1]})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo) - int(b.lo) })
	var out []rune
	for _, s := range spans {
		if n := len(out); n > 0 && s.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], s.hi)
		} else {
			out = append(out, s.lo, s.hi)
		}
	}
	return out
}

type reParser struct {
	s     string
	at    int
	depth int
}

// parseRegexp reads a pattern.
func parseRegexp(s string) (*reNode, error) {
	p := &reParser{s: s}
	n, err := p.disjunction()
	if err == nil && p.at < len(s) {
		err = p.errorf("unmatched )")
	}
	return n, err
}

func (p *reParser) errorf(format string, args ...any) error {
	return unsupportedf("at byte %d of the pattern: "+format, append([]any{p.at}, args...)...)
}

func (p *reParser) more() bool { return p.at < len(p.s) }

func (p *reParser) take(prefix string) bool {
	if strings.HasPrefix(p.s[p.at:], prefix) {
		p.at += len(prefix)
		return true
	}
	return false
}

func (p *reParser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.s[p.at:])
	p.at += n
	return r
}

func (p *reParser) disjunction() (*reNode, error) {
	if p.depth++; p.depth > 100 {
		return nil, p.errorf("groups nested deeper than 100")
	}
	defer func() { p.depth-- }()
	alternatives := &reNode{op: reAlternate}
	for {
		sequence := &reNode{op: reConcat}
		for p.more() && p.s[p.at] != '|' && p.s[p.at] != ')' {
			term, err := p.term()
			if err != nil {
				return nil, err
			}
			sequence.list = append(sequence.list, term)
		}
		alternatives.list = append(alternatives.list, sequence)
		if !p.take("|") {
			break
		}
	}
	if len(alternatives.list) == 1 {
		return alternatives.list[0], nil
	}
	return alternatives, nil
}

func (p *reParser) term() (*reNode, error) {
	if p.oddCount() {
		return nil, p.errorf("a count with a leading zero, which dialects read differently")
	}
	op := reChars
	switch {
	case p.take("^"):
		op = reBegin
	case p.take("$"):
		op = reEnd
	}
	if op != reChars || p.s[p.at] == '{' {
		if _, _, ok := p.quantifier(); ok {
			return nil, p.errorf("nothing to repeat")
		}
		if op != reChars {
			return &reNode{op: op}, nil
		}
	}
	atom, err := p.atom()
	if err != nil {
		return nil, err
	}
	if p.oddCount() {
		return nil, p.errorf("a count with a leading zero, which dialects read differently")
	}
	lo, hi, ok := p.quantifier()
	if !ok {
		return atom, nil
	}
	if hi >= 0 && hi < lo {
		return nil, p.errorf("a repetition from %d to %d", lo, hi)
	}
	p.take("?") // which match is found first changes nothing
	begin := p.at
	if p.take("*") || p.take("+") || p.take("?") {
		return nil, p.errorf("nothing to repeat")
	}
	if _, _, ok := p.quantifier(); ok {
		p.at = begin
		return nil, p.errorf("nothing to repeat")
	}
	return &reNode{op: reRepeat, list: []*reNode{atom}, min: lo, max: hi}, nil
}

// quantifier reads *, +, ?, {n}, {n,} or {n,m}; anything else is none.
func (p *reParser) quantifier() (lo, hi int, ok bool) {
	switch {
	case p.take("*"):
		return 0, -1, true
	case p.take("+"):
		return 1, -1, true
	case p.take("?"):
		return 0, 1, true
	}
	end := strings.IndexByte(p.s[p.at:], '}')
	if !p.more() || p.s[p.at] != '{' || end < 0 {
		return 0, 0, false
	}
	first, second, comma := strings.Cut(p.s[p.at+1:p.at+end], ",")
	number := func(s string) bool {
		for _, c := range s {
			if c < '0' || c > '9' {
				return false
			}
		}
		return s != "" && len(s) < 9
	}
	if !number(first) || comma && second != "" && !number(second) {
		return 0, 0, false
	}
	lo, _ = strconv.Atoi(first)
	switch {
	case !comma:
		hi = lo
	case second == "":
		hi = -1
	default:
		hi, _ = strconv.Atoi(second)
	}
	p.at += end + 1
	return lo, hi, true
}

// oddCount reports whether a count such as {00} follows: a repetition to ECMA
// 262, and the characters themselves to RE2.
func (p *reParser) oddCount() bool {
	begin := p.at
	defer func() { p.at = begin }()
	if _, _, ok := p.quantifier(); !ok || p.s[begin] != '{' {
		return false
	}
	first, second, _ := strings.Cut(p.s[begin+1:p.at-1], ",")
	return len(first) > 1 && first[0] == '0' || len(second) > 1 && second[0] == '0'
}

func (p *reParser) atom() (*reNode, error) {
	switch c := p.s[p.at]; c {
	case '(':
		p.at++
		if p.take("?") && !p.take(":") {
			if !p.take("<") || p.take("=") || p.take("!") {
				return nil, p.errorf("a group (? of this kind is not regular, or not of ECMA 262")
			}
			i := strings.IndexByte(p.s[p.at:], '>')
			if i < 1 {
				return nil, p.errorf("a group without a name")
			}
			p.at += i + 1
		}
		n, err := p.disjunction()
		if err == nil && !p.take(")") {
			err = p.errorf("a group without )")
		}
		return n, err
	case '[':
		return p.class()
	case '.':
		p.at++
		return &reNode{op: reChars, ranges: reDot}, nil
	case '*', '+', '?':
		return nil, p.errorf("nothing to repeat")
	case '\\':
		p.at++
		narrow, _, err := p.escape(false)
		return &reNode{op: reChars, ranges: narrow}, err
	}
	r := p.rune()
	return &reNode{op: reChars, ranges: []rune{r, r}}, nil
}

// escape reads what follows a backslash. It returns the code points that every
// dialect takes it for, and those that any does.
func (p *reParser) escape(inClass bool) (narrow, wide []rune, err error) {
	if !p.more() {
		return nil, nil, p.errorf("a \\ at the end")
	}
	one := func(r rune) ([]rune, []rune, error) { return []rune{r, r}, []rune{r, r}, nil }
	r := p.rune()
	switch r {
	case 'd':
		return reDigit, reDigit, nil
	case 'D':
		n := negateRanges(reDigit)
		return n, n, nil
	case 'w':
		return reWord, reWord, nil
	case 'W':
		n := negateRanges(reWord)
		return n, n, nil
	case 's':
		return reSpaceRE2, reSpaceECMA, nil
	case 'S':
		return negateRanges(reSpaceECMA), negateRanges(reSpaceRE2), nil
	case 'p', 'P':
		return p.property(r == 'P')
	case 't':
		return one('\t')
	case 'n':
		return one('\n')
	case 'r':
		return one('\r')
	case 'f':
		return one('\f')
	case 'v':
		return one('\v')
	case 'b':
		if inClass {
			return one('\b')
		}
	case '0':
		if p.more() && p.s[p.at] >= '0' && p.s[p.at] <= '9' {
			return nil, nil, p.errorf("an octal escape")
		}
		return one(0)
	case 'c':
		if p.more() && (p.s[p.at]|0x20) >= 'a' && (p.s[p.at]|0x20) <= 'z' {
			return one(p.rune() & 31)
		}
	case 'x', 'u':
		n := 2
		if r == 'u' {
			n = 4
		}
		var digits string
		if p.take("{") {
			i := strings.IndexByte(p.s[p.at:], '}')
			if i < 1 || i > 6 {
				return nil, nil, p.errorf("a bad \\%c escape", r)
			}
			digits = p.s[p.at : p.at+i]
			p.at += i + 1
		} else if p.at+n <= len(p.s) {
			digits = p.s[p.at : p.at+n]
			p.at += n
		}
		v, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || v > maxRune || v >= 0xd800 && v < 0xe000 {
			return nil, nil, p.errorf("a bad \\%c escape", r)
		}
		return one(rune(v))
	default:
		if r >= 0x80 || !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return one(r)
		}
	}
	return nil, nil, p.errorf("the escape \\%c is not regular, or not of ECMA 262", r)
}

// property reads the rest of \p{…}: a general category by its short name.
func (p *reParser) property(negated bool) (narrow, wide []rune, err error) {
	end := strings.IndexByte(p.s[p.at:], '}')
	if !p.take("{") || end < 0 {
		return nil, nil, p.errorf("\\p without {…}")
	}
	name := p.s[p.at : p.at+end-1]
	p.at += end
	table, ok := unicode.Categories[name]
	if !ok || len(name) > 2 {
		return nil, nil, p.errorf("the property %q is not a general category by its short name", name)
	}
	var ranges []rune
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			ranges = append(ranges, c, c)
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			ranges = append(ranges, c, c)
		}
	}
	ranges = sortRanges(ranges)
	if negated {
		ranges = negateRanges(ranges)
	}
	return ranges, ranges, nil
}

func (p *reParser) class() (*reNode, error) {
	p.at++
	negated := p.take("^")
	var ranges []rune
	for first := true; ; first = false {
		if !p.more() {
			return nil, p.errorf("a class without ]")
		}
		if p.take("]") {
			if first {
				return nil, p.errorf("an empty class")
			}
			break
		}
		if strings.HasPrefix(p.s[p.at:], "[:") {
			return nil, p.errorf("[: in a class, which dialects read differently")
		}
		lo, err := p.classAtom(negated)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(p.s[p.at:], "-") || strings.HasPrefix(p.s[p.at:], "-]") {
			ranges = append(ranges, lo...)
			continue
		}
		p.at++
		hi, err := p.classAtom(negated)
		if err != nil {
			return nil, err
		}
		if len(lo) != 2 || lo[0] != lo[1] || len(hi) != 2 || hi[0] != hi[1] || hi[0] < lo[0] {
			return nil, p.errorf("a bad range in a class")
		}
		ranges = append(ranges, lo[0], hi[0])
	}
	ranges = sortRanges(ranges)
	if negated {
		ranges = negateRanges(ranges)
	}
	return &reNode{op: reChars, ranges: ranges}, nil
}

func (p *reParser) classAtom(negated bool) ([]rune, error) {
	if !p.more() {
		return nil, p.errorf("a class without ]")
	}
	if !p.take("\\") {
		r := p.rune()
		return []rune{r, r}, nil
	}
	narrow, wide, err := p.escape(true)
	if negated {
		return wide, err
	}
	return narrow, err
}
