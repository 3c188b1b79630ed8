package llama

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/leveret-os/leveret/internal/jinja"
	"github.com/leveret-os/leveret/pkg/bpe"
)

// Encode returns the token ids of a conversation: those of its text, in which
// special tokens are special where the template wrote them, at least in part,
// and plain characters where they stand in a message, a tool's description or
// another variable. So no message can end its turn and begin another.
//
// Without such characters in messages the ids are those of
// tok.Encode(text, {ParseSpecial: true}). Added tokens that are not special,
// like <think> of some models, are ordinary vocabulary everywhere.
func (t *ChatTemplate) Encode(tok *bpe.Tokenizer, messages []Message, opts *ChatOptions) ([]int, error) {
	r, err := t.render(messages, opts)
	if err != nil {
		return nil, err
	}
	return encodeRendering(tok, r)
}

// encodeRendering encodes a text of which some is data. Between two special
// tokens of the template, a stretch that has the characters of a special token
// in its data is encoded without special tokens.
func encodeRendering(tok *bpe.Tokenizer, r *jinja.Rendering) ([]int, error) {
	matches := findSpecial(tok, r.Text)
	ours := func(m specialMatch) bool { return !within(r.Data, m.start, m.end) }
	if !slices.ContainsFunc(matches, func(m specialMatch) bool { return !ours(m) }) {
		return tok.Encode(r.Text, &bpe.EncodeOptions{ParseSpecial: true}), nil
	}
	var ids []int
	special := func(start, end int) {
		if start < end {
			ids = append(ids, tok.Encode(r.Text[start:end], &bpe.EncodeOptions{ParseSpecial: true})...)
		}
	}
	plain := func(start, end int) error {
		part := tok.Encode(r.Text[start:end], nil)
		for _, id := range part {
			if tok.IsSpecial(id) {
				token, _ := tok.Token(id)
				return fmt.Errorf("%w: the tokenizer makes the special token %q of plain text", ErrChatTemplate, token)
			}
		}
		ids = append(ids, part...)
		return nil
	}
	done := 0   // encoded so far
	border := 0 // end of the last special token of the template
	foreign := false
	for _, m := range append(matches, specialMatch{start: len(r.Text), end: len(r.Text)}) {
		if m.start < len(r.Text) && !ours(m) {
			foreign = true
			continue
		}
		end := m.start
		if m.token.LStrip { // the token takes white space before it
			end = len(strings.TrimRightFunc(r.Text[:end], unicode.IsSpace))
		}
		end = max(end, border)
		if foreign {
			special(done, border)
			if err := plain(border, end); err != nil {
				return nil, err
			}
			done, foreign = end, false
		}
		border = m.end
		if m.token.RStrip {
			border = len(r.Text) - len(strings.TrimLeftFunc(r.Text[border:], unicode.IsSpace))
		}
	}
	special(done, len(r.Text))
	return ids, nil
}

// within reports whether all of [start, end) lies in one span. Spans that touch
// are one.
func within(spans []jinja.Span, start, end int) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].End > start })
	return i < len(spans) && spans[i].Start <= start && end <= spans[i].End
}

type specialMatch struct {
	token      bpe.AddedToken
	start, end int
}

// findSpecial finds the special tokens in a text as a tokenizer does: from left
// to right, the longest added token at each place.
func findSpecial(tok *bpe.Tokenizer, text string) []specialMatch {
	byFirst := map[byte][]bpe.AddedToken{}
	for _, t := range tok.AddedTokens() {
		byFirst[t.Content[0]] = append(byFirst[t.Content[0]], t)
	}
	for _, tokens := range byFirst {
		slices.SortFunc(tokens, func(a, b bpe.AddedToken) int { return cmp.Compare(len(b.Content), len(a.Content)) })
	}
	var matches []specialMatch
	for i := 0; i < len(text); {
		n := 1
		for _, t := range byFirst[text[i]] {
			if strings.HasPrefix(text[i:], t.Content) {
				n = len(t.Content)
				if t.Special {
					matches = append(matches, specialMatch{t, i, i + n})
				}
				break
			}
		}
		i += n
	}
	return matches
}
