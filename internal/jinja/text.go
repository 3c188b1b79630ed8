package jinja

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A Span is the bytes [Start, End) of a text.
type Span struct{ Start, End int }

// text is a string that knows which of its bytes are data. Spans are in
// ascending order, neither empty nor touching.
type text struct {
	s    string
	data []Span
}

// written is text of the template's own.
func written(s string) text { return text{s: s} }

// given is text that is data.
func given(s string) text {
	if s == "" {
		return text{}
	}
	return text{s: s, data: []Span{{0, len(s)}}}
}

// slice returns the bytes [i, j).
func (t text) slice(i, j int) text {
	out := text{s: t.s[i:j]}
	if i >= j || len(t.data) == 0 {
		return out
	}
	first := sort.Search(len(t.data), func(k int) bool { return t.data[k].End > i })
	for _, span := range t.data[first:] {
		if span.Start >= j {
			break
		}
		out.data = append(out.data, Span{max(span.Start, i) - i, min(span.End, j) - i})
	}
	return out
}

// like returns s, which was made from t, as data if any of t is data.
func (t text) like(s string) text {
	if len(t.data) > 0 {
		return given(s)
	}
	return written(s)
}

// mapRunes replaces each rune by f's string. Invalid bytes become U+FFFD.
func (m *machine) mapRunes(t text, f func(r rune) string) text {
	var b builder
	k := 0 // first span that does not end before the rune
	for i, r := range t.s {
		for k < len(t.data) && t.data[k].End <= i {
			k++
		}
		data := k < len(t.data) && t.data[k].Start <= i
		b.add(m, f(r), data)
	}
	return b.text()
}

// A builder joins texts. Its memory is taken from the machine's budget before
// it grows.
type builder struct {
	b    strings.Builder
	data []Span
}

func (b *builder) add(m *machine, s string, data bool) {
	m.use(len(s))
	if data {
		b.mark(b.b.Len(), b.b.Len()+len(s))
	}
	b.b.WriteString(s)
}

// write appends what the template wrote.
func (b *builder) write(m *machine, s string) { b.add(m, s, false) }

func (b *builder) join(m *machine, t text) {
	m.use(len(t.s) + 16*len(t.data))
	at := b.b.Len()
	for _, span := range t.data {
		b.mark(at+span.Start, at+span.End)
	}
	b.b.WriteString(t.s)
}

func (b *builder) mark(start, end int) {
	if start == end {
		return
	}
	if n := len(b.data); n > 0 && b.data[n-1].End == start {
		b.data[n-1].End = end
		return
	}
	b.data = append(b.data, Span{start, end})
}

func (b *builder) text() text { return text{s: b.b.String(), data: b.data} }

// concat joins two texts.
func (m *machine) concat(a, b text) text {
	switch {
	case a.s == "":
		return b
	case b.s == "":
		return a
	}
	m.use(len(a.s) + len(b.s) + 16*(len(a.data)+len(b.data)))
	out := text{s: a.s + b.s}
	if len(a.data)+len(b.data) > 0 {
		bb := builder{data: make([]Span, 0, len(a.data)+len(b.data))}
		bb.data = append(bb.data, a.data...)
		for _, span := range b.data {
			bb.mark(len(a.s)+span.Start, len(a.s)+span.End)
		}
		out.data = bb.data
	}
	return out
}

// runeOffset returns the byte offset of rune n, or len(s) beyond the end.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// runes counts the code points of a text, as Python's len.
func (m *machine) runes(t text) int {
	m.walk(len(t.s))
	return utf8.RuneCountInString(t.s)
}
