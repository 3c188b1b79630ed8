package bpe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// runScanner matches expressions of the form X?Y{min,max}: perhaps one
// character of a set, then a run of characters of another. Most Split patterns
// other than the large known ones have it: \p{N}{1,3}, [\r\n], \s?\p{L}+.
type runScanner struct {
	lead     *charSet // nil: none
	run      *charSet
	min, max int // how many characters the run takes; max < 0: any number
}

func (r *runScanner) next(s string, i int) (int, int) {
	for i < len(s) {
		if r.lead != nil {
			if n := r.lead.match(s, i); n > 0 {
				if end := r.match(s, i+n); end >= 0 {
					return i, end
				}
			}
		}
		if end := r.match(s, i); end >= 0 {
			return i, end
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return len(s), len(s)
}

// match returns the end of the run that begins at i, -1 if it is too short.
func (r *runScanner) match(s string, i int) int {
	count := 0
	for count != r.max {
		n := r.run.match(s, i)
		if n == 0 {
			break
		}
		i += n
		count++
	}
	if count < r.min {
		return -1
	}
	return i
}

// charSet is a set of characters: those with a property of mask, those in
// ranges, or with negate all others.
type charSet struct {
	t      *classTable
	mask   class
	ranges [][2]rune // in order, apart from each other
	negate bool
	ascii  [utf8.RuneSelf]bool // the answer for ASCII
}

// match returns the length of the character at s[i:] if it is in the set, else 0.
func (c *charSet) match(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		if c.ascii[b] {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if c.has(r) {
		return n
	}
	return 0
}

func (c *charSet) has(r rune) bool {
	in := c.t.of(r)&c.mask != 0
	if !in {
		_, in = slices.BinarySearchFunc(c.ranges, r, func(a [2]rune, r rune) int {
			switch {
			case a[1] < r:
				return -1
			case a[0] > r:
				return 1
			}
			return 0
		})
	}
	return in != c.negate
}

// freeze orders the ranges and fills the table for ASCII.
func (c *charSet) freeze() {
	slices.SortFunc(c.ranges, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	merged := c.ranges[:0]
	for _, r := range c.ranges {
		if k := len(merged) - 1; k >= 0 && r[0] <= merged[k][1]+1 {
			merged[k][1] = max(merged[k][1], r[1])
			continue
		}
		merged = append(merged, r)
	}
	c.ranges = merged
	for r := range c.ascii {
		c.ascii[r] = c.has(rune(r))
	}
}

var errForm = errors.New(`neither a known one nor of the form X?[class]+`)

// properties are the values of \p{…} that a set may have.
var properties = map[string]class{
	"L": classL, "Lu": classLu, "Ll": classLl, "Lt": classLt, "Lm": classLm, "Lo": classLo,
	"M": classM, "N": classN, "Nd": classNd, "P": classP, "S": classS,
}

// maxRepeat bounds the counts of {m,n}.
const maxRepeat = 1000

// parseRun reads an expression of the form X?Y, X?Y+, X?Y{m,n} or YYY.
func parseRun(t *classTable, regex string) (*runScanner, error) {
	p := runParser{t: t, rest: regex}
	first, err := p.atom()
	if err != nil {
		return nil, err
	}
	firstText := regex[:len(regex)-len(p.rest)]
	s := &runScanner{run: first, min: 1, max: 1}
	if strings.HasPrefix(p.rest, "?") {
		p.rest = p.rest[1:]
		s.lead = first
		if s.run, err = p.atom(); err != nil {
			return nil, err
		}
	} else if k := strings.Count(p.rest, firstText); k > 0 && k < maxRepeat && strings.Repeat(firstText, k) == p.rest {
		s.min, s.max = k+1, k+1
		p.rest = ""
	}
	if s.min == 1 {
		if err := p.repeat(s); err != nil {
			return nil, err
		}
	}
	if p.rest != "" {
		return nil, errForm
	}
	return s, nil
}

type runParser struct {
	t    *classTable
	rest string
}

// repeat reads a quantifier, if there is one.
func (p *runParser) repeat(s *runScanner) error {
	switch {
	case p.rest == "":
		return nil
	case p.rest == "+":
		s.max = -1
		p.rest = ""
		return nil
	}
	body, ok := strings.CutPrefix(p.rest, "{")
	if !ok {
		return errForm
	}
	body, rest, ok := strings.Cut(body, "}")
	if !ok || rest != "" {
		return errForm
	}
	low, high, two := strings.Cut(body, ",")
	var err error
	if s.min, err = strconv.Atoi(low); err != nil {
		return errForm
	}
	s.max = s.min
	if two {
		if s.max = -1; high != "" {
			if s.max, err = strconv.Atoi(high); err != nil {
				return errForm
			}
		}
	}
	if s.min < 1 || s.min > maxRepeat || s.max > maxRepeat || s.max >= 0 && s.max < s.min {
		return fmt.Errorf("the repeat {%s} is not within 1 and %d", clip(body), maxRepeat)
	}
	p.rest = ""
	return nil
}

// atom reads what matches one character: a class, an escape or a plain character.
func (p *runParser) atom() (*charSet, error) {
	set := &charSet{t: p.t}
	if p.rest == "" {
		return nil, errForm
	}
	switch p.rest[0] {
	case '[':
		p.rest = p.rest[1:]
		if strings.HasPrefix(p.rest, "^") {
			p.rest = p.rest[1:]
			set.negate = true
		}
		if err := p.class(set, 1); err != nil {
			return nil, err
		}
	case '.', '^', '$', '*', '+', '?', '(', ')', '|', '{', '}', ']':
		return nil, errForm
	default:
		if p.rest, set.negate = strings.CutPrefix(p.rest, `\S`); set.negate {
			set.mask = classSpace
			break
		}
		r, err := p.item(set)
		if err != nil {
			return nil, err
		}
		if r >= 0 {
			set.ranges = append(set.ranges, [2]rune{r, r})
		}
	}
	set.freeze()
	return set, nil
}

// class reads the inside of brackets up to and with the closing one. A class
// within a class adds its members.
func (p *runParser) class(set *charSet, depth int) error {
	if depth > 4 || strings.HasPrefix(p.rest, "]") {
		return errForm
	}
	for {
		switch {
		case p.rest == "" || strings.HasPrefix(p.rest, "&&") || strings.HasPrefix(p.rest, "[:") || strings.HasPrefix(p.rest, "[^"):
			return errForm
		case p.rest[0] == ']':
			p.rest = p.rest[1:]
			return nil
		case p.rest[0] == '[':
			p.rest = p.rest[1:]
			if err := p.class(set, depth+1); err != nil {
				return err
			}
			continue
		}
		lo, err := p.item(set)
		if err != nil {
			return err
		}
		if lo < 0 {
			continue
		}
		hi := lo
		if len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] != ']' {
			p.rest = p.rest[1:]
			if hi, err = p.item(nil); err != nil || hi < lo {
				return errForm
			}
		}
		set.ranges = append(set.ranges, [2]rune{lo, hi})
	}
}

// item reads one character or escape. A property goes into set and gives -1.
func (p *runParser) item(set *charSet) (rune, error) {
	r, n := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[n:]
	if r != '\\' {
		return r, nil
	}
	if p.rest == "" {
		return 0, errForm
	}
	r, n = utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[n:]
	switch r {
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 's', 'd', 'p':
		mask := classSpace
		if r == 'd' {
			mask = classNd
		}
		if r == 'p' {
			name, ok := strings.CutPrefix(p.rest, "{")
			if !ok {
				return 0, errForm
			}
			name, rest, ok := strings.Cut(name, "}")
			if mask = properties[name]; !ok || mask == 0 {
				return 0, fmt.Errorf(`unknown property \p{%s}`, clip(name))
			}
			p.rest = rest
		}
		if set == nil {
			return 0, errForm
		}
		set.mask |= mask
		return -1, nil
	case 'u':
		if len(p.rest) < 4 {
			return 0, errForm
		}
		v, err := strconv.ParseUint(p.rest[:4], 16, 16)
		if err != nil || !utf8.ValidRune(rune(v)) {
			return 0, errForm
		}
		p.rest = p.rest[4:]
		return rune(v), nil
	}
	if r < utf8.RuneSelf && classes().blocks[r]&classPunct != 0 {
		return r, nil
	}
	return 0, errForm
}
