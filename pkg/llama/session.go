package llama

import (
	"context"
	"fmt"
)

// SessionOptions say how a session is made. The zero value, and nil, are the
// defaults.
type SessionOptions struct {
	// Context is the largest number of tokens that the session holds; 0 means
	// all that the model was made for (Config.ContextLength), which is also the
	// most that is allowed. The KV cache reserves memory for all of them and
	// uses it as tokens come.
	Context int
}

// A Session is one sequence of tokens and its KV cache. It must not be used by
// several goroutines at once; several sessions of one model may.
type Session struct {
	m      *Model
	kv     *kvCache
	tokens []int // the sequence
	// computed is how many of the tokens are in the cache; the others are
	// computed when logits are needed next.
	computed int
	logits   []float32 // after the last computed token, if current
	own      []float32 // logits of the last token of a pass; others are lookahead's
	current  bool
	pass     pass
	ahead    lookahead
	drafts   DraftStats
	price    float64 // draftPrice
}

// NewSession returns an empty session.
func (m *Model) NewSession(opts *SessionOptions) (*Session, error) {
	limit := m.config.ContextLength()
	n := limit
	if opts != nil && opts.Context != 0 {
		n = opts.Context
	}
	if n < 1 || n > limit {
		return nil, fmt.Errorf("%w: Context is %d, expected 1 to %d (%s)", ErrOptions, n, limit, m.config.ContextLimit())
	}
	e, err := m.scheduler.acquire()
	if err != nil {
		return nil, err
	}
	defer m.scheduler.release()
	e.reserve(1)
	if err := e.reserveScores(n); err != nil {
		return nil, err
	}
	kv, err := newKVCache(m.config, n)
	if err != nil {
		return nil, err
	}
	logits := make([]float32, m.config.VocabSize)
	return &Session{
		m:      m,
		kv:     kv,
		tokens: make([]int, 0, min(n, maxTokensAtOnce)),
		logits: logits,
		own:    logits,
		pass:   pass{rows: make([]row, 0, min(n, maxRows)), done: make(chan struct{}, 1)},
		price:  draftPrice(m.info.ISA, m.info.Format),
	}, nil
}

// maxTokensAtOnce is the number of tokens up to which the list of them is
// allocated with the session.
const maxTokensAtOnce = 1 << 16

// Model returns the session's model.
func (s *Session) Model() *Model { return s.m }

// Context returns the largest number of tokens that the session holds.
func (s *Session) Context() int {
	if s.kv == nil {
		return 0
	}
	return s.kv.capacity
}

// Len returns the number of tokens in the session.
func (s *Session) Len() int { return len(s.tokens) }

// Tokens returns a copy of the session's tokens.
func (s *Session) Tokens() []int { return append([]int(nil), s.tokens...) }

// CacheBytes returns the memory that the cached keys and values use.
func (s *Session) CacheBytes() int64 {
	if s.kv == nil {
		return 0
	}
	return s.kv.bytes(s.computed)
}

// Append adds tokens to the session and computes them, and with them the logits
// of the token that follows. Tokens that do not fit in the context are an
// error (ErrContext), as are unknown ids (ErrToken); the session is then as
// before. When ctx is cancelled, the tokens are in the session but not all are
// computed; the next call goes on.
func (s *Session) Append(ctx context.Context, ids []int) error {
	if err := s.add(ids); err != nil {
		return err
	}
	return s.compute(ctx)
}

// add adds tokens without computing them.
func (s *Session) add(ids []int) error {
	if s.kv == nil {
		return ErrClosed
	}
	if free := s.kv.capacity - len(s.tokens); len(ids) > free {
		return fmt.Errorf("%w: %d tokens after %d exceed the context of %d", ErrContext, len(ids), len(s.tokens), s.kv.capacity)
	}
	for i, id := range ids {
		if id < 0 || id >= s.m.config.VocabSize {
			return fmt.Errorf("%w: id %d at position %d, expected 0 to %d", ErrToken, id, len(s.tokens)+i, s.m.config.VocabSize-1)
		}
	}
	s.tokens = append(s.tokens, ids...)
	return nil
}

// compute brings the cache and the logits up to the last token, up to maxRows
// tokens at a time, together with what other sessions want.
func (s *Session) compute(ctx context.Context) error {
	if s.kv == nil {
		return ErrClosed
	}
	s.follow()
	if !s.current && s.computed == len(s.tokens) && s.computed > 0 {
		s.computed-- // the same token once more gives its logits
	}
	for s.computed < len(s.tokens) {
		if err := s.step(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// step computes the next tokens, and, if all that are left fit, a draft of those
// that follow.
func (s *Session) step(ctx context.Context, draft []int) error {
	s.ahead.drop()
	n := min(len(s.tokens)-s.computed, maxRows)
	p := &s.pass
	p.ctx, p.rows = ctx, p.rows[:0]
	for i := range n {
		p.rows = append(p.rows, row{token: s.tokens[s.computed+i], pos: s.computed + i, kv: s.kv})
	}
	if s.computed+n == len(s.tokens) {
		p.rows[n-1].logits = s.own
	}
	for i, id := range draft {
		p.rows = append(p.rows, row{token: id, pos: len(s.tokens) + i, kv: s.kv, logits: s.ahead.rows[i]})
	}
	err := s.m.scheduler.compute(p)
	p.ctx = nil
	if err != nil {
		return err
	}
	s.computed += n
	s.logits, s.current = s.own, s.computed == len(s.tokens)
	return nil
}

// Logits returns the logits of the token that follows the last computed one:
// vocab_size of them, not normalised, valid until the session computes again.
// They are nil when there are none: before the first Append, and after Truncate.
func (s *Session) Logits() []float32 {
	if !s.current {
		return nil
	}
	return s.logits
}

// Truncate keeps the first n tokens and forgets the others.
func (s *Session) Truncate(n int) error {
	if s.kv == nil {
		return ErrClosed
	}
	if n < 0 || n > len(s.tokens) {
		return fmt.Errorf("%w: cannot keep %d of %d tokens", ErrOptions, n, len(s.tokens))
	}
	s.tokens = s.tokens[:n]
	if n < s.computed {
		s.computed, s.current = n, false
		s.ahead.drop()
	}
	return nil
}

// Rewind keeps as much of the session as begins prompt, forgets the rest, and
// returns the part of prompt that must be appended: at least its last token,
// so that there are logits to go on from. A conversation whose beginning was
// computed before costs only what is new.
func (s *Session) Rewind(prompt []int) (rest []int, err error) {
	n := 0
	for n < len(prompt)-1 && n < s.computed && s.tokens[n] == prompt[n] {
		n++
	}
	if err := s.Truncate(n); err != nil {
		return nil, err
	}
	return prompt[n:], nil
}

// Close frees the session's cache. Closing twice is allowed. A session that is
// not closed is freed when it is garbage.
func (s *Session) Close() {
	if s.kv != nil {
		s.kv.free()
	}
	*s = Session{m: s.m}
}
