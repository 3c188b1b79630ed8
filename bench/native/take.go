package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/leveret-os/leveret/pkg/bpe"
)

// A taker takes samples.
type taker struct {
	gate      *gate
	tries     int
	tools     *toolbox
	library   *library
	tokenizer *bpe.Tokenizer
	self      string // this binary
	infer     string
	weights   float64 // of the checkpoint
}

// take takes one sample. An error is one of the rig; what goes wrong with the
// engine is in the sample.
func (t *taker) take(ctx context.Context, i item) (sample, error) {
	e := engineNamed(i.Engine)
	x := sample{item: i, At: time.Now().UTC().Truncate(time.Second)}
	run, err := t.runner(ctx, e, i)
	if err != nil {
		x.Error = err.Error()
		return x, ctx.Err()
	}
	n, tries, err := t.gate.watch(ctx, t.tries, func() watched {
		start := time.Now()
		own, err := run(&x)
		x.Seconds = time.Since(start).Seconds()
		return watched{own, err}
	})
	if ctx.Err() != nil {
		return x, ctx.Err()
	}
	x.Noise, x.Tries, x.Noisy = n, tries, t.gate.limits.reached(n)
	if err != nil {
		x.Error, x.Values = err.Error(), nil
	}
	return x, nil
}

// runner prepares what an item needs and returns what runs it once.
func (t *taker) runner(ctx context.Context, e *engine, i item) (func(*sample) (time.Duration, error), error) {
	if why := e.leftOut[i.Form]; why != "" {
		return nil, errors.New(why)
	}
	if i.Task == taskQEMU {
		return t.emulated(ctx, i)
	}
	var f form
	for _, g := range e.forms {
		if g.name == i.Form {
			f = g
		}
	}
	r := &request{Variant: f.variant, Threads: i.Threads, Mode: i.Mode, ISA: i.ISA}
	var err error
	if f.source != "" {
		if r.Model, err = t.library.path(ctx, f.source); err != nil {
			return nil, err
		}
	}
	if i.Task != taskPeak {
		if r.Steps, r.Context, err = steps(t.tokenizer, i.Task, i.Round == 0); err != nil {
			return nil, err
		}
	}
	argv, env, err := t.command(ctx, e, r)
	if err != nil {
		return nil, err
	}
	return func(x *sample) (own time.Duration, err error) {
		x.Values, x.Tokens, x.Texts = nil, nil, nil
		if i.Task == taskBusy {
			stop, err := t.spinner()
			if err != nil {
				return 0, err
			}
			defer func() { own += stop() }()
		}
		if e.name == ours && i.Task == taskShort {
			if own, err = inferFirst(ctx, t.infer, r, x); err != nil {
				return own, err
			}
		}
		kept := map[string]float64{}
		for k, v := range x.Values {
			kept[k] = v
		}
		tokens := x.Tokens["first"]
		events, started, more, err := process(ctx, argv, env)
		own += more
		if err != nil {
			return own, err
		}
		if err := values(x, events, started, e.interpreted()); err != nil {
			return own, err
		}
		// What users start is infer, not the worker.
		for k, v := range kept {
			x.Values[k] = v
		}
		if tokens != nil {
			x.Tokens["first"] = tokens
		}
		return own, nil
	}, nil
}

// command returns the command that runs a request.
func (t *taker) command(ctx context.Context, e *engine, r *request) (argv, env []string, err error) {
	arg, err := r.jsonArg()
	if err != nil {
		return nil, nil, err
	}
	threads := strconv.Itoa(r.Threads)
	env = append([]string{
		"OMP_NUM_THREADS=" + threads, "MKL_NUM_THREADS=" + threads, "OPENBLAS_NUM_THREADS=" + threads,
		"RAYON_NUM_THREADS=" + threads, "CANDLE_NUM_THREADS=" + threads, "TOKENIZERS_PARALLELISM=false",
	}, offline...)
	switch {
	case e.program == "":
		return []string{t.self, "native", workerCommand, arg}, nil, nil
	case e.interpreted():
		python, err := t.tools.environment(ctx, e.environment)
		return []string{python, filepath.Join(t.tools.peers, e.program), arg}, env, err
	}
	binary, err := t.tools.compile(ctx, e)
	return append([]string{binary}, r.cArgs()...), env, err
}

// spinner starts a process that takes the last processor, and returns what
// ends it and tells how much time it took.
func (t *taker) spinner() (stop func() time.Duration, err error) {
	processors, err := allowed()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(t.self, "native", spinCommand, strconv.Itoa(processors[len(processors)-1]))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a process that takes a processor: %w", err)
	}
	return func() time.Duration {
		in.Close() // it ends by itself then
		cmd.Wait()
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}, nil
}
