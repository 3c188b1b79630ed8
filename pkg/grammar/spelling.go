package grammar

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// This file turns an automaton over code points into one over the bytes of
// their canonical spelling in a JSON string: a character that can stand for
// itself does, as UTF-8; of the others `"`, `\`, backspace, form feed, line feed,
// carriage return and tab have their two-byte escape, and the other control
// characters \u00XX. Where alternates are asked for, the escapes that
// encoding/json writes for <, >, &, U+2028 and U+2029 are legal too.

// A spelled escape and its character.
type escape struct {
	text string // after the backslash
	r    rune
}

var escapes, alternates = func() (e, a []escape) {
	for r := range rune(0x20) {
		if i := strings.IndexByte("\b\f\n\r\t", byte(r)); i >= 0 {
			e = append(e, escape{"bfnrt"[i : i+1], r})
		} else {
			e = append(e, escape{fmt.Sprintf("u%04x", r), r})
		}
	}
	e = append(e, escape{`"`, '"'}, escape{`\`, '\\'})
	for _, r := range "<>&\u2028\u2029" {
		a = append(a, escape{fmt.Sprintf("u%04x", r), r})
	}
	return e, a
}()

// appendSpelled appends the canonical spelling of a string, without quotes.
func appendSpelled(dst []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20:
			dst = append(append(dst, '\\'), escapes[r].text...)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// A speller builds the automaton over bytes.
type speller struct {
	bytesBuilder
	d       *dfa
	tails   map[[2]int32]int32
	escapes []escape
}

// The kinds of tails: states that read the rest of a character after which the
// automaton is in one state, whichever the character is.
const (
	tail1  = iota // one continuation byte
	tail2         // two
	tail3         // three
	tailE0        // two, the first from 0xa0 on
	tailED        // two, the first up to 0x9f
	tailF0        // three, the first from 0x90 on
	tailF4        // three, the first up to 0x8f
)

// spell returns nil where d accepts nothing.
func spell(d *dfa, withAlternates bool, w *work) (*bytesDFA, error) {
	s := &speller{bytesBuilder: bytesBuilder{work: w}, d: d, tails: map[[2]int32]int32{}, escapes: escapes}
	if withAlternates {
		s.escapes = append(escapes[:len(escapes):len(escapes)], alternates...)
	}
	for _, tag := range d.tag {
		if _, err := s.add(tag, true); err != nil {
			return nil, err
		}
	}
	for state := range int32(len(d.tag)) {
		if err := s.state(state); err != nil {
			return nil, err
		}
	}
	return s.build()
}

func (s *speller) state(state int32) error {
	if err := s.work.spend(160); err != nil {
		return err
	}
	for c := rune(0x20); c < 0x80; c++ {
		if t := s.d.step(state, c); t >= 0 && c != '"' && c != '\\' {
			s.edge(state, byte(c), byte(c), t)
		}
	}
	for c := rune(0xc2); c <= 0xf4; c++ {
		kind, size, lo := int32(tail1), 1, c&0x1f<<6
		hi := lo | 0x3f
		switch {
		case c >= 0xf0:
			kind, size, lo = tail3, 3, c&7<<18
			hi = lo | 0x3ffff
			if c == 0xf0 {
				kind, lo = tailF0, 0x10000
			} else if c == 0xf4 {
				kind, hi = tailF4, 0x10ffff
			}
		case c >= 0xe0:
			kind, size, lo = tail2, 2, c&0xf<<12
			hi = lo | 0xfff
			if c == 0xe0 {
				kind, lo = tailE0, 0x800
			} else if c == 0xed {
				kind, hi = tailED, 0xd7ff
			}
		}
		if err := s.character(state, state, byte(c), kind, size, lo, hi); err != nil {
			return err
		}
	}
	return s.escaped(state)
}

// character adds the edge by byte c for the code points lo to hi, whose
// spelling goes on with size bytes.
func (s *speller) character(origin, from int32, c byte, kind int32, size int, lo, hi rune) error {
	target, same := s.uniform(origin, lo, hi)
	if same {
		if target < 0 {
			return nil
		}
		t, err := s.tail(target, kind)
		s.edge(from, c, c, t)
		return err
	}
	mid, err := s.add(-1, false)
	if err != nil {
		return err
	}
	s.edge(from, c, c, mid)
	if err := s.work.spend(64); err != nil {
		return err
	}
	step := rune(1) << (6 * (size - 1))
	for b := lo / step; b <= hi/step; b++ {
		c := byte(b&0x3f | 0x80)
		if size == 1 {
			if t := s.d.step(origin, b); t >= 0 {
				s.edge(mid, c, c, t)
			}
			continue
		}
		if err := s.character(origin, mid, c, tail1+int32(size)-2, size-1, b*step, b*step+step-1); err != nil {
			return err
		}
	}
	return nil
}

// uniform reports whether all code points from lo to hi lead to one state.
func (s *speller) uniform(state int32, lo, hi rune) (int32, bool) {
	row := s.d.row(state)
	class := s.d.class(lo)
	t := row[class]
	for class++; class < len(s.d.bounds) && s.d.bounds[class] <= hi; class++ {
		if row[class] != t {
			return 0, false
		}
	}
	return t, true
}

func (s *speller) tail(target, kind int32) (int32, error) {
	key := [2]int32{target, kind}
	if t, ok := s.tails[key]; ok {
		return t, nil
	}
	t, err := s.add(-1, false)
	if err != nil {
		return 0, err
	}
	s.tails[key] = t
	after, lo, hi := target, byte(0x80), byte(0xbf)
	switch kind {
	case tail1:
	case tail2, tailE0, tailED:
		after, err = s.tail(target, tail1)
	default:
		after, err = s.tail(target, tail2)
	}
	switch kind {
	case tailE0:
		lo = 0xa0
	case tailED:
		hi = 0x9f
	case tailF0:
		lo = 0x90
	case tailF4:
		hi = 0x8f
	}
	s.edge(t, lo, hi, after)
	return t, err
}

// escaped adds the escapes.
func (s *speller) escaped(state int32) error {
	nodes := map[string]int32{}
	var err error
	at := func(prefix string) int32 {
		if id, ok := nodes[prefix]; ok || err != nil {
			return id
		}
		var id int32
		id, err = s.add(-1, false)
		nodes[prefix] = id
		return id
	}
	link := map[string]bool{}
	for _, e := range s.escapes {
		t := s.d.step(state, e.r)
		if t < 0 {
			continue
		}
		from := at("")
		for i := range len(e.text) {
			to := t
			if i+1 < len(e.text) {
				to = at(e.text[:i+1])
			}
			if !link[e.text[:i+1]] {
				link[e.text[:i+1]] = true
				s.edge(from, e.text[i], e.text[i], to)
			}
			from = to
		}
	}
	if id, ok := nodes[""]; ok {
		s.edge(state, '\\', '\\', id)
	}
	return err
}
