package grammar

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// A keyLexer follows the structure of the text that was accepted and remembers
// the keys of the objects that are open, decoded, whatever their spelling. It is
// the side set that is asked at the closing quote of an undeclared key; keys are
// no part of the automaton's state.
type keyLexer struct {
	levels   []keyLevel
	inString bool
	inKey    bool // or just after its closing quote
	sub      sub
	part     rune
	key      []byte // decoded
	hash     uint64 // of key
	raw      []byte // as it was spelled
}

// A keyLevel is an array or object that is open.
type keyLevel struct {
	object    bool
	expectKey bool
	keys      *keyEntry
}

// A keyEntry is one of the keys of an object: a list that is shared and never
// changed.
type keyEntry struct {
	hash uint64
	key  string
	n    int // how many there are, this one included
	next *keyEntry
}

// set makes l a copy of from, reusing its memory.
func (l *keyLexer) set(from *keyLexer) {
	levels, key, raw := l.levels, l.key, l.raw
	*l = *from
	l.levels = append(levels[:0], from.levels...)
	l.key = append(key[:0], from.key...)
	l.raw = append(raw[:0], from.raw...)
}

// feed reads one byte of a text that the automaton accepts.
func (l *keyLexer) feed(c byte) {
	if l.inString {
		to := subNext[l.sub][c]
		switch {
		case to == subClose:
			l.inString = false
		case l.inKey:
			l.raw = append(l.raw, c)
			l.part = decode(l.part, l.sub, to, c)
			if to == subWhole {
				n := len(l.key)
				l.key = utf8.AppendRune(l.key, l.part)
				l.hash = hashOn(l.hash, l.key[n:])
				l.part = 0
			}
		}
		l.sub = to
		return
	}
	n := len(l.levels)
	switch c {
	case '{', '[':
		l.levels = append(l.levels, keyLevel{object: c == '{', expectKey: c == '{'})
	case '}', ']':
		l.levels = l.levels[:max(n-1, 0)]
	case ',':
		if n > 0 {
			l.levels[n-1].expectKey = l.levels[n-1].object
		}
	case ':':
		if n > 0 {
			top := &l.levels[n-1]
			n := 1
			if top.keys != nil {
				n += top.keys.n
			}
			top.keys = &keyEntry{l.hash, string(l.key), n, top.keys}
			top.expectKey = false
		}
		l.inKey = false
	case '"':
		l.inString, l.sub, l.part = true, subWhole, 0
		l.inKey = n > 0 && l.levels[n-1].object && l.levels[n-1].expectKey
		l.key, l.raw, l.hash = l.key[:0], l.raw[:0], hashBegin
	}
}

// repeated reports whether the key that has just ended came before.
func (l *keyLexer) repeated() bool {
	if len(l.levels) == 0 {
		return false
	}
	for e := l.levels[len(l.levels)-1].keys; e != nil; e = e.next {
		if e.hash == l.hash && e.key == string(l.key) {
			return true
		}
	}
	return false
}

// most returns how many keys came to the open object that has most.
func (l *keyLexer) most() int {
	n := 0
	for i := range l.levels {
		if e := l.levels[i].keys; e != nil {
			n = max(n, e.n)
		}
	}
	return n
}

// withPrefix returns how many of the keys that came begin like the present one.
func (l *keyLexer) withPrefix() int {
	n := 0
	for e := l.levels[len(l.levels)-1].keys; e != nil; e = e.next {
		if strings.HasPrefix(e.key, string(l.key)) {
			n++
		}
	}
	return n
}

// begun returns how many keys of an undeclared tag came whose spelling begins
// with prefix.
func (l *keyLexer) begun(prefix []byte, o *objectShape, tag int) int {
	if l == nil || len(l.levels) == 0 {
		return 0
	}
	n := 0
	for e := l.levels[len(l.levels)-1].keys; e != nil; e = e.next {
		if s := appendSpelled(nil, e.key); strings.HasPrefix(string(s), string(prefix)) && int(o.keys.run(e.key)) == tag {
			n++
		}
	}
	return n
}

// hashOn goes on with FNV-1a from hashBegin.
func hashOn(h uint64, text []byte) uint64 {
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

const hashBegin = 14695981039346656037

// permits reports whether the keys that came leave a thread a way on.
func (m *machine) permits(t *thread, l *keyLexer) bool {
	if !m.conditional(t) {
		return true
	}
	if t.kind == kindColon {
		return !l.repeated()
	}
	// A thread in a key, or before it, of which there are finitely many.
	ctx := m.contexts[t.a]
	o := ctx.shape
	state, prefix := t.b, l.raw
	if t.kind == kindKey {
		state, prefix = 0, nil
	}
	used := int32(0)
	for e := l.levels[len(l.levels)-1].keys; e != nil; e = e.next {
		if int(o.keys.run(e.key)) < len(o.names) {
			continue
		}
		if s := appendSpelled(nil, e.key); len(s) >= len(prefix) && string(s[:len(prefix)]) == string(prefix) {
			used++
		}
	}
	return used < m.freeCounts(ctx)[state]
}

// freeCounts returns how many undeclared keys each state of spelled leads to.
func (m *machine) freeCounts(ctx *objectContext) []int32 {
	if ctx.freeCount == nil {
		key := binary.LittleEndian.AppendUint32(nil, uint32(ctx.shape.id))
		for tag := len(ctx.shape.names); tag < ctx.shape.tags(); tag++ {
			if hasTag(ctx.allowed, tag) {
				key = binary.LittleEndian.AppendUint32(key, uint32(tag))
			}
		}
		counts, ok := m.counts[string(key)]
		if !ok {
			counts = ctx.shape.countFree(func(tag int) bool { return hasTag(ctx.allowed, tag) })
			m.counts[string(key)] = counts
		}
		ctx.freeCount = counts
	}
	return ctx.freeCount
}

// conditional reports whether the keys that came may stop a thread.
func (m *machine) conditional(t *thread) bool {
	switch t.kind {
	case kindColon:
		return int(t.b) >= len(m.contexts[t.a].shape.names)
	case kindKeySpelled, kindKey:
		ctx := m.contexts[t.a]
		if ctx.mode != keysSpelled {
			return false
		}
		state := int32(0)
		if t.kind == kindKeySpelled {
			state = t.b
		}
		for i, bits := range ctx.shape.spelledReach[state] {
			if declared := len(ctx.shape.names) - 64*i; declared > 0 {
				bits &= ctx.allowed[i]
				if declared < 64 {
					bits &= 1<<declared - 1
				}
				if bits != 0 {
					return false
				}
			}
		}
		return m.freeCounts(ctx)[state] < manyKeys
	}
	return false
}
