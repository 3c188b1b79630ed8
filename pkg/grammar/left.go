package grammar

import (
	"slices"
	"unicode/utf8"
)

// left returns the bytes of a short way from a thread to the end of the text:
// not always of the shortest, but there is always a byte after which it is less
// by one. So a text that always leaves room for it comes to its end. The keys
// that came are those of l; nil stands for none.
func (m *machine) left(t *thread, l *keyLexer) int {
	n := 0
	if t.space < 0 {
		n = 1
	}
	switch t.kind {
	case kindStart:
		return n + plus(m.g.nodes[t.a].size, m.infos[t.frame].rest)
	case kindLiteral:
		n += len(literals[t.a]) - int(t.b)
	case kindNumber:
		n += int(m.g.nodes[t.a].number.left[t.b])
	case kindFree, kindTotal, kindSpelled:
		n += m.g.nodes[t.a].str.leftOf(t)
	case kindFirstKey, kindNextKey:
		return n + m.contexts[t.a].rest
	case kindKey:
		ctx := m.contexts[t.a]
		if ctx.mode == keysSpelled {
			return plus(n+1, m.leftOfSpelled(ctx, 0, nil, l))
		}
		tag := m.nearest(ctx, ctx.allowed)
		if ctx.mode == keysTotal && !ctx.shape.needs(tag) {
			tag = len(ctx.shape.names)
		}
		return n + 1 + ctx.keyBytes(tag) + 1 + m.afterKey(ctx, tag)
	case kindDeclared:
		ctx := m.contexts[t.a]
		tag := m.nearest(ctx, ctx.shape.declaredReach[t.b])
		return ctx.keyBytes(tag) - int(ctx.shape.declaredDepth[t.b]) + 1 + m.afterKey(ctx, tag)
	case kindKeyTotal:
		return m.leftOfTotal(t, l)
	case kindKeySpelled:
		var prefix []byte
		if l != nil {
			prefix = l.raw
		}
		return m.leftOfSpelled(m.contexts[t.a], t.b, prefix, l)
	case kindColon:
		return m.afterKey(m.contexts[t.a], int(t.b))
	case kindFirstItem, kindNextItem:
		n += m.arrays[t.a].rest(int(t.c), &m.g.opts)
	case kindEnd:
		return 0
	}
	return plus(n, m.infos[t.frame].rest)
}

// leftOfSpelled returns the bytes from a state of the spelled automaton on,
// reached by prefix: by a required key where one can be reached, else by a
// declared one or by one that did not come.
func (m *machine) leftOfSpelled(ctx *objectContext, state int32, prefix []byte, l *keyLexer) int {
	o := ctx.shape
	reach := o.spelledReach[state]
	left := never
	if tag := m.nearest(ctx, reach); tag >= 0 && tag < len(o.names) {
		left = ctx.keyBytes(tag) - int(o.spelledDepth[state]) + 1 + m.afterKey(ctx, tag)
		if o.required[tag] {
			return left
		}
	}
	for tag := len(o.names); tag < o.tags(); tag++ {
		if hasTag(reach, tag) && hasTag(ctx.allowed, tag) {
			key := o.table(tag).enough(state, l.begun(prefix, o, tag))
			left = min(left, plus(key, 1+m.afterKey(ctx, tag)))
		}
	}
	return left
}

// leftAtMost bounds what left is for a thread when up to n keys came to an
// object, whichever they are, of those after which left is not never.
func (m *machine) leftAtMost(t *thread, n int) int {
	switch t.kind {
	case kindKeyTotal:
		return m.left(t, nil) + freeKeySize
	case kindKey, kindKeySpelled:
		ctx := m.contexts[t.a]
		o := ctx.shape
		if ctx.mode != keysSpelled {
			break
		}
		left, state := 0, int32(0)
		if t.kind == kindKey {
			left = 2
		} else {
			state = t.b
		}
		reach := o.spelledReach[state]
		if tag := m.nearest(ctx, reach); o.needs(tag) {
			break
		}
		most := 0
		for tag := len(o.names); tag < o.tags(); tag++ {
			if hasTag(reach, tag) && hasTag(ctx.allowed, tag) {
				most = max(most, plus(o.table(tag).most(state, n), 1+m.afterKey(ctx, tag)))
			}
		}
		if most > 0 {
			return plus(left, most)
		}
	}
	return m.left(t, nil)
}

// read returns how many bytes of a key's next character a thread has read; -1
// if it reads another character.
func (p *pathEnd) read(t *thread) int {
	if t.c == 0 {
		return 0
	}
	at, part := subWhole, rune(0)
	if p.next < 0 {
		return -1
	}
	for i, c := range appendSpelled(nil, string(p.next)) {
		if at == sub(t.c) && part == t.d {
			return i
		}
		to := subNext[at][c]
		part = decode(part, at, to, c)
		at = to
	}
	return -1
}

// leftOfTotal returns the bytes from inside a key that every string can become:
// with the key as it is, or almost, as an undeclared one, or by a required one
// on whose way it is.
func (m *machine) leftOfTotal(t *thread, l *keyLexer) int {
	ctx := m.contexts[t.a]
	keys := ctx.shape.keys
	free := subLeft[t.c] + 4 + m.afterKey(ctx, len(ctx.shape.names))
	if tag := keys.tag[t.b]; tag >= 0 && hasTag(ctx.allowed, int(tag)) && (t.c == 0 || keys.loops(t.b)) {
		free = min(free, subLeft[t.c]+1+m.afterKey(ctx, int(tag)))
	}
	if l != nil && (l.sub != subWhole || l.repeated()) {
		// There are more than 64 characters of one byte. So if fewer than 64^n keys
		// begin as this one does, n of them make a new one.
		free++
		same := l.withPrefix()
		for of := 64; of <= same; of *= 64 {
			free++
		}
	}
	required := never
	if tag := m.nearest(ctx, ctx.shape.reach[t.b]); ctx.shape.needs(tag) {
		for _, p := range ctx.shape.onPath[t.b] {
			if read := p.read(t); int(p.tag) == tag && read >= 0 {
				required = min(required, int(p.left)-read+1+m.afterKey(ctx, tag))
			}
		}
	}
	return min(free, required)
}

// nearest returns the tag, of those that are allowed and in reach, by which an
// object goes on: the first required property; else, where some property is
// needed, the declared one that leads to the end soonest; else the first one. It
// is -1 where there is none.
func (m *machine) nearest(ctx *objectContext, reach []uint64) int {
	o := ctx.shape
	first, least := -1, 0
	for t := range o.tags() {
		if !hasTag(reach, t) || !hasTag(ctx.allowed, t) {
			continue
		}
		if o.needs(t) {
			return t
		}
		left := 0
		if ctx.count < o.min && t < len(o.names) {
			left = plus(o.nameBytes[t], m.afterKey(ctx, t))
		}
		if first < 0 || left < least && t < len(o.names) {
			first, least = t, left
		}
	}
	return first
}

// needs reports whether a tag is that of a required property.
func (o *objectShape) needs(tag int) bool {
	return tag >= 0 && tag < len(o.names) && o.required[tag]
}

// keyBytes returns the bytes of a declared key's spelling, or those that are set
// aside for an undeclared one that may be any string.
func (ctx *objectContext) keyBytes(tag int) int {
	if tag < len(ctx.shape.names) {
		return ctx.shape.nameBytes[tag]
	}
	return freeKeySize
}

// afterKey returns the bytes from the colon on.
func (m *machine) afterKey(ctx *objectContext, tag int) int {
	n := 1
	if m.space < 0 {
		n = 2
	}
	f := m.infos[m.frame(frame{kind: frameObject, a: ctx.number, c: int32(tag)})]
	node := ctx.shape.node(tag)
	if ctx.shape.tools != nil && tag == 1 && ctx.tool >= 0 {
		node = ctx.shape.tools[ctx.tool]
	}
	return n + plus(node.size, f.rest)
}

// leftOf returns the bytes to the end of a string, the quote included.
func (l *stringLang) leftOf(t *thread) int {
	switch t.kind {
	case kindFree:
		missing := min(l.min-int(t.c), never)
		if t.b != 0 {
			missing--
		}
		return max(missing, 0) + subLeft[t.b] + 1
	case kindTotal:
		if t.c == 0 {
			return int(l.totalLeft[t.b]) + 1
		}
		// On the way of the character that leads to the end, or on another's.
		left := subLeft[t.c] + int(l.totalWorst) + 1
		if best := l.totalBest[t.b]; best >= 0 {
			p := pathEnd{next: best}
			if read := p.read(t); read >= 0 {
				left = min(left, len(appendSpelled(nil, string(best)))-read+int(l.totalLeft[l.dfa.step(t.b, best)])+1)
			}
		}
		return left
	}
	if l.min == 0 && l.max < 0 {
		return int(l.bytes.left[t.b]) + 1
	}
	// Six bytes a character are always enough.
	need := int(l.need[max(l.min-int(t.c), 0)][t.b])
	if l.bytes.whole[t.b] {
		return 6*need + 1
	}
	return 6*(need-1) + min(5, int(l.bytes.left[t.b])) + 1
}

// leastBytes returns the bytes of a short string, the closing quote included.
func (l *stringLang) leastBytes() int {
	t := thread{kind: kindSpelled}
	switch {
	case l.dfa == nil:
		t.kind = kindFree
	case l.total:
		t.kind = kindTotal
	}
	return l.leftOf(&t)
}

// measureTotal finds the bytes from each state of a total automaton to the end,
// and the character that leads there.
func (l *stringLang) measureTotal(w *work) error {
	d := l.dfa
	runes, cost := make([]rune, len(d.bounds)), make([]int32, len(d.bounds))
	for k, lo := range d.bounds {
		hi := rune(maxRune)
		if k+1 < len(d.bounds) {
			hi = d.bounds[k+1] - 1
		}
		runes[k] = cheapest(lo, hi)
		cost[k] = never
		if runes[k] >= 0 {
			cost[k] = int32(len(appendSpelled(nil, string(runes[k]))))
		}
	}
	l.totalLeft, l.totalBest = make([]int32, len(d.tag)), make([]rune, len(d.tag))
	for s, tag := range d.tag {
		l.totalBest[s] = -1
		if tag < 0 {
			l.totalLeft[s] = never
		}
	}
	for changed := true; changed; {
		changed = false
		if err := w.spend(len(d.next)); err != nil {
			return err
		}
		for s := len(d.tag) - 1; s >= 0; s-- {
			for k, t := range d.row(int32(s)) {
				if left := plus(int(l.totalLeft[t]), int(cost[k])); left < int(l.totalLeft[s]) {
					l.totalLeft[s], l.totalBest[s] = int32(left), runes[k]
					changed = true
				}
			}
		}
	}
	l.totalWorst = slices.Max(l.totalLeft)
	return nil
}

// cheapest returns the character from lo to hi that takes fewest bytes in a
// string, or -1 where only halves of surrogate pairs are among them.
func cheapest(lo, hi rune) rune {
	best, bytes := rune(-1), 7
	for r := lo; r <= min(hi, 0x80); r++ {
		if n := len(appendSpelled(nil, string(r))); n < bytes {
			best, bytes = r, n
		}
	}
	if best < 0 && utf8.ValidRune(lo) {
		return lo
	}
	if best < 0 && hi > 0xdfff {
		return 0xe000
	}
	return best
}
