package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/leveret-os/leveret/pkg/checkpoint"
	"github.com/leveret-os/leveret/pkg/llama"
)

func evaluateCommand() *command {
	return &command{
		name:  "evaluate",
		short: "measure what a quantised form changes, against the weights it was made from",
		long: `
Each -m is compared with --against, a form of the same model with more exact
weights, or with reference logits from elsewhere (--logits). The reference
generates greedily; all forms are then given its tokens, so that every
difference is of one and the same step. Per form and prompt:

  weights   the form's weights, unpacked to float32 and run so, against the
            reference: what quantising the weights costs
  run time  the form as it runs, against the same unpacked weights: what the
            form's arithmetic costs
  total     the form as it runs, against the reference

each as the largest and the mean difference of a logit over the first --steps
steps; and how many of the -n greedy tokens of the form are the reference's own,
up to the first that is not. The unpacked weights are written to a folder that
is removed at the end (4 bytes a weight).
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			e := &evaluateFlags{tokens: 32, steps: 8}
			f.list(&e.forms, "m,model", modelArgument, "a form of the model; may be repeated")
			f.string(&e.against, "against", modelArgument, "the form to compare with")
			f.list(&e.logits, "logits", "FILE.npy", "reference logits [steps, vocabulary] instead, float32, greedy; one for each prompt")
			f.list(&e.prompts, "p,prompt", "TEXT", "a prompt; may be repeated (default: one of each kind)")
			f.list(&e.chats, "chat", "TEXT", "a user's message, put into the chat template; may be repeated")
			f.int(&e.tokens, "n,predict", "greedy tokens to compare (default 32)")
			f.int(&e.steps, "steps", "steps whose logits are compared (default 8)")
			f.int(&e.threads, "t,threads", "processors to use (default: all that are available)")
			f.string(&e.isa, "isa", "NAME", "force an instruction set")
			declareActivations(f, &e.activations)
			f.string(&e.tmp, "tmp", "DIR", "where to write the unpacked weights (default: the system's folder for temporary files)")
			f.bool(&e.json, "json", "one JSON object a line")
			return e.run
		},
	}
}

type evaluateFlags struct {
	forms, logits, prompts, chats []string
	against, isa, activations     string
	tmp                           string
	tokens, steps, threads        int
	json                          bool
}

func (e *evaluateFlags) check(args []string) error {
	switch {
	case len(args) > 0:
		return usagef("unexpected argument %q", args[0])
	case len(e.forms) == 0:
		return usagef("no model given: -m %s", modelArgument)
	case e.against == "" && len(e.logits) == 0:
		return usagef("nothing to compare with: --against %s or --logits FILE.npy", modelArgument)
	case e.against != "" && len(e.logits) > 0:
		return usagef("--against and --logits are two references: give one")
	case len(e.logits) > 0 && len(e.logits) != len(e.prompts)+len(e.chats):
		return usagef("%d --logits for %d prompts: expected one for each -p and then each --chat", len(e.logits), len(e.prompts)+len(e.chats))
	case e.steps < 1 || e.tokens < e.steps || e.tokens > 4096:
		return usagef("-n %d --steps %d: expected 1 <= steps <= n <= 4096", e.tokens, e.steps)
	case e.threads < 0 || e.threads > 1024:
		return usagef("-t %d: expected 0 (all processors) to 1024", e.threads)
	}
	if err := checkISA(e.isa); err != nil {
		return err
	}
	return checkActivations(e.activations)
}

// evalPrompt is a prompt with what the reference makes of it.
type evalPrompt struct {
	name   string // "plain 1"
	chat   bool
	text   string
	ids    []int
	tokens []int       // the reference's greedy tokens
	logits [][]float32 // the reference's, of the first steps
}

// difference is the largest and the mean absolute difference of logits.
type difference struct {
	Largest float64 `json:"largest"`
	Mean    float64 `json:"mean"`
}

// evaluation is the outcome of one form and one prompt.
type evaluation struct {
	Model         string      `json:"model"`
	Format        string      `json:"format"`
	Activations   string      `json:"activations"`
	BitsPerWeight float64     `json:"bits_per_weight"`
	Prompt        string      `json:"prompt"`
	Steps         int         `json:"steps"`
	Weights       *difference `json:"weights,omitempty"` // absent against --logits
	RunTime       *difference `json:"run_time,omitempty"`
	Total         difference  `json:"total"`
	TokensEqual   int         `json:"tokens_equal"`
	Tokens        int         `json:"tokens"`
}

func (e *evaluateFlags) run(ctx context.Context, c *console, args []string) error {
	if err := e.check(args); err != nil {
		return err
	}
	e.threads = processors(c, e.threads)
	prompts, err := e.reference(ctx, c)
	if err != nil {
		return err
	}
	var all []evaluation
	for _, form := range e.forms {
		rows, err := e.form(ctx, c, form, prompts)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if e.json {
				if err := writeJSON(c.stdout, r); err != nil {
					return err
				}
			}
		}
		all = append(all, rows...)
	}
	if e.json {
		return nil
	}
	return writeEvaluations(c.stdout, all, e.note())
}

// note warns where the reference's weights are no original ones.
func (e *evaluateFlags) note() string {
	if e.against == "" {
		return ""
	}
	if few, err := fewValues(e.against); err == nil && few {
		return "The reference's weights take at most 16 values in each block of 32: they have\n" +
			"been 4-bit before, and small forms look better on them than on original weights."
	}
	return ""
}

// reference makes or reads what the forms are compared with.
func (e *evaluateFlags) reference(ctx context.Context, c *console) ([]*evalPrompt, error) {
	path := e.against
	if path == "" {
		path = e.forms[0] // for its tokenizer and template
	}
	model, err := llama.Open(path, &llama.Options{Threads: e.threads, ISA: e.isa})
	if err != nil {
		return nil, err
	}
	defer model.Close()
	prompts, err := e.encode(c, model)
	if err != nil {
		return nil, err
	}
	for i, p := range prompts {
		if e.against != "" {
			if p.tokens, p.logits, err = greedy(ctx, model, p.ids, e.tokens, e.steps); err != nil {
				return nil, err
			}
			continue
		}
		if p.logits, err = readNPY(e.logits[i]); err != nil {
			return nil, err
		}
		if v := model.Config().VocabSize; len(p.logits[0]) != v {
			return nil, fmt.Errorf("%s: %d logits a step, the model has %d", e.logits[i], len(p.logits[0]), v)
		}
		p.logits = p.logits[:min(len(p.logits), e.steps)]
		for _, row := range p.logits {
			p.tokens = append(p.tokens, argmax(row))
		}
	}
	return prompts, nil
}

// encode gives the prompts their tokens.
func (e *evaluateFlags) encode(c *console, model *llama.Model) ([]*evalPrompt, error) {
	plain, chats := e.prompts, e.chats
	if len(plain)+len(chats) == 0 {
		plain = []string{"The capital of France is"}
		if _, err := model.ChatTemplate(); err == nil {
			chats = []string{"What is the capital of France?"}
		} else {
			c.note("no chat prompt: %v", err)
		}
	}
	var prompts []*evalPrompt
	for i, text := range plain {
		prompts = append(prompts, &evalPrompt{name: fmt.Sprintf("plain %d", i+1), text: text})
	}
	for i, text := range chats {
		prompts = append(prompts, &evalPrompt{name: fmt.Sprintf("chat %d", i+1), chat: true, text: text})
	}
	for _, p := range prompts {
		var err error
		if p.ids, err = (&promptFlags{chat: p.chat}).encode(model, p.text); err != nil {
			return nil, err
		}
		if len(p.ids) == 0 {
			return nil, fmt.Errorf("prompt %s is empty", p.name)
		}
	}
	return prompts, nil
}

// form compares one form on all prompts.
func (e *evaluateFlags) form(ctx context.Context, c *console, path string, prompts []*evalPrompt) ([]evaluation, error) {
	model, err := llama.Open(path, &llama.Options{Threads: e.threads, ISA: e.isa, Activations: e.activations})
	if err != nil {
		return nil, err
	}
	defer model.Close()
	for _, p := range prompts {
		if v := model.Config().VocabSize; len(p.logits[0]) != v {
			return nil, fmt.Errorf("%s: a vocabulary of %d, the reference has %d", path, v, len(p.logits[0]))
		}
	}
	var exact *llama.Model // the same weights in float32
	if e.against != "" {
		unpacked, remove, err := e.unpack(ctx, c, path)
		if err != nil {
			return nil, err
		}
		defer remove()
		if exact, err = llama.Open(unpacked, &llama.Options{Threads: e.threads, ISA: e.isa}); err != nil {
			return nil, err
		}
		defer exact.Close()
	}
	bits, err := bitsPerWeight(path)
	if err != nil {
		return nil, err
	}
	var rows []evaluation
	for _, p := range prompts {
		row := evaluation{
			Model: filepath.Base(path), Format: model.Info().Format, Activations: model.Info().Activations, BitsPerWeight: bits,
			Prompt: p.name, Steps: len(p.logits), Tokens: len(p.tokens),
		}
		own, _, err := greedy(ctx, model, p.ids, len(p.tokens), 0)
		if err != nil {
			return nil, err
		}
		for row.TokensEqual < len(own) && own[row.TokensEqual] == p.tokens[row.TokensEqual] {
			row.TokensEqual++
		}
		run, err := forced(ctx, model, p)
		if err != nil {
			return nil, err
		}
		row.Total = compare(run, p.logits)
		if exact != nil {
			unpacked, err := forced(ctx, exact, p)
			if err != nil {
				return nil, err
			}
			w, r := compare(unpacked, p.logits), compare(run, unpacked)
			row.Weights, row.RunTime = &w, &r
		}
		if math.IsNaN(row.Total.Mean) || math.IsInf(row.Total.Mean, 0) {
			return nil, fmt.Errorf("%s, prompt %s: logits that are not finite cannot be compared", path, p.name)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// greedy generates n tokens and keeps the logits of the first steps.
func greedy(ctx context.Context, model *llama.Model, prompt []int, n, steps int) (tokens []int, logits [][]float32, err error) {
	session, err := model.NewSession(&llama.SessionOptions{Context: len(prompt) + n})
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	for token, err := range session.Generate(ctx, prompt, &llama.GenerateOptions{MaxTokens: n, IgnoreEOS: true}) {
		if err != nil {
			return nil, nil, err
		}
		tokens = append(tokens, token.ID)
		if len(logits) < steps {
			logits = append(logits, slices.Clone(session.Logits()))
		}
	}
	return tokens, logits, nil
}

// forced returns the logits of the steps when the tokens are the reference's.
func forced(ctx context.Context, model *llama.Model, p *evalPrompt) ([][]float32, error) {
	steps := len(p.logits)
	session, err := model.NewSession(&llama.SessionOptions{Context: len(p.ids) + steps})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	var logits [][]float32
	ids := p.ids
	for i := range steps {
		if err := session.Append(ctx, ids); err != nil {
			return nil, err
		}
		logits = append(logits, slices.Clone(session.Logits()))
		ids = p.tokens[i : i+1]
	}
	return logits, nil
}

// compare returns the differences of two sets of logits of equal shape.
func compare(a, b [][]float32) difference {
	var d difference
	n := 0
	for i := range a {
		for j := range a[i] {
			x := float64(a[i][j]) - float64(b[i][j])
			if x < 0 {
				x = -x
			}
			d.Largest = max(d.Largest, x)
			d.Mean += x
			n++
		}
	}
	d.Mean /= float64(n)
	return d
}

// argmax is the greedy token: the lowest id among equals.
func argmax(logits []float32) int {
	best := 0
	for i, x := range logits {
		if x > logits[best] {
			best = i
		}
	}
	return best
}

// unpack writes the form's weights as float32 into a folder of their own.
func (e *evaluateFlags) unpack(ctx context.Context, c *console, path string) (dir string, remove func(), err error) {
	tmp, err := os.MkdirTemp(e.tmp, "infer-evaluate-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(tmp) }
	from, err := checkpoint.Open(path, nil)
	if err != nil {
		remove()
		return "", nil, err
	}
	defer from.Close()
	dir = filepath.Join(tmp, "f32")
	if _, err = convert(ctx, c, dir, from, checkpoint.ConvertOptions{Type: checkpoint.F32}, "unpacking"); err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// bitsPerWeight is the size of all tensors over the number of weights.
func bitsPerWeight(path string) (float64, error) {
	c, err := checkpoint.Open(path, nil)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var bytes, weights int64
	for _, name := range c.Names() {
		t, err := c.Stat(name)
		if err != nil {
			return 0, err
		}
		bytes, weights = bytes+tensorBytes(t), weights+int64(t.Elements())
	}
	return 8 * float64(bytes) / float64(weights), nil
}
