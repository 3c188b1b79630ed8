package grammar

import (
	"encoding/binary"
	"slices"
)

// A dfa is a deterministic automaton over code points. State 0 is the first;
// every state can reach an accepting one, except where none can at all: then
// there is state 0 alone. A state's tag says what a string that ends there is
// accepted as, -1 for not at all.
type dfa struct {
	bounds []rune  // class k holds the code points from bounds[k] to bounds[k+1]-1; bounds[0] is 0
	next   []int32 // by state*len(bounds)+class; -1: none
	tag    []int32
	ascii  [128]uint16 // class of an ASCII character
}

func newDFA(bounds []rune) *dfa {
	d := &dfa{bounds: bounds}
	class := 0
	for r := range rune(128) {
		for class+1 < len(bounds) && bounds[class+1] <= r {
			class++
		}
		d.ascii[r] = uint16(class)
	}
	return d
}

func (d *dfa) addState(tag int32) int32 {
	for range d.bounds {
		d.next = append(d.next, -1)
	}
	d.tag = append(d.tag, tag)
	return int32(len(d.tag) - 1)
}

func (d *dfa) class(r rune) int {
	if r < 128 {
		return int(d.ascii[r])
	}
	lo, hi := 0, len(d.bounds)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; d.bounds[mid] <= r {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (d *dfa) step(s int32, r rune) int32 { return d.next[int(s)*len(d.bounds)+d.class(r)] }

// run returns the tag of a string.
func (d *dfa) run(s string) int32 {
	state := int32(0)
	for _, r := range s {
		if state = d.step(state, r); state < 0 {
			return -1
		}
	}
	return d.tag[state]
}

func (d *dfa) row(s int32) []int32 {
	n := len(d.bounds)
	return d.next[int(s)*n : int(s)*n+n]
}

// empty reports whether no string is accepted.
func (d *dfa) empty() bool {
	return len(d.tag) == 1 && d.tag[0] < 0
}

// trim drops the states from which no accepting one is reached, and makes one of
// all states that accept everything as the same tag.
func (d *dfa) trim() *dfa {
	n := len(d.tag)
	// Backwards from the accepting states.
	before := make([][]int32, n)
	for s := range n {
		for _, t := range d.row(int32(s)) {
			if t >= 0 && (len(before[t]) == 0 || before[t][len(before[t])-1] != int32(s)) {
				before[t] = append(before[t], int32(s))
			}
		}
	}
	alive := make([]bool, n)
	var stack []int32
	visit := func(s int32) {
		if !alive[s] {
			alive[s] = true
			stack = append(stack, s)
		}
	}
	for s, tag := range d.tag {
		if tag >= 0 {
			visit(int32(s))
		}
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, t := range before[s] {
			visit(t)
		}
	}
	// Not universal: what has another tag, or leads to what is not universal.
	universal := make([]bool, n)
	for s := range universal {
		universal[s] = d.tag[s] >= 0
	}
	for s := range universal {
		if d.tag[s] < 0 {
			stack = append(stack, int32(s))
			continue
		}
		for _, t := range d.row(int32(s)) {
			if t < 0 || d.tag[t] != d.tag[s] {
				universal[s] = false
				stack = append(stack, int32(s))
				break
			}
		}
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, t := range before[s] {
			if universal[t] {
				universal[t] = false
				stack = append(stack, t)
			}
		}
	}
	out := newDFA(d.bounds)
	if !alive[0] {
		out.addState(-1)
		return out
	}
	id := make([]int32, n)
	for s := range id {
		id[s] = -1
	}
	universals := map[int32]int32{}
	for s := range n {
		if !alive[s] {
			continue
		}
		if universal[s] {
			u, ok := universals[d.tag[s]]
			if !ok {
				u = out.addState(d.tag[s])
				universals[d.tag[s]] = u
			}
			id[s] = u
			continue
		}
		id[s] = out.addState(d.tag[s])
	}
	for s := range n {
		if id[s] < 0 {
			continue
		}
		row := out.row(id[s])
		for class, t := range d.row(int32(s)) {
			row[class] = -1
			if t >= 0 {
				row[class] = id[t]
			}
		}
	}
	return out
}

// product runs automata beside each other. A component without a further state
// is in state -1. tag gives the tag of a tuple from those of its components;
// dead reports a tuple that cannot become accepting; both must not keep their
// argument.
func product(parts []*dfa, w *work, tag func(tags []int32) int32, dead func(states []int32) bool) (*dfa, error) {
	var cuts []rune
	for _, p := range parts {
		cuts = append(cuts, p.bounds...)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if len(cuts) == 0 {
		cuts = []rune{0}
	}
	classes := make([][]int32, len(parts))
	for i, p := range parts {
		for _, r := range cuts {
			classes[i] = append(classes[i], int32(p.class(r)))
		}
	}
	d := newDFA(cuts)
	byKey := map[string]int32{}
	var tuples [][]int32
	key := make([]byte, 0, 4*len(parts))
	tags := make([]int32, len(parts))
	intern := func(tuple []int32) int32 {
		key = key[:0]
		for _, s := range tuple {
			key = binary.LittleEndian.AppendUint32(key, uint32(s))
		}
		if id, ok := byKey[string(key)]; ok {
			return id
		}
		for i, s := range tuple {
			tags[i] = -1
			if s >= 0 {
				tags[i] = parts[i].tag[s]
			}
		}
		id := d.addState(tag(tags))
		byKey[string(key)] = id
		tuples = append(tuples, slices.Clone(tuple))
		return id
	}
	tuple := make([]int32, len(parts))
	intern(tuple)
	for at := 0; at < len(tuples); at++ {
		if err := w.spend(len(cuts) * (1 + len(parts))); err != nil {
			return nil, err
		}
		for class := range cuts {
			for i, p := range parts {
				tuple[i] = -1
				if s := tuples[at][i]; s >= 0 {
					tuple[i] = p.next[int(s)*len(p.bounds)+int(classes[i][class])]
				}
			}
			if dead(tuple) {
				continue
			}
			id := intern(tuple)
			d.next[at*len(cuts)+class] = id
		}
	}
	return d.trim(), nil
}

// intersect returns the strings that all automata accept.
func intersect(parts []*dfa, w *work) (*dfa, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	return product(parts, w, func(tags []int32) int32 {
		for _, t := range tags {
			if t < 0 {
				return -1
			}
		}
		return 0
	}, func(states []int32) bool { return slices.Contains(states, -1) })
}

// unite returns the strings that any automaton accepts.
func unite(parts []*dfa, w *work) (*dfa, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	return product(parts, w, func(tags []int32) int32 {
		for _, t := range tags {
			if t >= 0 {
				return 0
			}
		}
		return -1
	}, allDead)
}

func allDead(states []int32) bool {
	for _, s := range states {
		if s >= 0 {
			return false
		}
	}
	return true
}

// stringSet returns the automaton of finitely many strings; string i has tag i.
func stringSet(strings []string, w *work) (*dfa, error) {
	cuts := []rune{0}
	total := 0
	for _, s := range strings {
		for _, r := range s {
			cuts = append(cuts, r, r+1)
			total++
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if err := w.spend(len(cuts) + 4*total); err != nil {
		return nil, err
	}
	d := newDFA(cuts)
	d.addState(-1)
	for i, s := range strings {
		state := int32(0)
		for _, r := range s {
			at := int(state)*len(cuts) + d.class(r)
			if d.next[at] < 0 {
				if err := w.spend(len(cuts)); err != nil {
					return nil, err
				}
				id := d.addState(-1)
				d.next[at] = id
			}
			state = d.next[at]
		}
		d.tag[state] = int32(i)
	}
	return d, nil
}

// lengths returns the automaton of the strings of min to max code points; max
// -1 means no bound.
func lengths(lo, hi int, w *work) (*dfa, error) {
	d := newDFA([]rune{0})
	n := max(lo, hi)
	if err := w.spend(n + 1); err != nil {
		return nil, err
	}
	for i := range n + 1 {
		tag := int32(-1)
		if i >= lo && (hi < 0 || i <= hi) {
			tag = 0
		}
		d.addState(tag)
		if i > 0 {
			d.next[i-1] = int32(i)
		}
	}
	if hi < 0 {
		d.next[n] = int32(n)
	}
	return d.trim(), nil
}
