package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leveret-os/leveret/internal/parallel"
	"github.com/leveret-os/leveret/pkg/llama"
)

func benchCommand() *command {
	return &command{
		name:  "bench",
		short: "measure tokens per second, and how much of the memory's speed that is",
		long: `
For each number of threads: the tokens per second of a prompt (prefill) and of
generation (decode), each repeated, as median and range. Decoding has to read
every weight once a token, so beside it stands how fast the same bytes, in the
same pages, are read by the same threads when nothing is done with them,
measured before and after each repetition, and the ratio of the two. Sessions
that decode together (-np) read them once for all; their rate is of all tokens.
Nothing is drafted.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			b := &benchFlags{prompt: 512, generate: 128, repeat: 5, sessions: []int{1}}
			b.model.declareModel(f)
			f.numbers(&b.threads, "t,threads", "numbers of threads (default: 1, and all processors)")
			f.int(&b.prompt, "p,n-prompt", "tokens of the prompt (default 512; 0: no prefill)")
			f.int(&b.generate, "n,n-gen", "tokens to generate (default 128; 0: no decode)")
			f.int(&b.depth, "d,n-depth", "tokens in the context before what is measured (default 0)")
			f.numbers(&b.sessions, "np,parallel,npl", "numbers of sessions that decode together (default 1)")
			f.int(&b.repeat, "r,repetitions", "repetitions (default 5)")
			f.string(&b.output, "o,output", "FORM", "table, csv or json (default table)")
			b.model.declareMode(f)
			return b.run
		},
	}
}

type benchFlags struct {
	model                           modelFlags
	threads, sessions               []int
	prompt, generate, depth, repeat int
	output                          string
}

// benchRow is one line of the outcome.
type benchRow struct {
	Test     string `json:"test"` // "prefill" or "decode"
	Tokens   int    `json:"tokens"`
	Depth    int    `json:"depth"`    // tokens in the context before
	Sessions int    `json:"sessions"` // that ran together
	Threads  int    `json:"threads"`
	ISA      string `json:"isa"`
	Format   string `json:"format"`
	Pages    string `json:"pages"` // "mapped" or "huge"
	// Activations are "exact" or "int8".
	Activations string `json:"activations"`
	// TokensPerSecond is of the repetitions.
	TokensPerSecond spread `json:"tokens_per_second"`
	// The rest is of decode alone: the bytes of weights that a token of each
	// session reads, the rate at which they are read, the rate of reading them and
	// no more, and the ratio of the two, in bytes a second, repetition by repetition.
	BytesPerToken int64   `json:"bytes_per_token,omitempty"`
	Stream        *spread `json:"stream_bytes_per_second,omitempty"`
	Read          *spread `json:"read_bytes_per_second,omitempty"`
	Ratio         *spread `json:"ratio,omitempty"`
}

func (b *benchFlags) check(args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	for _, t := range b.threads {
		if t < 1 || t > 1024 {
			return usagef("-t %d: expected 1 to 1024", t)
		}
	}
	for _, n := range b.sessions {
		if n < 1 || n > 64 {
			return usagef("-np %d: expected 1 to 64", n)
		}
	}
	switch {
	case b.depth < 0:
		return usagef("-d %d: expected 0 or more", b.depth)
	case b.prompt < 0 || b.generate < 0 || b.prompt+b.generate == 0:
		return usagef("-p %d -n %d: expected something to measure", b.prompt, b.generate)
	case b.generate == 1:
		return usagef("-n 1: expected at least 2 tokens, of which the first belongs to the prompt")
	case b.repeat < 1 || b.repeat > 1000:
		return usagef("-r %d: expected 1 to 1000", b.repeat)
	}
	return b.model.check()
}

func (b *benchFlags) run(ctx context.Context, c *console, args []string) error {
	if err := b.check(args); err != nil {
		return err
	}
	write, err := benchWriter(c.stdout, b.output)
	if err != nil {
		return err
	}
	if len(b.threads) == 0 {
		b.threads = defaultThreads()
	}
	for i, t := range b.threads {
		b.threads[i] = processors(c, t)
	}
	b.threads = slices.Compact(b.threads)
	bar := c.progress("measuring")
	defer bar.clear()
	for _, t := range b.threads {
		b.model.threads = t
		rows, err := b.measure(ctx, c, bar)
		bar.clear()
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTime is how long a plain read is measured for, at least.
const readTime = 100 * time.Millisecond

// defaultThreads are one thread and all processors.
func defaultThreads() []int {
	if n := parallel.Processors(); n > 1 {
		return []int{1, n}
	}
	return []int{1}
}

// measure runs all repetitions with one number of threads.
func (b *benchFlags) measure(ctx context.Context, c *console, bar *progress) ([]benchRow, error) {
	model, _, err := b.model.open(c)
	if err != nil {
		return nil, err
	}
	defer model.Close()
	if limit := model.Config().ContextLength(); b.depth+max(b.prompt, b.generate+1) > limit {
		return nil, usagef("-d %d -p %d -n %d: the model's context is %s", b.depth, b.prompt, b.generate, model.Config().ContextLimit())
	}
	// Once for nothing: pages come in, buffers grow, the processor wakes up.
	if _, _, err := model.ReadRate(0); err != nil {
		return nil, err
	}
	if _, err := decode(ctx, model, 1, 0, min(max(b.generate, 2), 8)); err != nil {
		return nil, err
	}
	var prefills []float64
	decodes := make([]decodeRates, len(b.sessions))
	for i := range b.repeat {
		bar.count(count(model.Info().Threads, "thread"), i, b.repeat)
		if b.prompt > 0 {
			took, err := prefill(ctx, model, b.depth, b.prompt)
			if err != nil {
				return nil, err
			}
			prefills = append(prefills, float64(b.prompt)/took.Seconds())
		}
		if b.generate > 0 {
			for j, n := range b.sessions {
				if err := decodes[j].measure(ctx, model, n, b.depth, b.generate); err != nil {
					return nil, err
				}
			}
		}
	}
	info := model.Info()
	row := benchRow{Depth: b.depth, Sessions: 1, Threads: info.Threads, ISA: info.ISA, Format: info.Format, Pages: "mapped", Activations: info.Activations}
	if b.model.huge {
		row.Pages = "huge"
	}
	var rows []benchRow
	if b.prompt > 0 {
		r := row
		r.Test, r.Tokens, r.TokensPerSecond = "prefill", b.prompt, newSpread(prefills)
		rows = append(rows, r)
	}
	if b.generate > 0 {
		for j, n := range b.sessions {
			r, d := row, &decodes[j]
			r.Test, r.Tokens, r.Sessions, r.TokensPerSecond = "decode", b.generate, n, newSpread(d.tokens)
			stream, read, ratio := newSpread(d.stream), newSpread(d.read), newSpread(d.ratio)
			r.BytesPerToken, r.Stream, r.Read, r.Ratio = d.bytes, &stream, &read, &ratio
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// decodeRates are those of benchRow, repetition by repetition.
type decodeRates struct {
	tokens, stream, read, ratio []float64
	bytes                       int64
}

// measure decodes once between two plain reads.
func (d *decodeRates) measure(ctx context.Context, model *llama.Model, sessions, depth, n int) error {
	before, bytes, err := model.ReadRate(readTime)
	if err != nil {
		return err
	}
	took, err := decode(ctx, model, sessions, depth, n)
	if err != nil {
		return err
	}
	after, _, err := model.ReadRate(readTime)
	if err != nil {
		return err
	}
	each := float64(n-1) / took.Seconds()
	stream, read := each*float64(bytes), (before+after)/2
	d.bytes = bytes
	d.tokens, d.stream = append(d.tokens, each*float64(sessions)), append(d.stream, stream)
	d.read, d.ratio = append(d.read, read), append(d.ratio, stream/read)
	return nil
}

// arbitrary returns n tokens, others for another salt.
func arbitrary(model *llama.Model, n, salt int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = (i*7919 + 11 + salt*104729) % model.Tokenizer().VocabSize()
	}
	return ids
}

// prefill measures a prompt of arbitrary tokens after so many others.
func prefill(ctx context.Context, model *llama.Model, depth, n int) (time.Duration, error) {
	session, err := model.NewSession(&llama.SessionOptions{Context: depth + n})
	if err != nil {
		return 0, err
	}
	defer session.Close()
	ids := arbitrary(model, depth+n, 0)
	if err := session.Append(ctx, ids[:depth]); err != nil {
		return 0, err
	}
	start := time.Now()
	err = session.Append(ctx, ids[depth:])
	return time.Since(start), err
}

// decode measures the n-1 tokens that follow the first, in each of so many
// sessions, from when all have their first to when all have their last.
func decode(ctx context.Context, model *llama.Model, sessions, depth, n int) (time.Duration, error) {
	var ready, done sync.WaitGroup
	ready.Add(sessions)
	start := make(chan struct{})
	errs := make([]error, sessions)
	for i := range sessions {
		done.Go(func() { errs[i] = decodeOne(ctx, model, arbitrary(model, max(depth, 1), i), n, ready.Done, start) })
	}
	ready.Wait()
	begun := time.Now()
	close(start)
	done.Wait()
	return time.Since(begun), errors.Join(errs...)
}

// decodeOne generates n tokens. Having the first, or failing before that, it
// calls ready, and goes on when start is closed.
func decodeOne(ctx context.Context, model *llama.Model, prompt []int, n int, ready func(), start <-chan struct{}) error {
	ready = sync.OnceFunc(ready)
	defer ready()
	session, err := model.NewSession(&llama.SessionOptions{Context: len(prompt) + n})
	if err != nil {
		return err
	}
	defer session.Close()
	seen := 0
	for _, err := range session.Generate(ctx, prompt, &llama.GenerateOptions{MaxTokens: n, IgnoreEOS: true, DraftMax: -1}) {
		if err != nil {
			return err
		}
		if seen++; seen == 1 {
			ready()
			<-start
		}
	}
	if seen != n {
		return fmt.Errorf("generated %d tokens, expected %d", seen, n)
	}
	return nil
}
