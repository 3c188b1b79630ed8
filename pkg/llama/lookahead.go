package llama

import "context"

// A lookahead is what a session has computed beyond its tokens: drafted tokens
// that may come next, whose keys and values are in the cache after those of the
// session, and the logits after each. When a token comes that was drafted, it is
// computed already; when another comes, the rest of the draft is forgotten, and
// its places in the cache are written again.
type lookahead struct {
	draft  []int       // what was expected after the computed tokens, not yet compared
	logits [][]float32 // after each of draft
	memory []float32   // of all logits; allocated with the first draft
	rows   [][]float32 // its rows, vocab_size each
}

// reserve makes room for drafts of n tokens.
func (a *lookahead) reserve(n, vocabulary int) {
	if len(a.rows) >= n {
		return
	}
	a.drop()
	a.memory = make([]float32, n*vocabulary)
	a.rows = make([][]float32, n)
	for i := range a.rows {
		a.rows[i] = a.memory[i*vocabulary : (i+1)*vocabulary]
	}
}

func (a *lookahead) drop() { a.draft, a.logits = nil, nil }

// follow takes the tokens that were drafted rightly as computed.
func (s *Session) follow() {
	for s.computed < len(s.tokens) && len(s.ahead.draft) > 0 {
		if s.tokens[s.computed] != s.ahead.draft[0] {
			s.ahead.drop()
			return
		}
		s.logits = s.ahead.logits[0]
		s.ahead.draft, s.ahead.logits = s.ahead.draft[1:], s.ahead.logits[1:]
		s.computed++
		s.current = s.computed == len(s.tokens)
		s.drafts.Accepted++
	}
}

// room returns how many tokens can be drafted in the pass that is next: 0 where
// the last tokens do not go through in one.
func (s *Session) room() int {
	pending := len(s.tokens) - s.computed
	if pending == 0 {
		return 0
	}
	return max(0, min(maxRows-pending, s.kv.capacity-len(s.tokens)))
}

// computeAhead computes the last tokens, which must be some, and with them a
// draft of what may follow, of at most room() tokens. No draft will be longer
// than most.
func (s *Session) computeAhead(ctx context.Context, draft []int, most int) error {
	s.ahead.reserve(most, s.m.config.VocabSize)
	if err := s.step(ctx, draft); err != nil {
		return err
	}
	s.ahead.draft, s.ahead.logits = draft, s.ahead.rows[:len(draft)]
	s.drafts.Drafted += len(draft)
	return nil
}

// DraftStats counts tokens that were drafted by speculation (GenerateOptions.DraftMax).
type DraftStats struct {
	Drafted  int // computed before they were known to come
	Accepted int // of these, that came
}

// DraftStats returns the counts of all the session's generations.
func (s *Session) DraftStats() DraftStats { return s.drafts }
