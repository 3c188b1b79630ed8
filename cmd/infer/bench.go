package main

import (
	"context"
	"fmt"
	"time"

	"github.com/leveret-os/leveret/internal/simd"
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
same kind of pages, are read by the same threads when nothing is done with them,
measured before and after each repetition, and the ratio of the two.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			b := &benchFlags{prompt: 512, generate: 128, repeat: 5}
			b.model.declareModel(f)
			f.numbers(&b.threads, "t,threads", "numbers of threads (default: 1, and all processors)")
			f.int(&b.prompt, "p,n-prompt", "tokens of the prompt (default 512; 0: no prefill)")
			f.int(&b.generate, "n,n-gen", "tokens to generate (default 128; 0: no decode)")
			f.int(&b.repeat, "r,repetitions", "repetitions (default 5)")
			f.string(&b.output, "o,output", "FORM", "table, csv or json (default table)")
			b.model.declareMode(f)
			return b.run
		},
	}
}

type benchFlags struct {
	model                    modelFlags
	threads                  []int
	prompt, generate, repeat int
	output                   string
}

// benchRow is one line of the outcome.
type benchRow struct {
	Test    string `json:"test"` // "prefill" or "decode"
	Tokens  int    `json:"tokens"`
	Threads int    `json:"threads"`
	ISA     string `json:"isa"`
	Format  string `json:"format"`
	Pages   string `json:"pages"` // "mapped" or "huge"
	// TokensPerSecond is of the repetitions.
	TokensPerSecond spread `json:"tokens_per_second"`
	// The rest is of decode alone: the bytes of weights that a token reads, the
	// rate at which it reads them, the rate of reading them and no more, and the
	// ratio of the two, in bytes a second, repetition by repetition.
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
	switch {
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
	weights, err := openWeights(&b.model)
	if err != nil {
		return err
	}
	defer weights.close()
	bar := c.progress("measuring")
	defer bar.clear()
	for _, t := range b.threads {
		b.model.threads = t
		rows, err := b.measure(ctx, c, weights, bar)
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

// measure runs all repetitions with one number of threads.
func (b *benchFlags) measure(ctx context.Context, c *console, w *weightBytes, bar *progress) ([]benchRow, error) {
	model, _, err := b.model.open(c)
	if err != nil {
		return nil, err
	}
	defer model.Close()
	limit := model.Config().ContextLength()
	if b.prompt > limit || b.generate+1 > limit {
		return nil, usagef("-p %d -n %d: the model's context is %s", b.prompt, b.generate, model.Config().ContextLimit())
	}
	info := model.Info()
	row := benchRow{Threads: info.Threads, ISA: info.ISA, Format: info.Format, Pages: "mapped"}
	if b.model.huge {
		row.Pages = "huge"
	}
	isa, err := simd.ParseISA(info.ISA)
	if err != nil {
		return nil, err
	}
	// Once for nothing: pages come in, buffers grow, the processor wakes up.
	w.read(isa, info.Threads, time.Millisecond)
	if _, err := b.decode(ctx, model, min(max(b.generate, 2), 8)); err != nil {
		return nil, err
	}
	var prefill, decode, stream, read, ratio []float64
	for i := range b.repeat {
		bar.count(count(info.Threads, "thread"), i, b.repeat)
		if b.prompt > 0 {
			took, err := b.prefill(ctx, model)
			if err != nil {
				return nil, err
			}
			prefill = append(prefill, float64(b.prompt)/took.Seconds())
		}
		if b.generate > 0 {
			before := w.read(isa, info.Threads, readTime)
			took, err := b.decode(ctx, model, b.generate)
			if err != nil {
				return nil, err
			}
			after := w.read(isa, info.Threads, readTime)
			rate := float64(b.generate-1) / took.Seconds()
			decode = append(decode, rate)
			stream = append(stream, rate*float64(w.bytes))
			read = append(read, (before+after)/2)
			ratio = append(ratio, stream[i]/read[i])
		}
	}
	var rows []benchRow
	if b.prompt > 0 {
		r := row
		r.Test, r.Tokens, r.TokensPerSecond = "prefill", b.prompt, newSpread(prefill)
		rows = append(rows, r)
	}
	if b.generate > 0 {
		r := row
		r.Test, r.Tokens, r.TokensPerSecond = "decode", b.generate, newSpread(decode)
		s, rd, q := newSpread(stream), newSpread(read), newSpread(ratio)
		r.BytesPerToken, r.Stream, r.Read, r.Ratio = w.bytes, &s, &rd, &q
		rows = append(rows, r)
	}
	return rows, nil
}

// prefill measures a prompt of arbitrary tokens.
func (b *benchFlags) prefill(ctx context.Context, model *llama.Model) (time.Duration, error) {
	session, err := model.NewSession(&llama.SessionOptions{Context: b.prompt})
	if err != nil {
		return 0, err
	}
	defer session.Close()
	ids := make([]int, b.prompt)
	for i := range ids {
		ids[i] = (i*7919 + 11) % model.Tokenizer().VocabSize()
	}
	start := time.Now()
	err = session.Append(ctx, ids)
	return time.Since(start), err
}

// decode measures the n-1 tokens that follow the first.
func (b *benchFlags) decode(ctx context.Context, model *llama.Model, n int) (time.Duration, error) {
	session, err := model.NewSession(&llama.SessionOptions{Context: n + 1})
	if err != nil {
		return 0, err
	}
	defer session.Close()
	var first, last time.Time
	seen := 0
	for _, err := range session.Generate(ctx, []int{11 % model.Config().VocabSize}, &llama.GenerateOptions{MaxTokens: n, IgnoreEOS: true}) {
		if err != nil {
			return 0, err
		}
		last = time.Now()
		if seen == 0 {
			first = last
		}
		seen++
	}
	if seen != n {
		return 0, fmt.Errorf("generated %d tokens, expected %d", seen, n)
	}
	return last.Sub(first), nil
}
