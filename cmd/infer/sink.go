package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// sink takes a generation as it comes.
type sink interface {
	token(llama.Token) error
	end(*result) error
}

// textSink writes the text.
type textSink struct {
	w    io.Writer
	last byte
}

func (s *textSink) token(t llama.Token) error {
	if t.Text == "" {
		return nil
	}
	s.last = t.Text[len(t.Text)-1]
	_, err := io.WriteString(s.w, t.Text)
	return err
}

// end ends the last line, so that a prompt or report stands on its own.
func (s *textSink) end(*result) error {
	if s.last == 0 || s.last == '\n' {
		return nil
	}
	_, err := io.WriteString(s.w, "\n")
	return err
}

// tokenLine is a token on its own line of `infer run --json`.
type tokenLine struct {
	Type    string    `json:"type"` // "token"
	ID      int       `json:"id"`
	Text    string    `json:"text"` // "" while a character or a stop string may be under way
	Forced  bool      `json:"forced,omitempty"`
	LogProb *logProb  `json:"logprob,omitempty"`
	Top     []topLine `json:"top,omitempty"`
}

// logProb is the logarithm of a probability: null in JSON, which has no −∞,
// where the probability is 0.
type logProb float32

func (l logProb) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(l), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float32(l))
}

type topLine struct {
	ID      int     `json:"id"`
	Text    string  `json:"text"`
	LogProb logProb `json:"logprob"`
}

// jsonSink writes one object a line.
type jsonSink struct {
	w         io.Writer
	tokenizer *bpe.Tokenizer
	logprobs  bool
}

func (s *jsonSink) token(t llama.Token) error {
	line := tokenLine{Type: "token", ID: t.ID, Text: t.Text, Forced: t.Forced}
	if s.logprobs && !t.Forced {
		line.LogProb = (*logProb)(&t.LogProb)
		for _, p := range t.Top {
			line.Top = append(line.Top, topLine{p.ID, tokenText(s.tokenizer, p.ID), logProb(p.LogProb)})
		}
	}
	return writeJSON(s.w, line)
}

func (s *jsonSink) end(r *result) error { return writeJSON(s.w, r) }

// writeJSON writes v on a line, without escapes that only HTML needs.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// logprobSink writes a line a token.
type logprobSink struct {
	w         io.Writer
	tokenizer *bpe.Tokenizer
}

func (s *logprobSink) token(t llama.Token) error {
	var top strings.Builder
	for _, p := range t.Top {
		fmt.Fprintf(&top, "  %q %.4f", tokenText(s.tokenizer, p.ID), p.LogProb)
	}
	_, err := fmt.Fprintf(s.w, "%8.4f %6d %-16q|%s\n", t.LogProb, t.ID, tokenText(s.tokenizer, t.ID), top.String())
	return err
}

func (s *logprobSink) end(*result) error { return nil }

// tokenText is a token alone as text; bytes that are no character by
// themselves become U+FFFD.
func tokenText(t *bpe.Tokenizer, id int) string {
	return strings.ToValidUTF8(string(t.TokenBytes(id)), "\uFFFD")
}
