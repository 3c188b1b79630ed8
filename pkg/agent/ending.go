package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/leveret-os/leveret/pkg/grammar"
	"github.com/leveret-os/leveret/pkg/llama"
)

// Call writes one call. The model writes freely, under the grammar; where it has
// not come to an end within maxTokens, it goes back to where there was still room
// for one and is led to it, and the call is cut. So a call is whole whatever the
// model wants, and is cut only if the model did not end it. What of the prompt is
// in the session from the call before is not computed again.
func (c *llamaCaller) Call(ctx context.Context, prompt []int, maxTokens int) (w Written, err error) {
	sampling := c.l.opts.Sampling
	sampling.Seed += c.calls
	c.calls++
	options := llama.GenerateOptions{MaxTokens: maxTokens, Sampling: sampling}
	e := &ending{Matcher: c.grammar.NewMatcher(c.l.vocabulary), bytes: c.l.model.Tokenizer().TokenBytes, tokens: maxTokens, room: -1}
	options.Constraint = e
	w, err = c.write(ctx, prompt, options)
	// Near the bound in bytes the grammar leads to the end on its own.
	cut := w.Cut || e.Limited()
	if err == nil && w.Cut && e.room >= 0 {
		w, err = c.finish(ctx, prompt, options, e)
	}
	w.Cut = cut
	return w, err
}

// write generates one text.
func (c *llamaCaller) write(ctx context.Context, prompt []int, options llama.GenerateOptions) (w Written, err error) {
	rest, err := c.session.Rewind(prompt)
	if err != nil {
		return w, err
	}
	var text strings.Builder
	defer func() { w.Text = text.String() }()
	for t, err := range c.session.Generate(ctx, rest, &options) {
		if err != nil {
			return w, err
		}
		text.WriteString(t.Text)
		w.Tokens++
		if t.Forced {
			w.Forced++
		}
		w.Cut = t.Finish == llama.FinishLength || t.Finish == llama.FinishContext
	}
	return w, nil
}

// finish writes the end of a call that did not come to one, from the last place
// where there was room for it.
func (c *llamaCaller) finish(ctx context.Context, prompt []int, options llama.GenerateOptions, e *ending) (Written, error) {
	kept := e.ids[:e.room]
	m := c.grammar.NewMatcher(c.l.vocabulary)
	var text strings.Builder
	for _, id := range kept {
		if err := m.Accept(id); err != nil {
			return Written{}, err
		}
		text.Write(e.bytes(id))
	}
	options.MaxTokens -= len(kept)
	if err := m.LimitTokens(options.MaxTokens); err != nil {
		return Written{}, err
	}
	options.Constraint = m
	w, err := c.write(ctx, append(prompt[:len(prompt):len(prompt)], kept...), options)
	w.Text = text.String() + w.Text
	w.Tokens += len(kept)
	for _, forced := range e.forced[:e.room] {
		if forced {
			w.Forced++
		}
	}
	return w, err
}

// ending is a matcher that knows where the text could still have been brought to
// an end within its tokens. It does not keep to that.
type ending struct {
	*grammar.Matcher
	bytes  func(id int) []byte
	tokens int
	ids    []int
	forced []bool // of ids: whether nobody was asked
	asked  bool   // for the next one
	room   int    // how many of ids there were when there was room last; -1: never
}

func (e *ending) Mask(legal []uint64) error {
	err := e.LimitTokens(e.tokens)
	if err == nil {
		e.room = len(e.ids)
		err = e.LimitTokens(-1)
	}
	if err != nil && !errors.Is(err, grammar.ErrLimit) {
		return err
	}
	e.asked = true
	return e.Matcher.Mask(legal)
}

func (e *ending) Accept(id int) error {
	e.tokens--
	if err := e.Matcher.Accept(id); err != nil {
		return err
	}
	e.ids, e.forced, e.asked = append(e.ids, id), append(e.forced, !e.asked), false
	return nil
}
