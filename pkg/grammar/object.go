package grammar

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// An objectShape is a set of objects: some declared properties, and others whose
// keys are accepted by an automaton.
type objectShape struct {
	id       int32
	names    []string
	nodes    []*node // what a property must be
	required []bool
	min, max int     // properties; max -1: no bound
	free     []*node // kinds of undeclared properties

	// keys accepts all keys: declared ones with their index as tag, undeclared
	// ones with len(names) and the index in free. Nil where free is empty.
	keys *dfa
	// total reports that there is one kind of undeclared keys, which every string
	// can become: so no key leads astray.
	total  bool
	reach  [][]uint64  // tags that can be reached from a state of keys
	onPath [][]pathEnd // the declared keys on whose way a state of keys is
	// declared is the automaton of the declared keys' spellings alone, and
	// spelled that of all keys, where not every string can become one.
	declared, spelled           *bytesDFA
	declaredReach, spelledReach [][]uint64
	declaredDepth               []int32 // bytes from the first state of declared
	spelledDepth                []int32 // the same of spelled
	nameBytes                   []int   // of the keys' spellings
	tools                       []*node // of a tool call: what "arguments" must be, by the tool
	nextRequired                []int   // the first required property from i on
	freeKeys                    int     // undeclared keys, up to 2^20
	// tables say how long undeclared keys are, by tag, and for all of them; they
	// are made when they are needed. See table.
	tables []*keyTable

	height, size int
}

// A pathEnd is how many bytes are left to the end of a declared key, and its
// next character; -1 at its end.
type pathEnd struct {
	tag, left int32
	next      rune
}

// freeKeySize is how many bytes are set aside for an undeclared key that must
// come: enough to find one that did not come before.
const freeKeySize = 12

func (o *objectShape) tags() int { return len(o.names) + len(o.free) }

// node returns what the property of a tag must be.
func (o *objectShape) node(tag int) *node {
	if tag < len(o.names) {
		return o.nodes[tag]
	}
	return o.free[tag-len(o.names)]
}

func (o *objectShape) leastHeight() int {
	height, optional := 0, 0
	for i, r := range o.required {
		switch {
		case r:
			height = max(height, o.nodes[i].height)
		case o.nodes[i].height < never:
			optional++
		}
	}
	if o.tools != nil {
		least := never
		for _, t := range o.tools {
			least = min(least, t.height)
		}
		return plus(1, least)
	}
	needed := o.min
	for _, r := range o.required {
		if r {
			needed--
		}
	}
	if o.max >= 0 && (o.min > o.max || o.min-needed > o.max) {
		return never // more are required than allowed
	}
	if needed > 0 {
		// The flattest others.
		type others struct{ height, keys int }
		var list []others
		for i, r := range o.required {
			if !r {
				list = append(list, others{o.nodes[i].height, 1})
			}
		}
		for _, f := range o.free {
			list = append(list, others{f.height, o.freeCount(needed)})
		}
		slices.SortFunc(list, func(a, b others) int { return a.height - b.height })
		for _, e := range list {
			if needed > 0 {
				height = max(height, e.height)
				needed -= e.keys
			}
		}
		if needed > 0 {
			return never
		}
	}
	return plus(height, 1)
}

// freeCount returns how many undeclared keys there are, up to most.
func (o *objectShape) freeCount(most int) int {
	if o.total {
		return most
	}
	return min(most, int(o.countFree(func(t int) bool { return o.node(t).height < never })[0]))
}

func (o *objectShape) leastSize(opts *Options) int {
	none := func(i int) bool { return false }
	return plus(1, o.rest(0, -1, none, func(n *node) bool { return n.height < never }, opts))
}

// rest returns the bytes of a short way on after n properties, of which those
// with has came, for sel the tool that was named, or -1; fits reports what can
// be a property's value.
func (o *objectShape) rest(n int, sel int32, has func(i int) bool, fits func(n *node) bool, opts *Options) int {
	colon, comma := 1, 1
	if opts.Spaced {
		colon, comma = 2, 2
	}
	size := 1
	left := o.min - n
	property := func(key int, e *node) {
		size = plus(size, plus(e.size, 2+key+colon+comma))
		left--
		n++
	}
	if n == 0 {
		size -= comma
	}
	begun := n
	for i := range o.names {
		if o.required[i] && !has(i) {
			e := o.nodes[i]
			if i == 1 && o.tools != nil {
				e = o.tools[max(sel, 0)]
				for _, t := range o.tools {
					// Not yet known which: the one that takes most.
					if sel < 0 && t.size > e.size {
						e = t
					}
				}
			}
			property(o.nameBytes[i], e)
		}
	}
	for o.total && left > 0 && size <= opts.MaxBytes && fits(o.free[0]) {
		property(freeKeySize, o.free[0])
	}
	for i := len(o.names) - 1; i >= 0 && left > 0; i-- {
		if !o.required[i] && !has(i) && fits(o.nodes[i]) {
			property(o.nameBytes[i], o.nodes[i])
		}
	}
	for o.spelled != nil && left > 0 && size <= opts.MaxBytes {
		key, e := o.freeBytes(n, fits)
		property(key, e)
		if key >= never {
			size = never
		}
	}
	if n == begun && begun == 0 {
		size += comma
	}
	return size
}

// freeBytes returns the bytes that are enough for a new undeclared key when up
// to n came, and what it must be at worst.
func (o *objectShape) freeBytes(n int, fits func(n *node) bool) (key int, e *node) {
	key = never
	if all := o.table(o.tags()); all.total[0] > 0 && !slices.ContainsFunc(o.free, func(f *node) bool { return f.height < never && !fits(f) }) {
		key = all.most(0, n)
	}
	for _, f := range o.free {
		if fits(f) && (e == nil || f.size > e.size) {
			e = f
		}
	}
	for i, f := range o.free {
		// Those of one kind, if there are always some left.
		if fits(f) && len(o.free) > 1 {
			if k := o.table(len(o.names)+i).enough(0, n); plus(k, f.size) < plus(key, e.size) {
				key, e = k, f
			}
		}
	}
	if e == nil {
		e = &node{size: never}
	}
	return key, e
}

// compileKeys builds the automata of keys, where keys, free and the rest are
// set.
func (o *objectShape) compileKeys(w *work) error {
	d, err := stringSet(o.names, w)
	if err != nil {
		return err
	}
	for _, n := range o.names {
		o.nameBytes = append(o.nameBytes, len(appendSpelled(nil, n)))
	}
	if len(o.names) > 0 {
		if o.declared, err = spell(d, true, w); err != nil {
			return err
		}
		o.declaredDepth = o.declared.depths()
		if o.declaredReach, err = reachBytes(o.declared, o.tags(), w); err != nil {
			return err
		}
	}
	if o.keys == nil {
		return nil
	}
	words := (o.tags() + 63) / 64
	if o.reach, err = reachTags(len(o.keys.tag), o.keys.tag, func(s int) []int32 { return o.keys.row(int32(s)) }, words, w); err != nil {
		return err
	}
	o.total = len(o.free) == 1 && isTotal(o.keys)
	for _, r := range o.reach {
		o.total = o.total && hasTag(r, len(o.names))
	}
	o.onPath = make([][]pathEnd, len(o.keys.tag))
	for i, name := range o.names {
		state, left := int32(0), int32(o.nameBytes[i])
		for _, r := range name {
			o.onPath[state] = append(o.onPath[state], pathEnd{int32(i), left, r})
			if state = o.keys.step(state, r); state < 0 {
				break
			}
			left -= int32(len(appendSpelled(nil, string(r))))
		}
		if state >= 0 {
			o.onPath[state] = append(o.onPath[state], pathEnd{int32(i), left, -1})
		}
	}
	if !o.total {
		// One spelling to each key, so that counting spellings counts keys.
		if o.spelled, err = spell(o.keys, false, w); err != nil {
			return err
		}
		if o.spelled == nil {
			// Undeclared keys are only such that no text spells.
			o.keys, o.free = nil, nil
			return nil
		}
		o.spelledDepth = o.spelled.depths()
		o.spelledReach, err = reachBytes(o.spelled, o.tags(), w)
	}
	return err
}

func reachBytes(b *bytesDFA, tags int, w *work) ([][]uint64, error) {
	return reachTags(b.states(), b.tag, func(s int) []int32 { return b.next[s*b.classes : (s+1)*b.classes] }, (tags+63)/64, w)
}

// reachTags returns for each state which tags can be reached.
func reachTags(n int, tag []int32, row func(s int) []int32, words int, w *work) ([][]uint64, error) {
	reach := make([][]uint64, n)
	all := make([]uint64, n*words)
	if err := w.spend(n * words); err != nil {
		return nil, err
	}
	for s := range reach {
		reach[s] = all[s*words : (s+1)*words]
		if t := tag[s]; t >= 0 {
			reach[s][t/64] |= 1 << (t % 64)
		}
	}
	for changed := true; changed; {
		changed = false
		for s := n - 1; s >= 0; s-- {
			last := int32(-1)
			next := row(s)
			if err := w.spend(len(next)); err != nil {
				return nil, err
			}
			for _, t := range next {
				if t < 0 || t == last || t == int32(s) {
					continue
				}
				last = t
				for i, bits := range reach[t] {
					if bits&^reach[s][i] != 0 {
						reach[s][i] |= bits
						changed = true
					}
				}
			}
		}
	}
	return reach, nil
}

// manyKeys stands for more keys than any text holds.
const manyKeys = 1 << 30

// countFree returns for each state of spelled how many undeclared keys, of the
// tags for which allowed holds, can be reached: manyKeys for that many and more.
func (o *objectShape) countFree(allowed func(tag int) bool) []int32 {
	b := o.spelled
	n := b.states()
	counts := func(s int) bool { return int(b.tag[s]) >= len(o.names) && allowed(int(b.tag[s])) }
	useful := make([]bool, n)
	before := make([][]int32, n)
	out := make([]int, n) // edges, by byte, to useful states not yet counted
	for s := range n {
		for t := len(o.names); t < o.tags(); t++ {
			useful[s] = useful[s] || allowed(t) && o.spelledReach[s][t/64]>>(t%64)&1 != 0
		}
	}
	for s := range n {
		for c := range 256 {
			if t := b.step(int32(s), byte(c)); t >= 0 && useful[t] {
				before[t] = append(before[t], int32(s))
				out[s]++
			}
		}
	}
	// States are counted when all that follow them are. Those that lead into a
	// cycle never are: their keys are infinitely many.
	count := make([]int32, n)
	sum := make([]int64, n)
	var ready []int32
	for s := range n {
		count[s] = manyKeys
		switch {
		case !useful[s]:
			count[s] = 0
		case out[s] == 0:
			ready = append(ready, int32(s))
		}
		if counts(s) {
			sum[s] = 1
		}
	}
	for len(ready) > 0 {
		s := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		count[s] = int32(min(sum[s], manyKeys))
		for _, p := range before[s] {
			sum[p] += int64(count[s])
			if out[p]--; out[p] == 0 && useful[p] {
				ready = append(ready, p)
			}
		}
	}
	return count
}

// mergeObjects adds the objects that all atoms allow.
func (c *compiler) mergeObjects(n *node, atoms []*value) error {
	o := &objectShape{max: -1}
	index := map[string]int{}
	declare := func(name string) int {
		i, ok := index[name]
		if !ok {
			i = len(o.names)
			index[name] = i
			o.names = append(o.names, name)
			o.required = append(o.required, false)
		}
		return i
	}
	open := true // what is undeclared is not spoken of
	var keySchemas []*value
	var at *value
	keyword := ""
	for _, v := range atoms {
		if p := v.get("properties"); p != nil {
			for _, k := range p.keys {
				declare(k)
			}
		}
		if v.get("additionalProperties") != nil || v.get("patternProperties") != nil {
			open = false
			at, keyword = v, "additionalProperties"
		}
		if p := v.get("propertyNames"); p != nil {
			keySchemas = append(keySchemas, p)
			at, keyword = v, "propertyNames"
		}
		o.min = max(o.min, v.count("minProperties", 0))
		if v.get("maxProperties") != nil {
			if m := v.count("maxProperties", 0); o.max < 0 || m < o.max {
				o.max = m
			}
		}
	}
	closed := c.opts.Closed && open && len(o.names) > 0
	for _, v := range atoms {
		if r := v.get("required"); r != nil {
			for _, e := range r.list {
				o.required[declare(e.text)] = true
			}
		}
	}
	if at == nil {
		at = n.place()
	}
	fail := func(err error) error {
		if at == nil {
			return c.wrapNode(n, err)
		}
		return at.wrap(keyword, err)
	}
	if err := c.work.spend(16 * (1 + len(o.names)) * (1 + len(atoms))); err != nil {
		return fail(err)
	}
	// What each key must be.
	var patterns []*dfa
	var patternOf [][2]int // atom, index in its patternProperties
	for i, v := range atoms {
		if p := v.get("patternProperties"); p != nil {
			for k, pattern := range p.keys {
				d, err := c.regexp(pattern)
				if err != nil {
					return v.wrap("patternProperties", err)
				}
				patterns = append(patterns, d)
				patternOf = append(patternOf, [2]int{i, k})
			}
		}
	}
	schemasFor := func(name string, declared bool, matches func(k int) bool) []*value {
		var all []*value
		k := 0
		for i, v := range atoms {
			hit := false
			if declared {
				if p := v.get("properties"); p != nil {
					if e := p.get(name); e != nil {
						all, hit = append(all, e), true
					}
				}
			}
			for ; k < len(patternOf) && patternOf[k][0] == i; k++ {
				if matches(k) {
					all, hit = append(all, v.get("patternProperties").list[patternOf[k][1]]), true
				}
			}
			if e := v.get("additionalProperties"); e != nil && !hit {
				all = append(all, e)
			}
		}
		return all
	}
	keyLangs, err := c.keyLangs(keySchemas)
	if err != nil {
		return fail(err)
	}
	never := &value{kind: 'f'}
	for _, name := range o.names {
		all := schemasFor(name, true, func(k int) bool { return patterns[k].run(name) >= 0 })
		for _, l := range keyLangs {
			if l == nil || l.run(name) < 0 {
				all = []*value{never}
			}
		}
		o.nodes = append(o.nodes, c.node(all))
	}
	if !closed && !slices.Contains(keyLangs, nil) {
		if err := c.freeKeys(o, patterns, keyLangs, func(matches func(k int) bool) []*value {
			return schemasFor("", false, matches)
		}); err != nil {
			return fail(err)
		}
	}
	if err := o.compileKeys(&c.work); err != nil {
		return fail(err)
	}
	n.objects = append(n.objects, o)
	return nil
}

// keyLangs returns the automata of the keys that each schema allows; nil for
// none.
func (c *compiler) keyLangs(schemas []*value) ([]*dfa, error) {
	var out []*dfa
	for _, v := range schemas {
		alternatives, err := c.expand(v, nil)
		if err != nil {
			return nil, err
		}
		var langs []*stringLang
		for _, atoms := range alternatives {
			var only node
			atoms = append(slices.Clone(atoms), &value{kind: '{', doc: v.doc, parent: v.parent, name: v.name, keys: []string{"type"}, list: []*value{{kind: '"', text: "string"}}})
			if err := c.merge(&only, atoms); err != nil {
				return nil, err
			}
			langs = append(langs, only.pendingStrings...)
		}
		l, err := uniteStrings(langs, &c.work)
		if err != nil {
			return nil, v.wrap("", err)
		}
		var d *dfa
		if l != nil {
			if d, err = l.automaton(&c.work); err != nil {
				return nil, v.wrap("", err)
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// freeKeys builds the automaton of all keys.
func (c *compiler) freeKeys(o *objectShape, patterns, keyLangs []*dfa, schemas func(matches func(k int) bool) []*value) error {
	declared, err := stringSet(o.names, &c.work)
	if err != nil {
		return err
	}
	none := func(int) bool { return false }
	others := !slices.ContainsFunc(schemas(none), func(v *value) bool { return v.kind == 'f' })
	if !others && len(patterns) == 0 {
		return nil
	}
	parts := append([]*dfa{declared}, patterns...)
	parts = append(parts, keyLangs...)
	kinds := map[string]int32{}
	o.keys, err = product(parts, &c.work, func(tags []int32) int32 {
		if tags[0] >= 0 {
			return tags[0]
		}
		if slices.Contains(tags[1+len(patterns):], -1) {
			return -1
		}
		matched := tags[1 : 1+len(patterns)]
		all := schemas(func(k int) bool { return matched[k] >= 0 })
		var key []byte
		for _, v := range all {
			if v.kind == 'f' {
				return -1
			}
			key = binary.LittleEndian.AppendUint32(key, uint32(v.id))
		}
		tag, ok := kinds[string(key)]
		if !ok {
			tag = int32(len(o.names) + len(o.free))
			kinds[string(key)] = tag
			o.free = append(o.free, c.node(all))
		}
		return tag
	}, func(states []int32) bool {
		return states[0] < 0 && (slices.Contains(states[1+len(patterns):], -1) || !others && allDead(states[1:1+len(patterns)]))
	})
	if err != nil {
		return err
	}
	if len(o.free) == 0 {
		o.keys = nil
	}
	return nil
}

// toolShape returns the shape of a call of one of the tools.
func (c *compiler) toolShape(tools []Tool, arguments []*node) (*node, error) {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	d, err := stringSet(names, &c.work)
	if err != nil {
		return nil, fmt.Errorf("%w: the tools' names: %w", ErrLimit, err)
	}
	l, err := newStringLang(d, 0, -1, &c.work)
	if err != nil {
		return nil, fmt.Errorf("%w: the tools' names: %w", ErrLimit, err)
	}
	name := c.nodeByKey("tool names", nil, &value{kind: 'n'})
	c.queue = c.queue[:len(c.queue)-1]
	name.literal = nil
	name.str = l
	o := &objectShape{max: -1, names: []string{"name", "arguments"}, required: []bool{true, true}, nodes: []*node{name, arguments[0]}, tools: arguments}
	if err := o.compileKeys(&c.work); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLimit, err)
	}
	root := c.nodeByKey("tool call", nil, &value{kind: 'n'})
	c.queue = c.queue[:len(c.queue)-1]
	root.literal = nil
	root.objects = []*objectShape{o}
	return root, nil
}

// indexRequired prepares what the machine asks for.
func (o *objectShape) indexRequired() {
	if len(o.free) > 0 {
		o.freeKeys = o.freeCount(1 << 20)
	}
	o.nextRequired = make([]int, len(o.names)+1)
	o.nextRequired[len(o.names)] = len(o.names)
	for i := len(o.names) - 1; i >= 0; i-- {
		o.nextRequired[i] = o.nextRequired[i+1]
		if o.required[i] {
			o.nextRequired[i] = i
		}
	}
}
