package grammar

// maxKeyTable bounds a keyTable, in edges that are followed: about 4 bytes and
// 2 ns each.
const maxKeyTable = 1 << 22

// A keyTable says how many undeclared keys of some tags each state of an
// object's spelled automaton leads to, by their length. So it is known how many
// bytes are enough for a key that did not come: if fewer keys came than there
// are of up to n bytes, one of those is new.
type keyTable struct {
	of    func(tag int32) bool
	b     *bytesDFA
	total []int32 // keys from each state on; manyKeys: no end of them
	edges [][]keyEdge
	exact []int64   // keys of exactly len(upTo)-1 bytes, by state
	upTo  [][]int32 // keys of at most n bytes, by n and state
	spent int
}

// A keyEdge leads to a state by some number of bytes.
type keyEdge struct{ to, bytes int32 }

// table returns the keyTable of the undeclared keys of one tag, or of all for
// which a value exists; tag is then that of no key. It is made once.
func (o *objectShape) table(tag int) *keyTable {
	if o.tables == nil {
		o.tables = make([]*keyTable, len(o.free)+1)
	}
	k := o.tables[tag-len(o.names)]
	if k == nil {
		of := func(t int32) bool { return int(t) == tag }
		if tag == o.tags() {
			of = func(t int32) bool { return int(t) >= len(o.names) && o.node(int(t)).height < never }
		}
		k = newKeyTable(o.spelled, of, o.countFree(func(t int) bool { return of(int32(t)) }))
		o.tables[tag-len(o.names)] = k
	}
	return k
}

func newKeyTable(b *bytesDFA, of func(tag int32) bool, total []int32) *keyTable {
	k := &keyTable{of: of, b: b, total: total, edges: make([][]keyEdge, b.states()), exact: make([]int64, b.states())}
	var width [256]int32 // bytes of each class
	for _, c := range b.class {
		width[c]++
	}
	first := make([]int32, b.states())
	for s := range k.edges {
		for c, t := range b.next[s*b.classes : (s+1)*b.classes] {
			if t < 0 || total[t] == 0 {
				continue
			}
			if e := k.edges[s]; len(e) > 0 && e[len(e)-1].to == t {
				e[len(e)-1].bytes += width[c]
				continue
			}
			k.edges[s] = append(k.edges[s], keyEdge{t, width[c]})
		}
		if b.tag[s] >= 0 && of(b.tag[s]) {
			k.exact[s], first[s] = 1, 1
		}
	}
	k.upTo = append(k.upTo, first)
	return k
}

// extend counts the keys that are one byte longer. It reports false where that
// would be too much work.
func (k *keyTable) extend() bool {
	next, upTo := make([]int64, len(k.exact)), make([]int32, len(k.exact))
	last := k.upTo[len(k.upTo)-1]
	for s, edges := range k.edges {
		k.spent += 1 + len(edges)
		for _, e := range edges {
			next[s] += k.exact[e.to] * int64(e.bytes)
		}
		next[s] = min(next[s], manyKeys)
		upTo[s] = int32(min(int64(last[s])+next[s], manyKeys))
	}
	if k.spent > maxKeyTable {
		return false
	}
	k.exact, k.upTo = next, append(k.upTo, upTo)
	return true
}

// enough returns the bytes from state s on to a key that is none of n: never
// where all keys may be among them, or where it is too far to be found.
func (k *keyTable) enough(s int32, n int) int {
	if n >= int(k.total[s]) {
		return never
	}
	for l := range k.upTo {
		if int(k.upTo[l][s]) > n {
			return l
		}
	}
	for k.spent <= maxKeyTable && k.extend() {
		if l := len(k.upTo) - 1; int(k.upTo[l][s]) > n {
			return l
		}
	}
	return never
}

// most is enough for a state from which there is a key that is none of n, even
// if there are no more than n: a bound on enough for any fewer.
func (k *keyTable) most(s int32, n int) int { return k.enough(s, min(n, int(k.total[s])-1)) }
