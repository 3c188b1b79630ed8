package main

import (
	"context"

	"github.com/leveret-os/leveret/pkg/llama"
)

func runCommand() *command {
	return &command{
		name:  "run",
		short: "generate text",
		long: `
The text goes to standard output as it is made, and one line of figures to
standard error. -n, -c, -t, -p, -f, -s and the sampling flags mean what they
mean to llama.cpp, except that --temp is 0 unless it is given: the same command
gives the same text.

With --json each line is one object: {"type":"token","id":…,"text":…} as tokens
come, and last {"type":"result",…} with all that was measured.

An interrupt (Ctrl-C) ends the text after the token at work, with finish reason
"cancelled" and exit status 130.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			r := &runFlags{flags: f, limit: -1, draft: 16}
			r.model.declare(f)
			r.prompt.declare(f)
			f.int(&r.limit, "n,predict", "tokens to generate (default -1: until the model ends or the context is full)")
			f.int(&r.context, "c,ctx-size", "positions that prompt and text may take (default 0: what the model has, at most 8192)")
			r.sampling.declare(f)
			f.list(&r.stop, "stop", "TEXT", "end before this text; may be repeated")
			f.int(&r.draft, "draft-max,draft,draft-n", "tokens to draft at most where the text repeats, to compute several at once; changes no token (default 16; 0: none)")
			f.bool(&r.ignoreEOS, "ignore-eos", "go on after an end-of-sequence token")
			f.int(&r.logprobs, "logprobs", "show each token with its log-probability and the N most likely ones")
			f.bool(&r.json, "json", "one JSON object a line")
			f.bool(&r.report, "report", "end with lines for machines: INFER OK tokens=N, RESULT infer-ttft …, RESULT infer-tps …")
			f.bool(&r.quiet, "q,quiet", "no line of figures")
			return r.run
		},
	}
}

// runFlags are the flags of run.
type runFlags struct {
	flags    *flags
	model    modelFlags
	prompt   promptFlags
	sampling samplingFlags

	limit, context, logprobs int
	draft                    int
	stop                     []string
	ignoreEOS                bool
	json, report, quiet      bool
}

func (r *runFlags) check(args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q: the prompt is given by -p", args[0])
	}
	switch {
	case r.limit < -1:
		return usagef("-n %d: expected -1 (until the end) or more", r.limit)
	case r.context < 0:
		return usagef("-c %d: expected 0 (what the model has) or more", r.context)
	case r.draft < 0 || r.draft > 64:
		return usagef("--draft-max %d: expected 0 (none) to 64", r.draft)
	case r.logprobs < 0:
		return usagef("--logprobs %d: expected 0 or more", r.logprobs)
	}
	for _, s := range r.stop {
		if s == "" {
			return usagef("--stop: expected some text")
		}
	}
	for _, err := range []error{r.model.check(), r.prompt.check(), r.sampling.check()} {
		if err != nil {
			return err
		}
	}
	if r.prompt.interactive() && (r.json || r.report || r.logprobs > 0) {
		return usagef("--json, --report and --logprobs need a prompt: -p or -f")
	}
	return nil
}

func (r *runFlags) run(ctx context.Context, c *console, args []string) error {
	if err := r.check(args); err != nil {
		return err
	}
	text, err := r.prompt.read(c)
	if err != nil {
		return err
	}
	options := llama.GenerateOptions{
		Sampling: r.sampling.sampling(c, r.flags), Stop: r.stop, IgnoreEOS: r.ignoreEOS, LogProbs: r.logprobs,
		MaxTokens: max(r.limit, 0), DraftMax: r.draft,
	}
	if r.draft == 0 {
		options.DraftMax = -1
	}
	model, loaded, err := r.model.open(c)
	if err != nil {
		return err
	}
	defer model.Close()
	if r.prompt.interactive() {
		return r.converse(ctx, c, model, options)
	}
	g := &generation{model: model, options: options, loaded: loaded, none: r.limit == 0, hash: r.json}
	if err := g.begin(&r.prompt, text, r.context); err != nil {
		return err
	}
	defer g.session.Close()
	return r.write(ctx, c, g)
}

// write runs the generation and writes what comes in the way that was asked for.
func (r *runFlags) write(ctx context.Context, c *console, g *generation) error {
	var out sink = &textSink{w: c.stdout}
	switch {
	case r.json:
		out = &jsonSink{w: c.stdout, tokenizer: g.model.Tokenizer(), logprobs: r.logprobs > 0}
	case r.logprobs > 0:
		out = &logprobSink{w: c.stdout, tokenizer: g.model.Tokenizer()}
	}
	if err := g.run(ctx, out.token); err != nil {
		return err
	}
	result := g.result()
	if err := out.end(result); err != nil {
		return err
	}
	if !r.quiet && !r.json {
		c.note("%s", result.figures())
	}
	if r.report {
		w := c.stdout
		if r.json {
			w = c.stderr // whose reader wants objects alone
		}
		if err := writeReport(w, result); err != nil {
			return err
		}
	}
	if result.FinishReason == finishCancelled {
		return errInterrupted
	}
	return nil
}
