package grammar

import "slices"

// A stringLang is a set of strings. Free strings have no dfa: every string of
// min to max code points. They, and those of a total automaton, may be spelled
// with any escape of JSON; others in their canonical spelling only.
type stringLang struct {
	min, max int // code points; max -1: no bound
	dfa      *dfa
	bytes    *bytesDFA // dfa's canonical spelling
	total    bool      // every string can be completed to an accepted one

	// need[m][s] is the least number, m or more, of code points that lead from
	// state s of bytes to the end; for m up to min.
	need [][]int32
	// totalLeft is the bytes from each state of a total automaton to the end,
	// totalBest the character that leads there (-1: none is needed), and
	// totalWorst the most bytes of any state.
	totalLeft  []int32
	totalBest  []rune
	totalWorst int32
	worst      int // bytes to the end from the worst state, the quote included
}

// newStringLang returns nil for the empty set.
func newStringLang(d *dfa, lo, hi int, w *work) (*stringLang, error) {
	l := &stringLang{min: lo, max: hi}
	if hi >= 0 && lo > hi || d != nil && d.empty() {
		return nil, nil
	}
	if d == nil || universal(d) {
		return l, nil
	}
	l.dfa = d
	if lo == 0 && hi < 0 && isTotal(d) {
		l.total = true
		return l, l.measureTotal(w)
	}
	var err error
	if l.bytes, err = spell(d, true, w); err != nil || l.bytes == nil {
		return nil, err
	}
	if err := l.measure(w); err != nil {
		return nil, err
	}
	if !l.live(0, 0) {
		return nil, nil
	}
	for s := range int32(l.bytes.states()) {
		if k := l.need[0][s]; k < never {
			l.worst = max(l.worst, int(l.bytes.left[s])+1, 6*(int(k)+lo)+1)
		}
	}
	return l, nil
}

// universal reports whether every string is accepted.
func universal(d *dfa) bool {
	return len(d.tag) == 1 && isTotal(d) && d.tag[0] >= 0
}

// isTotal reports whether every string can be completed.
func isTotal(d *dfa) bool { return !d.empty() && !slices.Contains(d.next, -1) }

// measure fills need.
func (l *stringLang) measure(w *work) error {
	b := l.bytes
	n := b.states()
	for m := 0; m <= l.min; m++ {
		if err := w.spend(len(b.next)); err != nil {
			return err
		}
		row := make([]int32, n)
		for s := range row {
			row[s] = never
			if m == 0 && b.tag[s] >= 0 {
				row[s] = 0
			}
		}
		// Within one character states have no cycle; with m 0 there are cycles,
		// and distances settle from the accepting states outwards.
		for changed := true; changed; {
			changed = false
			if err := w.spend(len(b.next)); err != nil {
				return err
			}
			for s := n - 1; s >= 0; s-- {
				for _, t := range b.next[s*b.classes : (s+1)*b.classes] {
					if t < 0 {
						continue
					}
					d := row[t]
					if b.whole[t] {
						if m > 0 {
							d = l.need[m-1][t]
						}
						if d < never {
							d++
						}
					}
					if d < row[s] {
						row[s] = d
						changed = true
					}
				}
			}
		}
		l.need = append(l.need, row)
	}
	return nil
}

// live reports whether a string that has read n whole characters, and stands in
// state s of bytes, can be completed.
func (l *stringLang) live(s int32, n int) bool {
	k := l.need[max(l.min-n, 0)][s]
	return k < never && (l.max < 0 || n+int(k) <= l.max)
}

// automaton returns the set as an automaton, lengths included.
func (l *stringLang) automaton(w *work) (*dfa, error) {
	if l.dfa != nil && l.min == 0 && l.max < 0 {
		return l.dfa, nil
	}
	d, err := lengths(l.min, l.max, w)
	if err != nil || l.dfa == nil {
		return d, err
	}
	return intersect([]*dfa{l.dfa, d}, w)
}

// accepts reports whether s is in the set.
func (l *stringLang) accepts(s string) bool {
	n := 0
	for range s {
		n++
	}
	return n >= l.min && (l.max < 0 || n <= l.max) && (l.dfa == nil || l.dfa.run(s) >= 0)
}

// uniteStrings returns what any of the sets holds.
func uniteStrings(langs []*stringLang, w *work) (*stringLang, error) {
	if len(langs) <= 1 {
		if len(langs) == 0 {
			return nil, nil
		}
		return langs[0], nil
	}
	for _, l := range langs {
		if l.dfa == nil && l.min == 0 && l.max < 0 {
			return l, nil
		}
	}
	var parts []*dfa
	for _, l := range langs {
		d, err := l.automaton(w)
		if err != nil {
			return nil, err
		}
		parts = append(parts, d)
	}
	d, err := unite(parts, w)
	if err != nil {
		return nil, err
	}
	return newStringLang(d, 0, -1, w)
}
