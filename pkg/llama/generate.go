package llama

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
)

// FinishReason says why a generation ended.
type FinishReason string

// The reasons. A generation that ends otherwise ends in an error.
const (
	FinishStop       FinishReason = "stop"        // an end-of-sequence token
	FinishStopString FinishReason = "stop_string" // one of GenerateOptions.Stop
	FinishLength     FinishReason = "length"      // GenerateOptions.MaxTokens
	FinishContext    FinishReason = "context"     // the session's context is full
	FinishConstraint FinishReason = "constraint"  // the constraint is done
)

// ErrNoPrompt means a generation in an empty session without a prompt.
var ErrNoPrompt = errors.New("llama: nothing to go on from: the session and the prompt are empty")

// ErrConstraint means a constraint that cannot be followed.
var ErrConstraint = errors.New("llama: constraint")

// GenerateOptions say how tokens are generated. The zero value, and nil, mean
// greedily until an end-of-sequence token or the end of the context.
type GenerateOptions struct {
	// MaxTokens is the largest number of tokens; 0 means no limit but the context.
	MaxTokens int
	// Sampling says how a token is picked from logits.
	Sampling Sampling
	// Stop ends the generation when one of these strings appears in the text;
	// nothing of it is in any Token's Text.
	Stop []string
	// IgnoreEOS goes on after an end-of-sequence token.
	IgnoreEOS bool
	// LogProbs is how many of the most likely tokens are given with each token;
	// 0 means none, and no log-probability of the token itself.
	LogProbs int
	// Constraint limits the tokens; nil means none.
	Constraint Constraint
	// DraftMax is the most tokens that are drafted at once, at most 64; 0 means
	// 16, and less than 0 none. Where the last tokens have occurred before, in
	// the prompt or in what was generated, those that followed then are computed
	// along with them, and are there at once if they come again (prompt-lookup
	// speculation). Nothing but the time depends on it: tokens, logits and
	// log-probabilities have the same bits. It takes memory for the logits of so
	// many tokens once something repeats. Session.DraftStats tells how it went.
	DraftMax int
}

// A Constraint says which tokens may come next. pkg/grammar implements it.
type Constraint interface {
	// Mask sets bit id%64 of legal[id/64] for each token that may come next and
	// clears the others. No legal token is an error.
	Mask(legal []uint64) error
	// Forced returns the bytes that must come next; empty where there is a
	// choice. As far as the tokenizer spells them they are appended without
	// computing logits for each; Mask has to allow what is left.
	Forced() []byte
	// Accept advances by a token that was chosen or forced.
	Accept(id int) error
	// Done reports that nothing more may come.
	Done() bool
}

// A Token is one element of a generation.
type Token struct {
	ID int
	// Text is what the token adds to the text: whole characters only, without
	// what might yet become a stop string. It may be empty, and later tokens
	// bring what was held back.
	Text string
	// LogProb is the natural logarithm of the token's probability before any
	// filter, and Top are the most likely tokens, where they were asked for.
	// Top is valid until the next token.
	LogProb float32
	Top     []TokenLogProb
	// Forced means that a constraint left no choice.
	Forced bool
	// Finish is set on the last token.
	Finish FinishReason
}

// Generate appends prompt to the session and generates tokens. Each is yielded
// as soon as it is picked; it is then part of the session, but Session.Logits
// are those that it was picked from: it is computed when logits after it are
// needed. Inside the loop the session may be used, and the generation goes on
// from what is made of it. The last token says why the generation ended
// (Token.Finish); an error ends the stream. A cancelled ctx ends it between
// tokens, or inside the prompt, with the context's error.
//
// After the first tokens a generation allocates nothing but the tokens' text.
func (s *Session) Generate(ctx context.Context, prompt []int, opts *GenerateOptions) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		var o GenerateOptions
		if opts != nil {
			o = *opts
		}
		g, err := s.newGeneration(o)
		if err == nil {
			err = s.add(prompt)
		}
		if err == nil && len(s.tokens) == 0 {
			err = ErrNoPrompt
		}
		if err != nil {
			yield(Token{}, err)
			return
		}
		g.run(ctx, yield)
	}
}

// A generation is the state of one call of Generate.
type generation struct {
	GenerateOptions
	s       *Session
	sampler *Sampler
	decoder *bpe.Decoder
	stopper *stopper
	legal   []uint64
	top     []TokenLogProb
	drafter drafter
	count   int
}

func (s *Session) newGeneration(o GenerateOptions) (*generation, error) {
	if o.MaxTokens < 0 {
		return nil, fmt.Errorf("%w: MaxTokens is %d, expected at least 0", ErrOptions, o.MaxTokens)
	}
	if o.LogProbs < 0 || o.LogProbs > s.m.config.VocabSize {
		return nil, fmt.Errorf("%w: LogProbs is %d, expected 0 to %d", ErrOptions, o.LogProbs, s.m.config.VocabSize)
	}
	if o.DraftMax > maxDraft {
		return nil, fmt.Errorf("%w: DraftMax is %d, expected at most %d", ErrOptions, o.DraftMax, maxDraft)
	}
	sampler, err := NewSampler(o.Sampling)
	if err != nil {
		return nil, err
	}
	stopper, err := newStopper(o.Stop)
	if err != nil {
		return nil, err
	}
	g := &generation{GenerateOptions: o, s: s, sampler: sampler, decoder: s.m.tok.NewDecoder(nil), stopper: stopper, drafter: newDrafter(o.DraftMax, s.price)}
	if o.Constraint != nil {
		g.legal = make([]uint64, (s.m.config.VocabSize+63)/64)
	}
	if o.LogProbs > 0 {
		g.top = make([]TokenLogProb, o.LogProbs)
	}
	return g, nil
}

func (g *generation) run(ctx context.Context, yield func(Token, error) bool) {
	for {
		goOn, err := g.force(yield)
		if err == nil && goOn {
			if err = g.compute(ctx); err == nil {
				goOn, err = g.sample(yield)
			}
		}
		if err != nil {
			yield(Token{}, err)
			return
		}
		if !goOn {
			return
		}
	}
}

// compute brings the session's logits up to its last token, unless they are there
// from a draft, and drafts what may follow.
func (g *generation) compute(ctx context.Context) error {
	s := g.s
	if s.kv == nil {
		return ErrClosed
	}
	s.follow()
	if s.computed == len(s.tokens) && s.current {
		return ctx.Err()
	}
	room := s.room()
	if g.MaxTokens > 0 {
		room = min(room, g.MaxTokens-g.count-1) // the logits after the last token are for nobody
	}
	if draft := g.drafter.draft(s.tokens, room, s.pass.shared, s.drafts.Accepted); len(draft) > 0 {
		return s.computeAhead(ctx, draft, g.drafter.most)
	}
	return s.compute(ctx)
}

// force yields the tokens that the constraint leaves no choice about.
func (g *generation) force(yield func(Token, error) bool) (goOn bool, err error) {
	if g.Constraint == nil {
		return true, nil
	}
	tok := g.s.m.tok
	forced := string(g.Constraint.Forced())
	if forced == "" {
		return true, nil
	}
	for _, id := range tok.Encode(forced, nil) {
		// Bytes that the tokenizer changes (half a character, a text that it
		// normalises, a space in front) are left to the mask.
		token := string(tok.TokenBytes(id))
		if token == "" || !strings.HasPrefix(forced, token) {
			break
		}
		forced = forced[len(token):]
		if goOn, err := g.emit(Token{ID: id, Forced: true}, yield); err != nil || !goOn {
			return false, err
		}
	}
	return true, nil
}

// sample picks one token from the logits and yields it.
func (g *generation) sample(yield func(Token, error) bool) (goOn bool, err error) {
	logits := g.s.Logits()
	if logits == nil { // whoever took the last token emptied the session
		return false, ErrNoPrompt
	}
	if g.Constraint != nil {
		if err := g.Constraint.Mask(g.legal); err != nil {
			return false, fmt.Errorf("%w: %w", ErrConstraint, err)
		}
	}
	id, err := g.sampler.Sample(logits, g.s.tokens, g.legal)
	if err != nil {
		return false, err
	}
	t := Token{ID: id}
	if g.LogProbs > 0 {
		t.LogProb = logProbs(logits, id, g.top)
		t.Top = g.top
	}
	return g.emit(t, yield)
}

// emit makes a token part of the session and of the text, and yields it.
func (g *generation) emit(t Token, yield func(Token, error) bool) (goOn bool, err error) {
	if g.s.kv == nil {
		return false, ErrClosed
	}
	if len(g.s.tokens) == g.s.kv.capacity {
		return false, fmt.Errorf("%w: %d tokens", ErrContext, len(g.s.tokens))
	}
	if g.Constraint != nil {
		if err := g.Constraint.Accept(t.ID); err != nil {
			return false, fmt.Errorf("%w: token %d: %w", ErrConstraint, t.ID, err)
		}
	}
	g.count++
	eos := !g.IgnoreEOS && g.s.m.config.IsEOS(t.ID)
	stopped := false
	if !eos {
		t.Text, stopped = g.stopper.feed(g.decoder.Add(t.ID))
	}
	switch {
	case eos:
		t.Finish = FinishStop
	case stopped:
		t.Finish = FinishStopString
	case g.Constraint != nil && g.Constraint.Done():
		t.Finish = FinishConstraint
	case g.count == g.MaxTokens:
		t.Finish = FinishLength
	case len(g.s.tokens)+1 == g.s.kv.capacity:
		t.Finish = FinishContext
	}
	if t.Finish != "" && !stopped {
		// What was held back is text after all.
		rest, at := g.stopper.feed(g.decoder.Flush())
		t.Text += rest
		if at {
			t.Finish = FinishStopString
		} else {
			t.Text += g.stopper.flush()
		}
	}
	// Before yield: whoever takes the token may use the session.
	g.s.tokens = append(g.s.tokens, t.ID)
	return yield(t, nil) && t.Finish == "", nil
}
