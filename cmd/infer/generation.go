package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"strings"
	"time"

	"github.com/leveret-os/leveret/pkg/llama"
)

// finishCancelled is the finish reason of a generation that was interrupted;
// the others are pkg/llama's.
const finishCancelled = llama.FinishReason("cancelled")

// defaultContext is the most positions that a session gets unless -c asks for
// more: the caches of models with long contexts would not fit in memory.
const defaultContext = 8192

// generation is one prompt and what comes of it, measured.
type generation struct {
	model   *llama.Model
	options llama.GenerateOptions
	none    bool // -n 0: the prompt alone
	hash    bool // digests of the logits are wanted
	loaded  time.Duration

	session *llama.Session
	prompt  []int
	tokens  []int
	text    strings.Builder
	digests []string
	finish  llama.FinishReason

	started  time.Time
	prefill  time.Duration // computing the prompt
	first    time.Duration // from started to the first token
	decode   time.Duration // from the first token to the last
	hashing  time.Duration // within decode: no part of the model's work
	hasher   hash.Hash
	byteView []byte
}

// begin encodes the prompt and makes a session that is as large as need be.
func (g *generation) begin(p *promptFlags, text string, context int) error {
	g.started = time.Now()
	var err error
	if g.prompt, err = p.encode(g.model, text); err != nil {
		return err
	}
	if len(g.prompt) == 0 {
		return errors.New("the prompt is empty: there is nothing to go on from")
	}
	limit := g.model.Config().ContextLength()
	switch {
	case context == 0:
		context = min(limit, defaultContext)
	case context > limit:
		return fmt.Errorf("-c %d: the model has %s", context, g.model.Config().ContextLimit())
	}
	need := len(g.prompt)
	if !g.none {
		need++ // for a token
	}
	if need > context {
		return fmt.Errorf("the prompt has %s and fills the context of %d (-c; the model's: %s)", count(len(g.prompt), "token"), context, g.model.Config().ContextLimit())
	}
	if n := g.options.MaxTokens; n > 0 && n < context-len(g.prompt) {
		context = len(g.prompt) + n
	}
	if g.none {
		context = len(g.prompt)
	}
	g.session, err = g.model.NewSession(&llama.SessionOptions{Context: context})
	return err
}

// run computes the prompt and generates. each is called with every token.
func (g *generation) run(ctx context.Context, each func(llama.Token) error) error {
	start := time.Now()
	if err := g.session.Append(ctx, g.prompt); err != nil {
		return g.cancelled(ctx, err)
	}
	g.prefill = time.Since(start)
	if g.none {
		g.first, g.finish = time.Since(g.started), llama.FinishLength
		return nil
	}
	var begin time.Time
	for token, err := range g.session.Generate(ctx, nil, &g.options) {
		if err != nil {
			return g.cancelled(ctx, err)
		}
		now := time.Now()
		if len(g.tokens) == 0 {
			begin, g.first = now, now.Sub(g.started)
		}
		g.decode = now.Sub(begin) - g.hashing
		g.tokens = append(g.tokens, token.ID)
		g.text.WriteString(token.Text)
		g.finish = token.Finish
		if err := each(token); err != nil {
			return err
		}
		// Hashing comes after the token has been told and is in no time: its reader
		// waits for it no longer than without.
		if g.hash {
			begun := time.Now()
			g.digests = append(g.digests, g.digest(g.session.Logits()))
			g.hashing += time.Since(begun)
		}
	}
	return nil
}

// cancelled makes an interrupt an end like others.
func (g *generation) cancelled(ctx context.Context, err error) error {
	if interrupted(ctx, err) {
		g.finish = finishCancelled
		return nil
	}
	return err
}

// digest is the SHA-256 of logits as little-endian float32, in hexadecimal; ""
// where there are none, as for a token that a constraint forced.
func (g *generation) digest(logits []float32) string {
	if logits == nil {
		return ""
	}
	if g.hasher == nil {
		g.hasher, g.byteView = sha256.New(), make([]byte, 4*len(logits))
	}
	for i, v := range logits {
		binary.LittleEndian.PutUint32(g.byteView[4*i:], math.Float32bits(v))
	}
	g.hasher.Reset()
	g.hasher.Write(g.byteView)
	return hex.EncodeToString(g.hasher.Sum(nil))
}

// result gathers what was measured.
func (g *generation) result() *result {
	info, mem := g.model.Info(), readMemory()
	r := &result{
		Type: "result", PromptTokens: notNil(g.prompt), Tokens: notNil(g.tokens), Text: g.text.String(), FinishReason: g.finish,
		LoadMS: ms(g.loaded), TTFTMS: ms(g.first),
		RSSBytes: mem.peak, PinnedBytes: info.Pinned.Bytes,
		Threads: info.Threads, ISA: info.ISA, Format: info.Format, Activations: info.Activations,
		LogitsSHA256: notNil(g.digests),
	}
	drafts := g.session.DraftStats()
	r.Drafted, r.Accepted = drafts.Drafted, drafts.Accepted
	if g.prefill > 0 {
		r.PromptTokensPerSecond = rate(len(g.prompt), g.prefill)
	}
	if len(g.tokens) > 1 && g.decode > 0 {
		r.TokensPerSecond = rate(len(g.tokens)-1, g.decode)
	}
	return r
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// rate is a number of tokens a second, to the thousandth.
func rate(n int, d time.Duration) float64 { return math.Round(1000*float64(n)/d.Seconds()) / 1000 }

// ms is a time in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
