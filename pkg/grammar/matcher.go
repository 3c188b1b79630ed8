package grammar

import (
	"bytes"
	"fmt"
	"slices"
)

// maxThreads bounds the ways to read a text at once.
const maxThreads = 1 << 12

// maxForced is how many bytes Forced gives at most.
const maxForced = 1 << 12

// A Matcher follows one text through a grammar. It implements pkg/llama's
// Constraint. It is for one goroutine at a time; those of one grammar may be
// used at once.
type Matcher struct {
	g        *Grammar
	v        *Vocabulary
	m        *machine // the one that the threads belong to
	threads  []thread
	keys     keyLexer
	used     int // bytes
	tokens   int // that may come; -1: as many as like
	limited  bool
	finished bool

	// For simulation.
	next, spare []thread
	scratch     keyLexer
	free        []uint64
}

// NewMatcher returns a matcher at the beginning of a text. v may be nil if
// neither Mask nor Accept is called.
func (g *Grammar) NewMatcher(v *Vocabulary) *Matcher {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := &Matcher{g: g, v: v}
	t.reset()
	return t
}

// Reset goes back to the beginning of a text, without the bound of LimitTokens.
func (t *Matcher) Reset() {
	t.g.mu.Lock()
	defer t.g.mu.Unlock()
	t.reset()
}

func (t *Matcher) reset() {
	t.m = t.g.machine
	t.threads = append(t.threads[:0], t.m.start())
	t.keys.set(&keyLexer{})
	t.used = 0
	t.tokens = -1
	t.limited = false
	t.finished = false
}

// Clone returns a matcher in the same state.
func (t *Matcher) Clone() *Matcher {
	t.g.mu.Lock()
	defer t.g.mu.Unlock()
	c := &Matcher{g: t.g, v: t.v, m: t.m, threads: slices.Clone(t.threads), used: t.used, tokens: t.tokens, limited: t.limited, finished: t.finished}
	c.keys.set(&t.keys)
	return c
}

// lock locks the grammar and sees to it that the machine is the grammar's
// present one.
func (t *Matcher) lock() {
	t.g.mu.Lock()
	if t.g.machine.full() {
		t.g.machine = newMachine(t.g)
	}
	if m := t.g.machine; m != t.m {
		for i := range t.threads {
			t.threads[i] = m.adopt(t.m, t.threads[i])
		}
		t.m = m
	}
}

// adopt returns the thread of another machine as one of this.
func (m *machine) adopt(from *machine, t thread) thread {
	switch t.kind {
	case kindFirstKey, kindNextKey, kindKey, kindDeclared, kindKeyTotal, kindKeySpelled, kindColon:
		t.a = m.adoptContext(from, t.a)
	default:
		t.frame = m.adoptFrame(from, t.frame)
	}
	return t
}

func (m *machine) adoptContext(from *machine, id int32) int32 {
	c := from.contexts[id]
	return m.context(c.shape, m.adoptFrame(from, c.frame), c.tool, c.next, c.count, c.came)
}

func (m *machine) adoptFrame(from *machine, id int32) int32 {
	f := from.frames[id]
	switch f.kind {
	case frameObject:
		f.a = m.adoptContext(from, f.a)
	case frameArray:
		f.parent = m.adoptFrame(from, f.parent)
	}
	return m.frame(f)
}

// advance returns the threads after c, less those that the keys that came do not
// permit; keys, if not nil, has read the text before c and reads c.
func (t *Matcher) advance(threads []thread, keys *keyLexer, c byte, out []thread) []thread {
	out = out[:0]
	for i := range threads {
		out = t.m.step(&threads[i], c, out)
		if len(out) > 2*maxThreads {
			break
		}
	}
	if t.g.keyed {
		keys.feed(c)
		out = slices.DeleteFunc(out, func(u thread) bool { return !t.m.permits(&u, keys) })
	}
	if len(out) > 1 {
		out = unique(out)
	}
	return out
}

// unique drops repeated threads.
func unique(threads []thread) []thread {
	if len(threads) <= 16 {
		n := 1
		for _, t := range threads[1:] {
			if !slices.Contains(threads[:n], t) {
				threads[n] = t
				n++
			}
		}
		return threads[:n]
	}
	seen := map[thread]bool{}
	return slices.DeleteFunc(threads, func(t thread) bool {
		again := seen[t]
		seen[t] = true
		return again
	})
}

// simulate reads text from the present state and leaves the result in t.next and
// t.scratch. It returns how many bytes were legal.
func (t *Matcher) simulate(text []byte) int {
	t.next = append(t.next[:0], t.threads...)
	if t.g.keyed {
		t.scratch.set(&t.keys)
	}
	for i, c := range text {
		t.spare = t.advance(t.next, &t.scratch, c, t.spare)
		t.next, t.spare = t.spare, t.next
		if len(t.next) == 0 || len(t.next) > maxThreads {
			return i
		}
	}
	return len(text)
}

// left returns the bytes of a short way from the threads to the end; keys has
// read the text up to them.
func (t *Matcher) left(threads []thread, keys *keyLexer) int {
	if !t.g.keyed {
		keys = nil
	}
	left := never
	for i := range threads {
		left = min(left, t.m.left(&threads[i], keys))
	}
	return left
}

// LimitTokens bounds the text from here on to n tokens, the end-of-sequence token
// not counted: what is legal always leaves a way to the end. It is counted with
// one token a byte, so the vocabulary needs a token for each byte. A negative n
// takes the bound away.
//
// The error is ErrLimit, and nothing changes, where the way to the end takes
// more than n bytes.
func (t *Matcher) LimitTokens(n int) error {
	t.lock()
	defer t.g.mu.Unlock()
	if left := t.left(t.threads, &t.keys); n >= 0 && !t.finished && left > n {
		return fmt.Errorf("%w: byte %d: %d more bytes are needed to end the text, and %d tokens are left", ErrLimit, t.used, left, n)
	}
	t.tokens = max(n, -1)
	return nil
}

// Limited reports whether LimitTokens or Options.MaxBytes made a token illegal
// in one of the masks so far: the text may have been brought to an end that
// nobody wanted.
func (t *Matcher) Limited() bool { return t.limited }

// AcceptBytes reads bytes of the text. The error is ErrRefused, with the place
// of the first byte that is not legal, or ErrLimit where the text would become
// longer than Options.MaxBytes, or than LimitTokens permits if each byte is a
// token; the state then stays as it was.
func (t *Matcher) AcceptBytes(text []byte) error {
	t.lock()
	defer t.g.mu.Unlock()
	return t.accept(text, len(text))
}

// accept reads text, which counts as some tokens.
func (t *Matcher) accept(text []byte, tokens int) error {
	if len(text) == 0 {
		return nil
	}
	if t.finished {
		return fmt.Errorf("%w: byte %d: %q after the end of the text", ErrRefused, t.used, text[0])
	}
	if n := t.simulate(text); n < len(text) {
		if len(t.next) > 0 {
			return fmt.Errorf("%w: byte %d: more than %d ways to read the text", ErrLimit, t.used+n, maxThreads)
		}
		return fmt.Errorf("%w: byte %d: %q", ErrRefused, t.used+n, text[n])
	}
	left := t.left(t.next, &t.scratch)
	if left > t.g.opts.MaxBytes-t.used-len(text) {
		return fmt.Errorf("%w: byte %d: %d more bytes are needed to end the text, which has at most %d (Options.MaxBytes)", ErrLimit, t.used+len(text), left, t.g.opts.MaxBytes)
	}
	if t.tokens >= 0 {
		if left > t.tokens-tokens {
			return fmt.Errorf("%w: byte %d: %d more bytes are needed to end the text, and %d tokens are left", ErrLimit, t.used+len(text), left, t.tokens-tokens)
		}
		t.tokens -= tokens
	}
	t.threads, t.next = t.next, t.threads
	if t.g.keyed {
		t.keys, t.scratch = t.scratch, t.keys
	}
	t.used += len(text)
	return nil
}

// Accept reads a token. An end-of-sequence token is legal when the text is
// complete, and ends it. Errors are those of AcceptBytes.
func (t *Matcher) Accept(id int) error {
	t.lock()
	defer t.g.mu.Unlock()
	if id < 0 || id >= t.v.size {
		return fmt.Errorf("%w: token %d, expected 0 to %d", ErrRefused, id, t.v.size-1)
	}
	if _, ok := slices.BinarySearch(t.v.eos, id); ok {
		if !t.finished && !t.complete() {
			return fmt.Errorf("%w: end-of-sequence token %d at byte %d, where the text is not complete", ErrRefused, id, t.used)
		}
		t.finished = true
		return nil
	}
	text := t.v.bytes(int32(id))
	if len(text) == 0 {
		return fmt.Errorf("%w: token %d has no bytes", ErrRefused, id)
	}
	return t.accept(text, 1)
}

// Complete reports whether the text so far is one of the grammar's.
func (t *Matcher) Complete() bool {
	t.lock()
	defer t.g.mu.Unlock()
	return t.complete()
}

func (t *Matcher) complete() bool {
	return slices.ContainsFunc(t.threads, t.ends)
}

// ends reports whether the text may end at a thread.
func (t *Matcher) ends(u thread) bool {
	return u.kind == kindEnd || u.kind == kindNumber && t.m.frames[u.frame].kind == frameTop && t.m.g.nodes[u.a].number.tag[u.b] >= 0
}

// Done reports whether nothing can follow: the text is complete and has been
// ended, or has come to where only its end is legal.
func (t *Matcher) Done() bool {
	if t.finished {
		return true
	}
	for _, u := range t.threads {
		if u.kind != kindEnd || u.space > 0 {
			return false
		}
	}
	return true
}

// Mask sets the bits of the legal tokens, id%64 of legal[id/64], and clears all
// others. legal has room for the vocabulary. Where the text is complete the
// end-of-sequence tokens are among them, and at its end they alone.
//
// The error is ErrNoToken where no token is legal.
func (t *Matcher) Mask(legal []uint64) error {
	t.lock()
	defer t.g.mu.Unlock()
	if len(legal) < t.v.words() {
		return fmt.Errorf("%w: a mask of %d words, expected at least %d", ErrVocabulary, len(legal), t.v.words())
	}
	found := false
	if t.finished {
		clear(legal)
	} else {
		found = t.fillMask(legal)
	}
	if t.finished || t.complete() {
		for _, id := range t.v.eos {
			setBit(legal, int32(id))
			found = true
		}
	}
	if !found {
		why := "no token of the vocabulary goes on as the grammar asks"
		if t.finished || t.complete() {
			why = "the text is complete, and the vocabulary has no end-of-sequence token"
		}
		return fmt.Errorf("%w: byte %d: %s", ErrNoToken, t.used, why)
	}
	return nil
}

// fillMask sets the tokens that are legal by the automaton and leave room for a
// way to the end. It reports whether there is one.
func (t *Matcher) fillMask(legal []uint64) bool {
	room, after := t.room()
	tight, ways := false, 0
	for i := range t.threads {
		k := t.m.mask(t.v, &t.threads[i])
		ways += k.fan
		tight = tight || k.need > room || k.most > after || t.keysNeed(k, room, after)
	}
	if !tight {
		t.freeMask(legal)
	} else {
		t.tightMask(legal, room, after)
		if !t.limited {
			t.free = slices.Grow(t.free[:0], len(legal))[:len(legal)]
			t.freeMask(t.free)
			t.limited = !slices.Equal(t.free, legal)
		}
	}
	if ways > maxThreads {
		t.dropWide(legal)
	}
	return slices.ContainsFunc(legal, func(w uint64) bool { return w != 0 })
}

// dropWide drops the tokens after which there would be too many threads.
func (t *Matcher) dropWide(legal []uint64) {
	checked := make([]uint64, len(legal))
	for i := range t.threads {
		for _, id := range t.m.mask(t.v, &t.threads[i]).wide {
			if !hasTag(legal, int(id)) || hasTag(checked, int(id)) {
				continue
			}
			setBit(checked, id)
			if text := t.v.bytes(id); t.simulate(text) < len(text) {
				legal[id/64] &^= 1 << (id % 64)
			}
		}
	}
}

// freeMask sets the tokens that are legal by the automaton.
func (t *Matcher) freeMask(legal []uint64) {
	clear(legal)
	for i := range t.threads {
		k := t.m.mask(t.v, &t.threads[i])
		if i == 0 {
			copy(legal, k.base)
		} else {
			for j, bits := range k.base {
				legal[j] |= bits
			}
		}
		for _, id := range k.ids {
			setBit(legal, id)
		}
	}
	for i := range t.threads {
		for _, id := range t.m.mask(t.v, &t.threads[i]).conditional {
			if !t.permitted(id) {
				legal[id/64] &^= 1 << (id % 64)
			}
		}
	}
}

// room returns how many bytes the next token may take together with what is
// then left to be written, and how many may be left after it.
func (t *Matcher) room() (room, after int) {
	if t.tokens >= 0 {
		return t.g.opts.MaxBytes - t.used, t.tokens - 1
	}
	return t.g.opts.MaxBytes - t.used, never
}

// keysNeed reports whether a token of a mask might leave too little room for a
// key that did not come.
func (t *Matcher) keysNeed(k *mask, room, after int) bool {
	if len(k.keyEnds) == 0 {
		return false
	}
	n := t.maxKeys()
	for u, size := range k.keyEnds {
		if left := t.m.leftAtMost(&u, n); plus(size, left) > room || left > after {
			return true
		}
	}
	return false
}

// maxKeys returns how many keys an object has at most after the next token.
func (t *Matcher) maxKeys() int { return t.keys.most() + t.v.long/4 + 1 }

// permitted reports whether the keys that came permit a token that is legal by
// the automaton.
func (t *Matcher) permitted(id int32) bool {
	text := t.v.bytes(id)
	if len(t.threads) == 1 && t.threads[0].kind == kindKeyTotal && t.keys.levels[len(t.keys.levels)-1].keys == nil && bytes.Count(text, []byte{'"'}) < 2 {
		return true // the first key of its object
	}
	return t.simulate(text) == len(text)
}

// tightMask sets the tokens after which the text can still end: within room
// bytes, and after bytes after the token.
func (t *Matcher) tightMask(legal []uint64, room, after int) {
	clear(legal)
	w := walker{m: t.m, v: t.v, trie: t.v.trie, limited: true, limit: room, after: after, keys: t.maxKeys()}
	for i := range t.threads {
		w.walk(0, &t.threads[i], false, 0)
	}
	ids := w.ids
	if len(w.conditional) > 0 {
		conditional := t.v.set(w.conditional)
		ids = slices.DeleteFunc(ids, func(id int32) bool { return hasTag(conditional, int(id)) && !t.permitted(id) })
	}
	if len(w.inKey) > 0 {
		inKey := t.v.set(w.inKey)
		ids = slices.DeleteFunc(ids, func(id int32) bool { return hasTag(inKey, int(id)) && !t.fits(t.v.bytes(id), room, after) })
	}
	for _, id := range ids {
		setBit(legal, id)
	}
}

// fits reports whether after text there is room for a way to the end, by the
// keys that came.
func (t *Matcher) fits(text []byte, room, after int) bool {
	if t.simulate(text) < len(text) {
		return false
	}
	left := t.left(t.next, &t.scratch)
	return len(text)+left <= room && left <= after
}
