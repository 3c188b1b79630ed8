package grammar

import (
	"encoding/binary"
	"slices"
)

// An nfaState is a state of Thompson's construction (Thompson, "Regular
// expression search algorithm", 1968).
type nfaState struct {
	op     nfaOp
	ranges []rune // nfaChars
	out    int32
	other  int32 // nfaSplit
}

type nfaOp uint8

const (
	nfaSplit nfaOp = iota
	nfaChars
	nfaBegin  // passes at the beginning only
	nfaEnd    // passes at the end only
	nfaAccept // anything may follow
)

type nfa struct {
	states []nfaState
	work   *work
}

func (n *nfa) add(s nfaState) (int32, error) {
	if err := n.work.spend(8); err != nil {
		return 0, err
	}
	n.states = append(n.states, s)
	return int32(len(n.states) - 1), nil
}

// build returns the first state of an automaton for node that goes on to out.
func (n *nfa) build(node *reNode, out int32) (int32, error) {
	var err error
	switch node.op {
	case reChars:
		return n.add(nfaState{op: nfaChars, ranges: node.ranges, out: out})
	case reBegin:
		return n.add(nfaState{op: nfaBegin, out: out})
	case reEnd:
		return n.add(nfaState{op: nfaEnd, out: out})
	case reConcat:
		for _, e := range slices.Backward(node.list) {
			if out, err = n.build(e, out); err != nil {
				return 0, err
			}
		}
		return out, nil
	case reAlternate:
		first := int32(-1)
		for _, e := range slices.Backward(node.list) {
			s, err := n.build(e, out)
			if err != nil {
				return 0, err
			}
			if first >= 0 {
				if s, err = n.add(nfaState{op: nfaSplit, out: s, other: first}); err != nil {
					return 0, err
				}
			}
			first = s
		}
		return first, nil
	case reRepeat:
		if node.max < 0 {
			split, err := n.add(nfaState{op: nfaSplit, other: out})
			if err != nil {
				return 0, err
			}
			body, err := n.build(node.list[0], split)
			if err != nil {
				return 0, err
			}
			n.states[split].out = body
			out = split
		} else {
			end := out
			for range node.max - node.min {
				body, err := n.build(node.list[0], out)
				if err != nil {
					return 0, err
				}
				if out, err = n.add(nfaState{op: nfaSplit, out: body, other: end}); err != nil {
					return 0, err
				}
			}
		}
		for range node.min {
			if out, err = n.build(node.list[0], out); err != nil {
				return 0, err
			}
		}
		return out, nil
	}
	return out, nil
}

// close adds to set all states that are reached from s without a code point.
func (n *nfa) close(set []int32, seen []uint32, mark uint32, s int32, begin, end bool) []int32 {
	stack := []int32{s}
	for len(stack) > 0 {
		s = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[s] == mark {
			continue
		}
		seen[s] = mark
		switch st := &n.states[s]; {
		case st.op == nfaSplit:
			stack = append(stack, st.other, st.out)
		case st.op == nfaBegin && begin, st.op == nfaEnd && end:
			stack = append(stack, st.out)
		case st.op != nfaBegin:
			set = append(set, s)
		}
	}
	return set
}

// compileRegexp returns the automaton of all strings in which the pattern
// matches somewhere.
func compileRegexp(pattern string, w *work) (*dfa, error) {
	tree, err := parseRegexp(pattern)
	if err != nil {
		return nil, err
	}
	n := &nfa{work: w}
	accept, err := n.add(nfaState{op: nfaAccept})
	if err != nil {
		return nil, err
	}
	body, err := n.build(tree, accept)
	if err != nil {
		return nil, err
	}
	// The search: any code points, then the pattern.
	loop, err := n.add(nfaState{op: nfaSplit})
	if err != nil {
		return nil, err
	}
	anything, err := n.add(nfaState{op: nfaChars, ranges: []rune{0, maxRune}, out: loop})
	if err != nil {
		return nil, err
	}
	n.states[loop].out, n.states[loop].other = body, anything
	return n.determinise(loop, accept)
}

// determinise is the subset construction.
func (n *nfa) determinise(start, accept int32) (*dfa, error) {
	cuts := []rune{0}
	for _, s := range n.states {
		for i := 0; i < len(s.ranges); i += 2 {
			cuts = append(cuts, s.ranges[i])
			if s.ranges[i+1] < maxRune {
				cuts = append(cuts, s.ranges[i+1]+1)
			}
		}
	}
	if err := n.work.spend(len(cuts)); err != nil {
		return nil, err
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	d := newDFA(cuts)
	seen := make([]uint32, len(n.states))
	mark := uint32(0)
	byKey := map[string]int32{}
	var sets [][]int32
	intern := func(set []int32, begin bool) int32 {
		if slices.Contains(set, accept) {
			set = []int32{accept}
		}
		slices.Sort(set)
		key := make([]byte, 0, 4*len(set)+1)
		for _, s := range set {
			key = binary.LittleEndian.AppendUint32(key, uint32(s))
		}
		if begin {
			key = append(key, 1)
		}
		if id, ok := byKey[string(key)]; ok {
			return id
		}
		mark++
		var ends []int32
		for _, s := range set {
			if n.states[s].op == nfaEnd {
				ends = n.close(ends, seen, mark, s, begin, true)
			}
		}
		tag := int32(-1)
		if slices.Contains(set, accept) || slices.Contains(ends, accept) {
			tag = 0
		}
		id := d.addState(tag)
		byKey[string(key)] = id
		sets = append(sets, set)
		return id
	}
	mark++
	intern(n.close(nil, seen, mark, start, true, false), true)
	var moved []int32
	for at := 0; at < len(sets); at++ {
		for class, lo := range d.bounds {
			mark++
			moved = moved[:0]
			for _, s := range sets[at] {
				switch st := &n.states[s]; st.op {
				case nfaAccept:
					moved = n.close(moved, seen, mark, s, false, false)
				case nfaChars:
					if inRanges(st.ranges, lo) {
						moved = n.close(moved, seen, mark, st.out, false, false)
					}
				}
			}
			if err := n.work.spend(2 + len(sets[at]) + len(moved)); err != nil {
				return nil, err
			}
			if len(moved) > 0 {
				id := intern(slices.Clone(moved), false)
				d.next[at*len(d.bounds)+class] = id
			}
		}
	}
	return d.trim(), nil
}

func inRanges(ranges []rune, r rune) bool {
	lo, hi := 0, len(ranges)/2
	for lo < hi {
		mid := (lo + hi) / 2
		switch {
		case r < ranges[2*mid]:
			hi = mid
		case r > ranges[2*mid+1]:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}
