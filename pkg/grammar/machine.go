package grammar

import "slices"

// maxMachine bounds the frames, contexts and masks that are kept. Beyond it the
// machine is begun anew.
const maxMachine = 1 << 16

// A machine holds what is found lazily: frames, object contexts, masks. It is
// guarded by the grammar's lock.
type machine struct {
	g        *Grammar
	frames   []frame
	infos    []frameInfo
	frameIDs map[frame]int32
	contexts []*objectContext
	ctxIDs   map[contextKey]int32
	counts   map[string][]int32 // of undeclared keys, by shape and allowed tags
	masks    map[*Vocabulary]map[thread]*mask
	maskSize int
	arrays   []*arrayShape
	blanks   int8 // where blanks may come
	space    int8 // after a comma or a colon
}

func newMachine(g *Grammar) *machine {
	m := &machine{
		g: g, frameIDs: map[frame]int32{}, ctxIDs: map[contextKey]int32{}, counts: map[string][]int32{},
		masks: map[*Vocabulary]map[thread]*mask{}, blanks: int8(g.opts.Blanks), space: int8(g.opts.Blanks),
	}
	if g.opts.Spaced {
		m.space = -1
	}
	for _, n := range g.nodes {
		m.arrays = append(m.arrays, n.arrays...)
	}
	m.frame(frame{kind: frameTop})
	return m
}

func (m *machine) full() bool {
	return len(m.frames)+len(m.contexts)+m.maskSize > maxMachine
}

// start returns the thread that begins the text.
func (m *machine) start() thread {
	return thread{kind: kindStart, a: m.g.root.id, space: m.blanks}
}

// frame returns the number of a frame.
func (m *machine) frame(f frame) int32 {
	if id, ok := m.frameIDs[f]; ok {
		return id
	}
	id := int32(len(m.frames))
	m.frameIDs[f] = id
	m.frames = append(m.frames, f)
	var info frameInfo
	switch f.kind {
	case frameObject:
		// What follows is the object after this property.
		ctx := m.contexts[f.a]
		info.depth = ctx.depth
		info.rest = m.contexts[m.after(ctx, int(f.c), ctx.tool)].rest
	case frameArray:
		parent := m.infos[f.parent]
		info.depth = parent.depth + 1
		info.rest = plus(m.arrays[f.a].rest(int(f.c)+1, &m.g.opts), parent.rest)
	}
	m.infos = append(m.infos, info)
	return id
}

// context returns the number of an object context.
func (m *machine) context(shape *objectShape, frame, tool int32, next, count int, came string) int32 {
	key := contextKey{shape.id, frame, tool, next, count, came}
	if id, ok := m.ctxIDs[key]; ok {
		return id
	}
	id := int32(len(m.contexts))
	m.ctxIDs[key] = id
	ctx := &objectContext{shape: shape, frame: frame, tool: tool, next: next, count: count, came: came, number: id}
	m.contexts = append(m.contexts, ctx)
	ctx.depth = m.infos[frame].depth + 1
	m.allow(ctx)
	has := func(i int) bool { return ctx.has(i, &m.g.opts) }
	ctx.rest = plus(shape.rest(count, tool, has, func(n *node) bool { return m.fits(ctx, n) }, &m.g.opts), m.infos[frame].rest)
	return id
}

// has reports whether a declared property came, or can no longer.
func (ctx *objectContext) has(i int, o *Options) bool {
	if o.AnyOrder && ctx.shape.tools == nil {
		return ctx.came != "" && ctx.came[i/8]>>(i%8)&1 != 0
	}
	return i < ctx.next
}

// fits reports whether a value of a node can stand in the object.
func (m *machine) fits(ctx *objectContext, n *node) bool {
	return n.height < never && ctx.depth+n.height <= m.g.opts.MaxDepth
}

// allow finds which keys may come and whether the object may end.
func (m *machine) allow(ctx *objectContext) {
	o := ctx.shape
	opts := &m.g.opts
	ctx.allowed = make([]uint64, (o.tags()+63)/64)
	last := len(o.names) // the last declared one that may come
	required := 0        // still to come
	if opts.AnyOrder && o.tools == nil {
		for i, r := range o.required {
			if r && !ctx.has(i, opts) {
				required++
			}
		}
	} else {
		last = o.nextRequired[ctx.next]
		for i := last; i < len(o.names); i = o.nextRequired[i+1] {
			required++
		}
	}
	ordered := !opts.AnyOrder || o.tools != nil
	// How many optional ones can still come after each declared one; undeclared
	// ones can come without end, or are counted.
	others := 0
	free := false
	for _, f := range o.free {
		free = free || m.fits(ctx, f)
	}
	if free {
		others = o.freeKeys
	}
	optional := make([]int, len(o.names)+1)
	for i := len(o.names) - 1; i >= 0; i-- {
		optional[i] = optional[i+1]
		if !o.required[i] && !ctx.has(i, opts) && m.fits(ctx, o.nodes[i]) {
			optional[i]++
		}
	}
	room := func(required int) bool { return o.max < 0 || ctx.count+1+required <= o.max }
	for i := range o.names {
		if ctx.has(i, opts) || !m.fits(ctx, o.nodes[i]) || ordered && i > last {
			continue
		}
		ok := o.required[i]
		if !ok {
			ok = room(required)
		}
		if ordered && ok && ctx.count+required+optional[i]+others < o.min {
			ok = false // what is skipped would be missed
		}
		if ok {
			ctx.allowed[i/64] |= 1 << (i % 64)
			ctx.any = true
		}
	}
	freeNow := free && room(required) && (!ordered || last == len(o.names)) && (!ordered || ctx.count+others >= o.min)
	if freeNow {
		for k, f := range o.free {
			if t := len(o.names) + k; m.fits(ctx, f) {
				ctx.allowed[t/64] |= 1 << (t % 64)
				ctx.any, ctx.anyFree = true, true
			}
		}
	}
	ctx.closable = required == 0 && ctx.count >= o.min
	switch {
	case !ctx.anyFree:
		ctx.mode = keysDeclared
	case o.total:
		ctx.mode = keysTotal
	default:
		ctx.mode = keysSpelled
	}
}

// after returns the number of the context after a property of a tag.
func (m *machine) after(ctx *objectContext, tag int, tool int32) int32 {
	o := ctx.shape
	count := ctx.count + 1
	if o.max < 0 {
		count = min(count, max(o.min, 1))
	}
	next, came := ctx.next, ctx.came
	switch {
	case tag >= len(o.names):
		if !m.g.opts.AnyOrder {
			next = len(o.names)
		}
	case m.g.opts.AnyOrder && o.tools == nil:
		bits := make([]byte, (len(o.names)+7)/8)
		copy(bits, came)
		bits[tag/8] |= 1 << (tag % 8)
		came = string(bits)
	default:
		next = tag + 1
	}
	return m.context(o, ctx.frame, tool, next, count, came)
}

// close returns the thread after a value in a frame; tag is that of the value,
// where it is the name of a tool.
func (m *machine) close(id, tag int32) thread {
	switch f := m.frames[id]; f.kind {
	case frameObject:
		ctx := m.contexts[f.a]
		tool := ctx.tool
		if ctx.shape.tools != nil && f.c == 0 {
			tool = tag
		}
		return thread{kind: kindNextKey, a: m.after(ctx, int(f.c), tool), space: m.blanks}
	case frameArray:
		return thread{kind: kindNextItem, a: f.a, c: f.c + 1, frame: f.parent, space: m.blanks}
	}
	return thread{kind: kindEnd, space: m.blanks}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// step appends to out the threads that byte c leads to.
func (m *machine) step(t *thread, c byte, out []thread) []thread {
	if t.space != 0 && (c == ' ' || t.space > 0 && isBlank(c)) {
		u := *t
		if u.space < 0 {
			u.space = m.blanks
		} else {
			u.space--
		}
		return append(out, u)
	}
	if t.space < 0 {
		return out
	}
	switch t.kind {
	case kindStart:
		return m.stepStart(t.a, c, t.frame, out)
	case kindLiteral:
		text := literals[t.a]
		if text[t.b] != c {
			return out
		}
		if int(t.b)+1 == len(text) {
			return append(out, m.close(t.frame, 0))
		}
		u := *t
		u.b++
		return append(out, u)
	case kindNumber:
		n := m.g.nodes[t.a].number
		if s := n.step(t.b, c); s >= 0 && int(t.c)+1+int(n.left[s]) <= m.g.opts.MaxNumber {
			u := *t
			u.b = s
			u.c++
			out = append(out, u)
		}
		if n.tag[t.b] >= 0 {
			after := m.close(t.frame, 0)
			return m.step(&after, c, out)
		}
		return out
	case kindFree, kindTotal, kindSpelled:
		return m.stepString(t, c, out)
	case kindFirstKey:
		ctx := m.contexts[t.a]
		if c == '}' && ctx.closable {
			return append(out, m.close(ctx.frame, 0))
		}
		if c == '"' && ctx.any {
			return append(out, m.key(ctx))
		}
	case kindNextKey:
		ctx := m.contexts[t.a]
		if c == '}' && ctx.closable {
			return append(out, m.close(ctx.frame, 0))
		}
		if c == ',' && ctx.any {
			return append(out, thread{kind: kindKey, a: t.a, space: m.space})
		}
	case kindKey:
		if c == '"' {
			return append(out, m.key(m.contexts[t.a]))
		}
	case kindDeclared, kindKeyTotal, kindKeySpelled:
		return m.stepKey(t, c, out)
	case kindColon:
		if c == ':' {
			ctx := m.contexts[t.a]
			n := m.property(ctx, int(t.b))
			return append(out, thread{kind: kindStart, a: n.id, frame: m.frame(frame{kind: frameObject, a: t.a, c: t.b}), space: m.space})
		}
	case kindFirstItem:
		a := m.arrays[t.a]
		if c == ']' {
			if a.min == 0 {
				out = append(out, m.close(t.frame, 0))
			}
			return out
		}
		if m.itemFits(t, 0) {
			return m.stepStart(a.element(0).id, c, m.frame(frame{frameArray, t.a, 0, t.frame}), out)
		}
	case kindNextItem:
		a := m.arrays[t.a]
		if c == ']' && int(t.c) >= a.min {
			return append(out, m.close(t.frame, 0))
		}
		if c == ',' && m.itemFits(t, int(t.c)) {
			return append(out, thread{kind: kindStart, a: a.element(int(t.c)).id, frame: m.frame(frame{frameArray, t.a, m.itemCount(a, t.c), t.frame}), space: m.space})
		}
	}
	return out
}

// itemCount returns the number of an element, as far as it matters.
func (m *machine) itemCount(a *arrayShape, i int32) int32 {
	if a.max < 0 {
		return min(i, int32(max(a.min, len(a.prefix), 1)))
	}
	return i
}

// itemFits reports whether element i can come in the array of t.
func (m *machine) itemFits(t *thread, i int) bool {
	a := m.arrays[t.a]
	if a.max >= 0 && i >= a.max {
		return false
	}
	e := a.element(i)
	return e != nil && e.height < never && m.infos[t.frame].depth+1+e.height <= m.g.opts.MaxDepth
}

// property returns the node of a property of a tag.
func (m *machine) property(ctx *objectContext, tag int) *node {
	if ctx.shape.tools != nil && tag == 1 {
		return ctx.shape.tools[ctx.tool]
	}
	return ctx.shape.node(tag)
}

// stepStart reads the first byte of a value.
func (m *machine) stepStart(id int32, c byte, frame int32, out []thread) []thread {
	n := m.g.nodes[id]
	switch {
	case c == '"':
		if n.str != nil {
			out = append(out, m.string(n, frame))
		}
	case c == '{':
		for _, o := range n.objects {
			if o.height < never && m.infos[frame].depth+o.height <= m.g.opts.MaxDepth {
				out = append(out, thread{kind: kindFirstKey, a: m.context(o, frame, -1, 0, 0, ""), space: m.blanks})
			}
		}
	case c == '[':
		for _, a := range n.arrays {
			if a.height < never && m.infos[frame].depth+a.height <= m.g.opts.MaxDepth {
				out = append(out, thread{kind: kindFirstItem, a: a.id, frame: frame, space: m.blanks})
			}
		}
	case c == 'n' && n.null:
		out = append(out, thread{kind: kindLiteral, a: 0, b: 1, frame: frame})
	case c == 't' && n.yes:
		out = append(out, thread{kind: kindLiteral, a: 1, b: 1, frame: frame})
	case c == 'f' && n.no:
		out = append(out, thread{kind: kindLiteral, a: 2, b: 1, frame: frame})
	case n.number != nil:
		if s := n.number.step(0, c); s >= 0 {
			out = append(out, thread{kind: kindNumber, a: id, b: s, c: 1, frame: frame})
		}
	}
	return out
}

// string returns the thread after the opening quote of a string.
func (m *machine) string(n *node, frame int32) thread {
	t := thread{kind: kindSpelled, a: n.id, frame: frame}
	switch {
	case n.str.dfa == nil:
		t.kind = kindFree
	case n.str.total:
		t.kind = kindTotal
	}
	return t
}

// stepString reads a byte of a string.
func (m *machine) stepString(t *thread, c byte, out []thread) []thread {
	l := m.g.nodes[t.a].str
	u := *t
	switch t.kind {
	case kindFree:
		to := subNext[t.b][c]
		switch {
		case to == subNone:
			return out
		case to == subClose:
			if int(t.c) < l.min {
				return out
			}
			return append(out, m.close(t.frame, 0))
		}
		u.b = int32(to)
		if !l.advance(&u, to) {
			return out
		}
	case kindTotal:
		from := sub(t.c)
		to := subNext[from][c]
		switch {
		case to == subNone:
			return out
		case to == subClose:
			if tag := l.dfa.tag[t.b]; tag >= 0 {
				out = append(out, m.close(t.frame, tag))
			}
			return out
		}
		stepTotal(&u, l.dfa, from, to, c)
	case kindSpelled:
		if c == '"' && l.bytes.whole[t.b] {
			if tag := l.bytes.tag[t.b]; tag >= 0 && int(t.c) >= l.min {
				out = append(out, m.close(t.frame, tag))
			}
			return out
		}
		u.b = l.bytes.step(t.b, c)
		if u.b < 0 || !l.advanceSpelled(&u) {
			return out
		}
	}
	return append(out, u)
}

// advance counts a character of a free string when it is whole, and reports
// whether it is not too many.
func (l *stringLang) advance(t *thread, to sub) bool {
	if to == subWhole {
		t.c++
		if l.max < 0 {
			t.c = min(t.c, int32(l.min))
		}
		return l.max < 0 || int(t.c) <= l.max
	}
	return l.max < 0 || int(t.c) < l.max
}

// advanceSpelled is advance for spelled strings; t is in its new state.
func (l *stringLang) advanceSpelled(t *thread) bool {
	if l.bytes.whole[t.b] && (l.min > 0 || l.max >= 0) {
		t.c++
		if l.max < 0 {
			t.c = min(t.c, int32(l.min))
		}
	}
	return l.live(t.b, int(t.c))
}

// stepTotal advances the state, sub and partial character of a thread that
// reads by a total automaton.
func stepTotal(t *thread, d *dfa, from, to sub, c byte) {
	r := decode(t.d, from, to, c)
	t.c = int32(to)
	t.d = r
	if to == subWhole {
		t.b = d.step(t.b, r)
		t.d = 0
	} else if d.loops(t.b) {
		t.d = 0 // whatever it is, it leads nowhere else
	}
}

// loops reports whether every character leads from s to s.
func (d *dfa) loops(s int32) bool {
	return !slices.ContainsFunc(d.row(s), func(t int32) bool { return t != s })
}

// key returns the thread after the opening quote of a key.
func (m *machine) key(ctx *objectContext) thread {
	t := thread{kind: kindDeclared, a: ctx.number}
	switch ctx.mode {
	case keysTotal:
		t.kind = kindKeyTotal
	case keysSpelled:
		t.kind = kindKeySpelled
	}
	return t
}

// stepKey reads a byte of a key.
func (m *machine) stepKey(t *thread, c byte, out []thread) []thread {
	ctx := m.contexts[t.a]
	u := *t
	if t.kind == kindKeyTotal {
		d := ctx.shape.keys
		from := sub(t.c)
		to := subNext[from][c]
		if to == subNone {
			return out
		}
		if to == subClose {
			return ctx.colon(d.tag[t.b], m, out)
		}
		stepTotal(&u, d, from, to, c)
		return append(out, u)
	}
	b, reach := ctx.keyTable(t.kind)
	if c == '"' && b.whole[t.b] {
		return ctx.colon(b.tag[t.b], m, out)
	}
	u.b = b.step(t.b, c)
	if u.b < 0 || !meets(reach[u.b], ctx.allowed) {
		return out
	}
	return append(out, u)
}

// keyTable returns the automaton of spelled keys, and what its states reach.
func (ctx *objectContext) keyTable(k kind) (*bytesDFA, [][]uint64) {
	if k == kindDeclared {
		return ctx.shape.declared, ctx.shape.declaredReach
	}
	return ctx.shape.spelled, ctx.shape.spelledReach
}

// colon appends the thread after a key of a tag, if that may come.
func (ctx *objectContext) colon(tag int32, m *machine, out []thread) []thread {
	if tag < 0 || !hasTag(ctx.allowed, int(tag)) {
		return out
	}
	return append(out, thread{kind: kindColon, a: ctx.number, b: tag, space: m.blanks})
}
