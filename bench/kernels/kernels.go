package kernels

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const usage = `usage: go run ./bench kernels [flags] [WORKLOAD…]

Boots our kernel and the references in turns with bench/workload as init, and
writes runs.jsonl, table.md and table.csv.
`

// Main is the rig's command line; it returns the exit status: 0 when every run
// came to its end and no budget is exceeded.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("kernels", flag.ContinueOnError)
	flags.SetOutput(stderr)
	p := plan{kernels: []kernel{ourKernel}}
	clocks := flags.String("clock", "wall,instructions", "what to measure time with, of wall and instructions")
	flags.IntVar(&p.rounds, "rounds", 5, "how often each kernel is booted with each clock")
	flags.IntVar(&p.samples, "n", 5, "samples of each workload in one boot")
	flags.IntVar(&p.boots, "boots", 10, "boots of each kernel to its program's first line; none when workloads are named")
	flags.StringVar(&p.memory, "m", "1024M", "memory of the machine")
	flags.StringVar(&p.model, "model", os.Getenv("LEVERET_MODELS"), "`folder` of SmolLM2 as ./test setup makes it, for the memory that a model takes; empty, or workloads named: leave that out")
	flags.Uint64Var(&p.seed, "seed", uint64(time.Now().UnixNano()), "order of the kernels")
	out := flags.String("out", "bench/results/kernels", "folder of the results")
	budgets := flags.String("budgets", "", "check the instruction counts of our kernel alone against this `file`")
	writeBudgets := flags.Bool("write-budgets", false, "write what was counted to the file of -budgets instead")
	folder := flags.String("mainline", mainlineFolder(), "`folder` of the reference kernels, or none")
	flags.Func("against", "`NAME=FILE[;WORD]…`: a reference kernel and more words for its command line, in place of those of -mainline", func(s string) error {
		k, err := parseReference(s)
		p.kernels = append(p.kernels, k)
		return err
	})
	flags.Usage = func() { fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	for c := range strings.SplitSeq(*clocks, ",") {
		if c := clock(c); c != wall && c != instructions {
			fmt.Fprintf(stderr, "bench kernels: -clock %q: want %s or %s\n", c, wall, instructions)
			return 2
		}
		p.clocks = append(p.clocks, clock(c))
	}
	p.workloads = flags.Args()
	if len(p.kernels) == 1 && *folder != "none" && *budgets == "" {
		found, err := references(*folder)
		if err != nil {
			fmt.Fprintln(stderr, "bench kernels:", err)
			return 1
		}
		p.kernels = append(p.kernels, found...)
	}
	if *budgets != "" {
		p.clocks, p.rounds = []clock{instructions}, 1
	}
	switch {
	case len(p.workloads) > 0 || !slices.Contains(p.clocks, wall):
		p.boots, p.model = 0, ""
	case p.model != "":
		p.model = filepath.Join(p.model, "bf16")
	}
	runs, err := p.record(ctx, *out, stderr)
	if err == nil {
		err = writeResults(*out, p, runs)
	}
	if err == nil && *budgets != "" {
		err = applyBudgets(*budgets, *writeBudgets, runs, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench kernels:", err)
		return 1
	}
	text, _ := os.ReadFile(filepath.Join(*out, "table.md"))
	stdout.Write(text)
	for _, r := range runs {
		if r.Failed != "" {
			return 1
		}
	}
	return 0
}

// record takes the plan and keeps each run as a line of runs.jsonl in the
// folder, failed ones too.
func (p plan) record(ctx context.Context, folder string, progress io.Writer) ([]run, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(folder, "runs.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tmp, err := os.MkdirTemp("", "leveret-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	jobs := p.jobs()
	fmt.Fprintf(progress, "%d boots, about %v\n", len(jobs), p.estimate(jobs).Round(10*time.Second))
	if p.built, err = build(ctx, tmp, p.model != ""); err != nil {
		return nil, err
	}
	for i := range jobs {
		if jobs[i].kernel.name == ours {
			jobs[i].kernel.file = p.built.kernel
		}
	}
	var runs []run
	lines := json.NewEncoder(f)
	err = p.take(ctx, jobs, func(r run) {
		runs = append(runs, r)
		state := "done"
		if r.Failed != "" {
			log := fmt.Sprintf("%s-%s-%s-%d.log", r.Kernel, r.Clock, r.Kind, r.Round+1)
			state = "FAILED, console in " + log + ": " + r.Failed
			os.WriteFile(filepath.Join(folder, log), r.Console, 0o644)
		}
		fmt.Fprintf(progress, "%d/%d %s, %s, %s, round %d: %s\n", len(runs), len(jobs), r.Kernel, r.Kind, r.Clock, r.Round+1, state)
		lines.Encode(r)
	})
	return runs, errors.Join(err, f.Close())
}
