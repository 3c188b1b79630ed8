package grammar

// many means more than one byte.
const many = 256

// Forced returns the bytes that must come next, up to where there is a choice,
// at most 4,096; none where there is a choice now. The state stays as it is.
func (t *Matcher) Forced() []byte {
	t.lock()
	defer t.g.mu.Unlock()
	if t.finished {
		return nil
	}
	t.next = append(t.next[:0], t.threads...)
	if t.g.keyed {
		t.scratch.set(&t.keys)
	}
	var forced []byte
	for len(forced) < maxForced {
		c := -1
		for i := range t.next {
			one := many
			if !t.ends(t.next[i]) {
				one = t.m.only(&t.next[i])
			}
			if c = join(c, one); c == many {
				return forced
			}
		}
		if c < 0 {
			return forced
		}
		t.spare = t.advance(t.next, &t.scratch, byte(c), t.spare)
		t.next, t.spare = t.spare, t.next
		if len(t.next) == 0 {
			return nil
		}
		if len(t.next) > maxThreads {
			return forced
		}
		forced = append(forced, byte(c))
	}
	return forced
}

// join returns the one byte of two sets of which each is none (-1), one byte or
// many.
func join(a, b int) int {
	switch {
	case a < 0 || a == b:
		return b
	case b < 0:
		return a
	}
	return many
}

// only returns the one byte that may follow a thread, -1 for none, or many.
func (m *machine) only(t *thread) int {
	switch {
	case t.space > 0:
		return many
	case t.space < 0:
		return ' '
	}
	switch t.kind {
	case kindStart:
		return m.onlyStart(t)
	case kindLiteral:
		return int(literals[t.a][t.b])
	case kindNumber:
		c := m.tryAll(t, 0, 0x80)
		return c
	case kindSpelled, kindDeclared, kindKeySpelled:
		return m.tryAll(t, 0, 256)
	case kindFirstKey, kindNextKey:
		ctx := m.contexts[t.a]
		c := -1
		if ctx.any {
			c = '"'
			if t.kind == kindNextKey {
				c = ','
			}
		}
		if ctx.closable {
			c = join(c, '}')
		}
		return c
	case kindKey:
		return '"'
	case kindColon:
		return ':'
	case kindFirstItem:
		a := m.arrays[t.a]
		c := -1
		if a.min == 0 {
			c = ']'
		}
		if m.itemFits(t, 0) {
			u := thread{kind: kindStart, a: a.element(0).id, frame: m.frame(frame{frameArray, t.a, 0, t.frame})}
			c = join(c, m.onlyStart(&u))
		}
		return c
	case kindNextItem:
		a := m.arrays[t.a]
		c := -1
		if int(t.c) >= a.min {
			c = ']'
		}
		if m.itemFits(t, int(t.c)) {
			c = join(c, ',')
		}
		return c
	case kindEnd:
		return -1
	}
	return many
}

func (m *machine) onlyStart(t *thread) int {
	n := m.g.nodes[t.a]
	c := -1
	depth := m.infos[t.frame].depth
	if n.str != nil {
		c = '"'
	}
	for _, o := range n.objects {
		if o.height < never && depth+o.height <= m.g.opts.MaxDepth {
			c = join(c, '{')
		}
	}
	for _, a := range n.arrays {
		if a.height < never && depth+a.height <= m.g.opts.MaxDepth {
			c = join(c, '[')
		}
	}
	for i, is := range []bool{n.null, n.yes, n.no} {
		if is {
			c = join(c, int(literals[i][0]))
		}
	}
	if n.number != nil {
		for i := range len(numberBytes) {
			if b := numberBytes[i]; n.number.step(0, b) >= 0 {
				c = join(c, int(b))
			}
		}
	}
	return c
}

// tryAll steps by every byte from lo to hi-1.
func (m *machine) tryAll(t *thread, lo, hi int) int {
	c := -1
	var buffer [4]thread
	for b := lo; b < hi && c != many; b++ {
		if len(m.step(t, byte(b), buffer[:0])) > 0 {
			c = join(c, b)
		}
	}
	return c
}
