package tasks

import (
	"math/rand/v2"
	"strings"
)

// random makes the choices of a task. Equal seeds make equal tasks.
type random struct{ *rand.Rand }

func newRandom(seed, n uint64) random { return random{rand.New(rand.NewPCG(seed, n))} }

// chance is true in one of 1/p cases.
func (r random) chance(p float64) bool { return r.Float64() < p }

// between returns a number from lo to hi.
func (r random) between(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

func pick[T any](r random, list ...T) T { return list[r.IntN(len(list))] }

// expand writes out a template: [a|b|c] is one of its alternatives, which may
// hold others; <name> is one of the alternatives of a rule.
func (r random) expand(text string) string {
	var b strings.Builder
	r.expandTo(&b, text)
	return b.String()
}

func (r random) expandTo(b *strings.Builder, text string) {
	for text != "" {
		i := strings.IndexAny(text, "[<")
		if i < 0 {
			b.WriteString(text)
			return
		}
		b.WriteString(text[:i])
		if text[i] == '<' {
			end := strings.IndexByte(text[i:], '>')
			name := text[i+1 : i+end]
			rule, ok := rules[name]
			if !ok {
				panic("tasks: no rule " + name)
			}
			r.expandTo(b, pick(r, rule...))
			text = text[i+end+1:]
			continue
		}
		list, rest := alternatives(text[i+1:])
		r.expandTo(b, pick(r, list...))
		text = rest
	}
}

// alternatives takes a text apart that begins after a [.
func alternatives(text string) (list []string, rest string) {
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
		case ']':
			if depth == 0 {
				return append(list, text[start:i]), text[i+1:]
			}
			depth--
		case '|':
			if depth == 0 {
				list = append(list, text[start:i])
				start = i + 1
			}
		}
	}
	panic("tasks: [ without ]")
}
