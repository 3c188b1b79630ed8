package grammar

// A mask is the set of tokens that are legal for a thread.
type mask struct {
	base []uint64 // may be the vocabulary's own; nil: none
	ids  []int32  // further ones
	// conditional ones are legal only if the keys that came permit it.
	conditional []int32
	// wide ones may be read in several ways, fan at most; of others there is one
	// way to read them at each of their bytes.
	wide []int32
	fan  int
	// need is how many bytes the text must have left for the mask to hold: at
	// most that many does any of the tokens take, with a way to the end. most is
	// the same without the tokens.
	need, most int
	// keyEnds are the threads in and before undeclared keys in which tokens end,
	// with the bytes of the longest: what they need depends on the keys that came.
	keyEnds map[thread]int
}

// maxList is up to how many tokens are kept as a list.
const maxList = 1 << 10

// mask returns the mask of a thread, from the cache or by a walk.
func (m *machine) mask(v *Vocabulary, t *thread) *mask {
	cache := m.masks[v]
	if cache == nil {
		cache = map[thread]*mask{}
		m.masks[v] = cache
	}
	if k, ok := cache[*t]; ok {
		return k
	}
	w := walker{m: m, v: v, trie: v.trie}
	k := &mask{}
	switch {
	case w.inString(t, k):
	case t.kind == kindSpelled && w.inPattern(t, k):
	default:
		w.walk(0, t, false, 0)
	}
	k.ids, k.conditional, k.keyEnds, k.wide, k.fan = w.ids, w.conditional, w.keyEnds, w.wide, max(w.fan, 1)
	k.need, k.most = max(k.need, w.need), max(k.most, w.most)
	m.maskSize += 1 + len(k.ids)/256
	if k.base == nil && len(k.ids) > maxList {
		k.base = make([]uint64, v.words())
		for _, id := range k.ids {
			setBit(k.base, id)
		}
		k.ids = nil
		m.maskSize += v.words() / 128
	}
	cache[*t] = k
	return k
}

// A walker walks a trie through the automaton and collects tokens.
type walker struct {
	m    *machine
	v    *Vocabulary
	trie *trie
	// closers, where set, are what the items of trie mean: only those with lo to
	// hi characters before the quote count, and what they read before the trie
	// begins is read.
	closers []closer
	lo, hi  int

	stack       []thread
	ids         []int32
	conditional []int32
	need, most  int
	keyEnds     map[thread]int
	ways        int // to read the text of the present node, if above 1
	wide        []int32
	fan         int
	limited     bool
	limit       int     // where limited: bytes that the text has left
	after       int     // where limited: bytes that may be left after a token
	keys        int     // where limited: how many an object has at most
	inKey       []int32 // where limited: tokens that end in or before an undeclared key
}

// emit collects the tokens of a node, after which t is a thread.
func (w *walker) emit(node int32, t *thread, conditional bool) {
	left, most := -1, 0
	for i := w.trie.item[node]; i >= 0; i = w.trie.same[i] {
		id := i
		if w.closers != nil {
			c := &w.closers[i]
			if int(c.chars) < w.lo || int(c.chars) > w.hi {
				continue
			}
			id = c.token
		}
		if left < 0 {
			if left = w.left(t); w.limited && left > w.after {
				return
			}
			if w.limited && w.m.byKeys(t) {
				most = w.m.leftAtMost(t, w.keys)
			}
		}
		w.add(id, left, conditional)
		w.widen(id, w.ways)
		if w.m.byKeys(t) {
			size := int(w.v.offset[id+1] - w.v.offset[id])
			if !w.limited {
				w.keyEnd(*t, id)
			} else if plus(size, most) > w.limit || most > w.after {
				w.inKey = append(w.inKey, id)
			}
		}
	}
}

// widen notes that a token can be read in several ways.
func (w *walker) widen(id int32, ways int) {
	if ways > 1 {
		w.wide = append(w.wide, id)
		w.fan = max(w.fan, ways)
	}
}

// branch notes that n ways lead on from the present node, and returns what was
// noted before.
func (w *walker) branch(n int) (before int) {
	before = w.ways
	if n > 1 {
		w.ways = min(max(w.ways, 1)*n, never)
	}
	return before
}

// byKeys reports whether the keys that came say how much a thread leaves.
func (m *machine) byKeys(t *thread) bool {
	switch t.kind {
	case kindKeyTotal, kindKeySpelled:
		return true
	case kindKey:
		return m.contexts[t.a].mode == keysSpelled
	}
	return false
}

// left returns what a token that ends in a thread leaves to be written, if few
// keys came.
func (w *walker) left(t *thread) int {
	if w.m.byKeys(t) {
		return 0
	}
	return w.m.left(t, nil)
}

// keyEnd notes that a token ends in a thread.
func (w *walker) keyEnd(t thread, id int32) {
	if w.keyEnds == nil {
		w.keyEnds = map[thread]int{}
	}
	w.keyEnds[t] = max(w.keyEnds[t], int(w.v.offset[id+1]-w.v.offset[id]))
}

func (w *walker) add(id int32, left int, conditional bool) {
	w.ids = append(w.ids, id)
	w.most = max(w.most, left)
	w.need = max(w.need, plus(int(w.v.offset[id+1]-w.v.offset[id]), left))
	if conditional {
		w.conditional = append(w.conditional, id)
	}
}

// walk collects what is below a node of the trie, which thread t has reached
// after depth bytes.
func (w *walker) walk(node int32, t *thread, conditional bool, depth int) {
	if t.kind == kindSpelled && !w.limited {
		w.walkSpelled(node, t, conditional)
		return
	}
	for child := node + 1; child < w.trie.end[node]; child = w.trie.end[child] {
		begin := len(w.stack)
		w.stack = w.m.step(t, w.trie.label[child], w.stack)
		before := w.branch(len(w.stack) - begin)
		for k := begin; k < len(w.stack); k++ {
			u := w.stack[k]
			if w.limited && !w.m.byKeys(&u) && plus(depth+1, w.m.left(&u, nil)) > w.limit {
				continue
			}
			c := conditional || w.m.g.keyed && w.m.conditional(&u)
			if w.trie.item[child] >= 0 {
				w.emit(child, &u, c)
			}
			if w.trie.end[child] > child+1 {
				w.walk(child, &u, c, depth+1)
			}
		}
		w.stack, w.ways = w.stack[:begin], before
	}
}

// walkSpelled is walk for strings by a spelled automaton: most of all the nodes
// that masks meet are met here.
func (w *walker) walkSpelled(node int32, t *thread, conditional bool) {
	l := w.m.g.nodes[t.a].str
	b := l.bytes
	counted := l.min > 0 || l.max >= 0
	longest := int32(never)
	if l.max >= 0 {
		longest = int32(l.max)
	}
	soon := l.need[0]
	end := w.trie.end[node]
	type entry struct{ state, chars, end int32 }
	var buffer [64]entry
	stack := append(buffer[:0], entry{t.b, t.c, end})
	top := stack[0]
	label, ends, item := w.trie.label, w.trie.end, w.trie.item
	var after thread
	known := int32(-1)
	inside := false
	for n := node + 1; n < end; {
		for top.end <= n {
			stack = stack[:len(stack)-1]
			top = stack[len(stack)-1]
		}
		c := label[n]
		if c == '"' && b.whole[top.state] {
			if tag := b.tag[top.state]; tag >= 0 && int(top.chars) >= l.min {
				if tag != known {
					known = tag
					after = w.m.close(t.frame, tag)
				}
				if item[n] >= 0 {
					w.emit(n, &after, conditional)
				}
				if ends[n] > n+1 {
					u := after
					w.walk(n, &u, conditional, 0)
				}
			}
			n = ends[n]
			continue
		}
		s := b.step(top.state, c)
		if s < 0 {
			n = ends[n]
			continue
		}
		chars := top.chars
		if counted {
			if b.whole[s] {
				if chars++; l.max < 0 {
					chars = min(chars, int32(l.min))
				}
			}
			if need := soon[s]; chars+need > longest {
				n = ends[n]
				continue
			}
			if int(chars) < l.min && !l.live(s, int(chars)) {
				n = ends[n]
				continue
			}
		}
		if item[n] >= 0 {
			w.emitInside(n, conditional)
			inside = true
		}
		if ends[n] > n+1 {
			top = entry{s, chars, ends[n]}
			stack = append(stack, top)
		}
		n++
	}
	if inside {
		w.most = max(w.most, l.worst+w.m.infos[t.frame].rest)
		w.need = max(w.need, w.v.long+w.most)
	}
}

// emitInside is emit without looking at what the tokens need.
func (w *walker) emitInside(node int32, conditional bool) {
	for i := w.trie.item[node]; i >= 0; i = w.trie.same[i] {
		id := i
		if w.closers != nil {
			c := &w.closers[i]
			if int(c.chars) < w.lo || int(c.chars) > w.hi {
				continue
			}
			id = c.token
		}
		w.ids = append(w.ids, id)
		if conditional {
			w.conditional = append(w.conditional, id)
		}
	}
}

// inString finds the mask of a thread in a string that may have any escape and,
// by its state, any characters: what the vocabulary knows, and the tokens that
// end the string. It reports false for other threads.
func (w *walker) inString(t *thread, k *mask) bool {
	var at sub
	switch t.kind {
	case kindFree:
		at = sub(t.b)
	case kindTotal, kindKeyTotal:
		at = sub(t.c)
	}
	in, out := &w.v.inside[at], &w.v.closes[at]
	switch t.kind {
	case kindFree:
		l := w.m.g.nodes[t.a].str
		k.base = in.all
		w.lo, w.hi = max(0, l.min-int(t.c)), 1<<30
		if l.max >= 0 {
			w.hi = l.max - int(t.c)
			if w.hi < in.most {
				if at != subWhole {
					k.base = nil
					return false
				}
				k.base = in.upTo[min(w.hi, len(in.upTo)-1)]
				if w.hi >= len(in.upTo) {
					for _, c := range in.longer {
						if int(c.chars) <= w.hi {
							w.ids = append(w.ids, c.token)
						}
					}
				}
			}
		}
		k.most = w.m.left(t, nil) + 12
		k.need = w.v.long + k.most
		w.trie, w.closers = out.trie, out.list
		after := w.m.close(t.frame, 0)
		if out.trie.item[0] >= 0 {
			w.emit(0, &after, false)
		}
		w.walk(0, &after, false, w.v.long)
		return true
	case kindTotal, kindKeyTotal:
		k.base = in.all
		k.most = w.mostOfTotal(t)
		k.need = w.v.long + k.most
		w.closeTotal(t, out)
		return true
	}
	return false
}

// mostOfTotal bounds what a token leaves to be written that goes on in a string
// or key by a total automaton.
func (w *walker) mostOfTotal(t *thread) int {
	if t.kind == kindTotal {
		u := *t
		u.c = int32(subEscape) // whatever the next character is
		return w.m.left(&u, nil) + 18
	}
	ctx := w.m.contexts[t.a]
	most := 0
	for tag := len(ctx.shape.names); tag < ctx.shape.tags(); tag++ {
		if hasTag(ctx.allowed, tag) {
			most = max(most, w.m.afterKey(ctx, tag))
		}
	}
	return plus(most, freeKeySize+18)
}

// closeTotal collects the tokens that end a string or key that is read by a
// total automaton.
func (w *walker) closeTotal(t *thread, out *closingTokens) {
	var d *dfa
	var ctx *objectContext
	if t.kind == kindTotal {
		d = w.m.g.nodes[t.a].str.dfa
	} else {
		ctx = w.m.contexts[t.a]
		d = ctx.shape.keys
	}
	// Which suffixes are legal after the quote.
	type place struct {
		left        int
		conditional bool
		keyEnds     []thread
		ways        int
	}
	verdicts := map[int32]map[int32]place{} // by tag, by node of the trie
	judge := func(tag int32) map[int32]place {
		if v, ok := verdicts[tag]; ok {
			return v
		}
		v := map[int32]place{}
		verdicts[tag] = v
		var after thread
		if ctx == nil {
			after = w.m.close(t.frame, tag)
		} else if list := ctx.colon(tag, w.m, nil); len(list) > 0 {
			after = list[0]
		} else {
			return v
		}
		s := walker{m: w.m, v: w.v, trie: out.trie}
		s.visit(0, &after, w.m.g.keyed && w.m.conditional(&after), func(node int32, u *thread, c bool) {
			p := v[node]
			p.conditional = p.conditional || c
			p.left = max(p.left, w.left(u))
			p.ways = max(p.ways, s.ways)
			if w.m.byKeys(u) {
				p.keyEnds = append(p.keyEnds, *u)
			}
			v[node] = p
		})
		return v
	}
	begin := *t
	loops := d.loops(t.b)
	for i := range out.list {
		c := &out.list[i]
		u := begin
		if !loops {
			from := sub(u.c)
			for _, b := range w.v.bytes(c.token)[:c.quote] {
				to := subNext[from][b]
				stepTotal(&u, d, from, to, b)
				from = to
			}
		}
		tag := d.tag[u.b]
		if tag < 0 {
			continue
		}
		if p, ok := judge(tag)[c.node]; ok {
			w.add(c.token, p.left, p.conditional)
			w.widen(c.token, p.ways)
			for _, u := range p.keyEnds {
				w.keyEnd(u, c.token)
			}
		}
	}
}

// visit calls f for each node that holds an item and can be reached.
func (w *walker) visit(node int32, t *thread, conditional bool, f func(node int32, t *thread, conditional bool)) {
	if w.trie.item[node] >= 0 {
		f(node, t, conditional)
	}
	for child := node + 1; child < w.trie.end[node]; child = w.trie.end[child] {
		begin := len(w.stack)
		w.stack = w.m.step(t, w.trie.label[child], w.stack)
		before := w.branch(len(w.stack) - begin)
		for k := begin; k < len(w.stack); k++ {
			u := w.stack[k]
			w.visit(child, &u, conditional || w.m.g.keyed && w.m.conditional(&u), f)
		}
		w.stack, w.ways = w.stack[:begin], before
	}
}
