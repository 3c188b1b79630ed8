package grammar

import "slices"

// plainSets are sets of characters whose tokens a vocabulary keeps apart, the
// largest first. In a string by a pattern most of the many tokens that are legal
// are of one of them, and whether all of a set are is seen from the automaton
// alone.
var plainSets = []string{
	" 0-9A-Za-z",
	"0-9A-Za-z",
	"A-Za-z",
	"a-z",
}

// minPlain is up to how many characters tokens of a set must all be legal for it
// to be used.
const minPlain = 8

// plainTokens are the tokens of characters of one set alone.
type plainTokens struct {
	chars []byte
	upTo  [][]uint64 // bit sets by the most bytes of a token; the last has all
	long  []int32    // all, the longest first
	most  int        // bytes of the longest
	rest  *trie      // of all other tokens
}

func (v *Vocabulary) plain(set string) plainTokens {
	var p plainTokens
	var in [256]bool
	for i := 0; i < len(set); i++ {
		lo, hi := set[i], set[i]
		if i+2 < len(set) && set[i+1] == '-' {
			hi = set[i+2]
			i += 2
		}
		for c := int(lo); c <= int(hi); c++ {
			in[c] = true
			p.chars = append(p.chars, byte(c))
		}
	}
	only := func(t []byte) bool {
		return len(t) > 0 && !slices.ContainsFunc(t, func(c byte) bool { return !in[c] })
	}
	for id := range int32(v.size) {
		if t := v.bytes(id); only(t) {
			p.long = append(p.long, id)
			p.most = max(p.most, len(t))
		}
	}
	slices.SortStableFunc(p.long, func(a, b int32) int { return len(v.bytes(b)) - len(v.bytes(a)) })
	for n := range min(charSteps, p.most) + 1 {
		bits := make([]uint64, v.words())
		for _, id := range p.long {
			if len(v.bytes(id)) <= n || n == charSteps {
				setBit(bits, id)
			}
		}
		p.upTo = append(p.upTo, bits)
	}
	p.rest = newTrie(v.size, func(id int32) []byte {
		if t := v.bytes(id); len(t) > 0 && !only(t) {
			return t
		}
		return nil
	})
	return p
}

// allLive returns up to which length every string of the characters can follow
// in a spelled string, as far as most.
func (l *stringLang) allLive(chars []byte, state, read int32, most int) int {
	var buffer, other [8]int32
	states, next := append(buffer[:0], state), other[:0]
	for n := range most {
		next = next[:0]
		for _, s := range states {
			last := int32(-2)
			for _, c := range chars {
				t := l.bytes.step(s, c)
				if t == last {
					continue
				}
				if t < 0 || !l.live(t, int(read)+n+1) {
					return n
				}
				last = t
				if !slices.Contains(next, t) {
					if len(next) == cap(next) {
						return n // too many ways to look at
					}
					next = append(next, t)
				}
			}
		}
		if l.max < 0 && int(read)+n >= l.min && slices.Equal(states, next) {
			return most
		}
		states, next = next, states
	}
	return most
}

// inPattern finds the mask of a thread in a spelled string from a set of plain
// tokens that are all legal. It reports false where there is none.
func (w *walker) inPattern(t *thread, k *mask) bool {
	l := w.m.g.nodes[t.a].str
	if !l.bytes.whole[t.b] {
		return false
	}
	for i := range w.v.plains {
		p := &w.v.plains[i]
		n := l.allLive(p.chars, t.b, t.c, p.most)
		if n < minPlain && n < p.most {
			continue
		}
		k.base = p.upTo[min(n, len(p.upTo)-1)]
		if n < p.most && n >= len(p.upTo)-1 {
			n = len(p.upTo) - 2
			k.base = p.upTo[n]
		}
		for _, id := range p.long {
			text := w.v.bytes(id)
			if len(text) <= n {
				break
			}
			if n < p.most && l.spells(t, text) {
				w.ids = append(w.ids, id)
			}
		}
		w.trie = p.rest
		w.walkSpelled(0, t, false)
		k.most = l.worst + w.m.infos[t.frame].rest
		k.need = w.v.long + k.most
		return true
	}
	return false
}

// spells reports whether ASCII characters without escapes can follow.
func (l *stringLang) spells(t *thread, text []byte) bool {
	s, n := t.b, int(t.c)
	for _, c := range text {
		n++
		if s = l.bytes.step(s, c); s < 0 || !l.live(s, n) {
			return false
		}
	}
	return true
}
