package grammar

// never is the distance to what cannot be reached: more than any text has bytes,
// and so little that a few of them can be added in 32 bits.
const never = 1 << 29

// A bytesDFA is a deterministic automaton over bytes, of strings in their
// canonical spelling or of numbers. State 0 is the first, and every state can
// reach an accepting one.
type bytesDFA struct {
	class   [256]uint8
	classes int
	next    []int32 // by state*classes+class; -1: none
	tag     []int32 // -1: what ends there is not accepted
	whole   []bool  // no character is cut there
	left    []int32 // bytes to the nearest accepting state
}

func (b *bytesDFA) step(s int32, c byte) int32 { return b.next[int(s)*b.classes+int(b.class[c])] }

// depths returns how many bytes lead to each state at least.
func (b *bytesDFA) depths() []int32 {
	depth := make([]int32, b.states())
	queue := []int32{0}
	for at := 0; at < len(queue); at++ {
		s := queue[at]
		for _, t := range b.next[int(s)*b.classes : (int(s)+1)*b.classes] {
			if t > 0 && depth[t] == 0 {
				depth[t] = depth[s] + 1
				queue = append(queue, t)
			}
		}
	}
	return depth
}

// states returns their number.
func (b *bytesDFA) states() int { return len(b.tag) }

// An edge leads to a state by each of some bytes.
type edge struct {
	lo, hi byte
	to     int32
}

// A bytesBuilder collects the states of a bytesDFA.
type bytesBuilder struct {
	edges [][]edge
	tag   []int32
	whole []bool
	work  *work
}

func (b *bytesBuilder) add(tag int32, whole bool) (int32, error) {
	if err := b.work.spend(4); err != nil {
		return 0, err
	}
	b.edges = append(b.edges, nil)
	b.tag = append(b.tag, tag)
	b.whole = append(b.whole, whole)
	return int32(len(b.tag) - 1), nil
}

// edge adds an edge. Edges of a state are added in the order of bytes, or do
// not overlap.
func (b *bytesBuilder) edge(from int32, lo, hi byte, to int32) {
	e := b.edges[from]
	if n := len(e); n > 0 && e[n-1].to == to && int(e[n-1].hi)+1 == int(lo) {
		e[n-1].hi = hi
		return
	}
	b.edges[from] = append(e, edge{lo, hi, to})
}

// build drops the states that reach no accepting one and lays out the tables.
// It returns nil where nothing is accepted.
func (b *bytesBuilder) build() (*bytesDFA, error) {
	n := len(b.tag)
	left := make([]int32, n)
	before := make([][]int32, n)
	var queue []int32
	var cut [257]bool
	cut[0] = true
	for s := range n {
		left[s] = never
		if b.tag[s] >= 0 {
			left[s] = 0
			queue = append(queue, int32(s))
		}
		for _, e := range b.edges[s] {
			before[e.to] = append(before[e.to], int32(s))
			cut[e.lo], cut[int(e.hi)+1] = true, true
		}
	}
	for at := 0; at < len(queue); at++ {
		for _, s := range before[queue[at]] {
			if left[s] == never {
				left[s] = left[queue[at]] + 1
				queue = append(queue, s)
			}
		}
	}
	if left[0] == never {
		return nil, nil
	}
	d := &bytesDFA{}
	for c := range 256 {
		if cut[c] && c > 0 {
			d.classes++
		}
		d.class[c] = uint8(d.classes)
	}
	d.classes++
	id := make([]int32, n)
	kept := int32(0)
	for s := range n {
		id[s] = -1
		if left[s] < never {
			id[s] = kept
			kept++
		}
	}
	if err := b.work.spend(int(kept) * d.classes); err != nil {
		return nil, err
	}
	d.next = make([]int32, int(kept)*d.classes)
	for i := range d.next {
		d.next[i] = -1
	}
	for s := range n {
		if id[s] < 0 {
			continue
		}
		row := d.next[int(id[s])*d.classes:][:d.classes]
		for _, e := range b.edges[s] {
			for k := d.class[e.lo]; ; k++ {
				row[k] = id[e.to]
				if k == d.class[e.hi] {
					break
				}
			}
		}
		d.tag = append(d.tag, b.tag[s])
		d.whole = append(d.whole, b.whole[s])
		d.left = append(d.left, left[s])
	}
	return d, nil
}

// explore builds the automaton whose states are values of S.
func explore[S comparable](start S, alphabet string, step func(S, byte) (S, bool), accept func(S) bool, w *work) (*bytesDFA, error) {
	b := &bytesBuilder{work: w}
	ids := map[S]int32{}
	var states []S
	intern := func(s S) (int32, error) {
		if id, ok := ids[s]; ok {
			return id, nil
		}
		tag := int32(-1)
		if accept(s) {
			tag = 0
		}
		id, err := b.add(tag, true)
		ids[s] = id
		states = append(states, s)
		return id, err
	}
	if _, err := intern(start); err != nil {
		return nil, err
	}
	for at := 0; at < len(states); at++ {
		if err := w.spend(len(alphabet)); err != nil {
			return nil, err
		}
		for i := range len(alphabet) {
			if t, ok := step(states[at], alphabet[i]); ok {
				id, err := intern(t)
				if err != nil {
					return nil, err
				}
				b.edge(int32(at), alphabet[i], alphabet[i], id)
			}
		}
	}
	return b.build()
}

// uniteBytes returns what any of the automata accepts, in bytes of alphabet.
func uniteBytes(parts []*bytesDFA, alphabet string, w *work) (*bytesDFA, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	type pair struct{ a, b int32 }
	out := parts[0]
	for _, p := range parts[1:] {
		a := out
		step := func(d *bytesDFA, s int32, c byte) int32 {
			if s < 0 {
				return -1
			}
			return d.step(s, c)
		}
		var err error
		out, err = explore(pair{}, alphabet, func(s pair, c byte) (pair, bool) {
			t := pair{step(a, s.a, c), step(p, s.b, c)}
			return t, t.a >= 0 || t.b >= 0
		}, func(s pair) bool {
			return s.a >= 0 && a.tag[s.a] >= 0 || s.b >= 0 && p.tag[s.b] >= 0
		}, w)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
