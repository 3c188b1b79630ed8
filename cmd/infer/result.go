package main

import (
	"fmt"
	"io"

	"github.com/leveret-os/leveret/pkg/llama"
)

// result is the last line of `infer run --json`. Its fields are what programs
// rely on.
type result struct {
	Type         string             `json:"type"` // "result"
	PromptTokens []int              `json:"prompt_tokens"`
	Tokens       []int              `json:"tokens"` // the end-of-sequence token included, if one came
	Text         string             `json:"text"`
	FinishReason llama.FinishReason `json:"finish_reason"`
	// LoadMS is the time of opening the model, TTFTMS from then to the first
	// token: encoding the prompt, making the cache, computing the prompt.
	LoadMS float64 `json:"load_ms"`
	TTFTMS float64 `json:"ttft_ms"`
	// PromptTokensPerSecond is of computing the prompt, TokensPerSecond of the
	// tokens after the first, without the time of hashing logits; 0 where there
	// was nothing to measure.
	PromptTokensPerSecond float64 `json:"prompt_tokens_per_second"`
	TokensPerSecond       float64 `json:"tokens_per_second"`
	RSSBytes              int64   `json:"rss_bytes"` // the peak of resident memory; 0 if unknown
	PinnedBytes           int64   `json:"pinned_bytes"`
	Threads               int     `json:"threads"`
	ISA                   string  `json:"isa"`
	Format                string  `json:"format"`
	Activations           string  `json:"activations"`
	// Drafted counts tokens that speculation computed before it was known whether
	// they come, Accepted those of them that came.
	Drafted  int `json:"drafted"`
	Accepted int `json:"accepted"`
	// LogitsSHA256 has the digest of the logits that each token was picked
	// from, as little-endian float32.
	LogitsSHA256 []string `json:"logits_sha256"`
}

// figures is the result in one line for a person.
func (r *result) figures() string {
	s := fmt.Sprintf("%s (%s)", count(len(r.Tokens), "token"), r.FinishReason)
	if r.TokensPerSecond > 0 {
		s += fmt.Sprintf(", %.1f tokens/s", r.TokensPerSecond)
	}
	if len(r.Tokens) > 0 {
		s += fmt.Sprintf(", the first after %.0f ms", r.TTFTMS)
	}
	s += fmt.Sprintf("; prompt of %d at %.0f tokens/s; loaded in %.0f ms", len(r.PromptTokens), r.PromptTokensPerSecond, r.LoadMS)
	if r.Drafted > 0 {
		s += fmt.Sprintf("; %d of %s accepted", r.Accepted, count(r.Drafted, "drafted token"))
	}
	s += fmt.Sprintf("; %s, %s, %s", r.Format, r.ISA, count(r.Threads, "thread"))
	if r.Activations != "exact" {
		s += ", " + r.Activations + " activations"
	}
	if r.RSSBytes > 0 {
		s += ", " + size(r.RSSBytes) + " of memory"
	}
	if r.PinnedBytes > 0 {
		s += ", " + size(r.PinnedBytes) + " pinned"
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// writeReport writes the lines that a rig reads from a console.
func writeReport(w io.Writer, r *result) error {
	word := "OK"
	if r.FinishReason == finishCancelled {
		word = "CANCELLED"
	}
	_, err := fmt.Fprintf(w, "INFER %s tokens=%d\nRESULT infer-ttft %.3f ms\nRESULT infer-tps %.3f tok/s\n",
		word, len(r.Tokens), r.TTFTMS, r.TokensPerSecond)
	return err
}
