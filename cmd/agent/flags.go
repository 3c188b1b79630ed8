package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

const help = `usage: agent [flags] TASK

Gives a model a task and tools to do it with, and shows each step.

  -m, --model NAME         the model: tiny, which is built in (the default), a
                           folder with config.json, tokenizer and safetensors,
                           or a .gguf file
      --root DIR           the folder that the file tools work in, and do not
                           leave (default: the current one, for reading only)
      --read-only          no write_file
      --allow HOST[:PORT]  let http_get reach a host; may be repeated. Without
                           it there is no http_get
      --mcp COMMAND|URL    the tools of an MCP server, too; may be repeated
      --max-steps N        calls after which the run ends (default 16)
      --timeout TIME       time for the run, such as 90s (default: no limit)
  -c, --ctx-size N         tokens of the context (default: the model's, at most
                           8192)
  -t, --threads N          processors to use (default: all)
      --json               one JSON object a line
      --report             lines for machines at the end
      --version            show the version
  -h, --help               show this

Exit status: 0 done, 1 error, 2 called wrongly, 3 the model repeated a call, 4
out of steps, 5 the context is full, 6 too many calls failed, 130 interrupted
or out of time.
`

var errHelp = errors.New("help asked for")

// usageError is a mistake in how the program was called.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text + " (`agent --help` shows the flags)" }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// options are what the program was called with.
type options struct {
	model, root, task string
	readOnly          bool
	allow, mcp        list
	maxSteps          int
	timeout           time.Duration
	context, threads  int
	json, report      bool
	version           bool
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// parse reads the flags, which may stand before and after the task.
func parse(args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("agent", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	for _, name := range []string{"m", "model"} {
		f.StringVar(&o.model, name, builtIn, "")
	}
	for _, name := range []string{"c", "ctx-size"} {
		f.IntVar(&o.context, name, 0, "")
	}
	for _, name := range []string{"t", "threads"} {
		f.IntVar(&o.threads, name, 0, "")
	}
	f.StringVar(&o.root, "root", "", "")
	f.BoolVar(&o.readOnly, "read-only", false, "")
	f.Var(&o.allow, "allow", "")
	f.Var(&o.mcp, "mcp", "")
	f.IntVar(&o.maxSteps, "max-steps", 16, "")
	f.DurationVar(&o.timeout, "timeout", 0, "")
	f.BoolVar(&o.json, "json", false, "")
	f.BoolVar(&o.report, "report", false, "")
	f.BoolVar(&o.version, "version", false, "")

	words, err := parseAll(f, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, errHelp
	case err != nil:
		return nil, usagef("%s", strings.ReplaceAll(err.Error(), "flag provided but not defined", "unknown flag"))
	case len(words) == 1 && words[0] == "version" && len(args) == 1:
		o.version = true
	}
	o.task = strings.Join(words, " ")
	return o, o.check()
}

// parseAll parses flags and returns the words between and after them. What
// follows "--" is no flag.
func parseAll(f *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		left := f.Args()
		if len(left) == 0 {
			return words, nil
		}
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(words, left...), nil
		}
		words, args = append(words, left[0]), left[1:]
	}
}

// check refuses what cannot be meant.
func (o *options) check() error {
	switch {
	case o.version:
		return nil
	case strings.TrimSpace(o.task) == "":
		return usagef("no task given")
	case o.model == "":
		return usagef("no model given: -m tiny, DIR or FILE")
	case o.maxSteps < 1:
		return usagef("--max-steps %d: expected at least 1", o.maxSteps)
	case o.timeout < 0:
		return usagef("--timeout %v: expected a time", o.timeout)
	case o.context < 0:
		return usagef("-c %d: expected at least 1", o.context)
	case o.threads < 0 || o.threads > 1024:
		return usagef("-t %d: expected 0 (all processors) to 1024", o.threads)
	}
	return nil
}
