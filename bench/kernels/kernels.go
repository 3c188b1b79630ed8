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
	p := plan{kernels: []kernel{{name: ours}}}
	clocks := flags.String("clock", "wall,instructions", "what to measure time with, of wall and instructions")
	flags.IntVar(&p.rounds, "rounds", 3, "how often each kernel is booted with each clock")
	flags.IntVar(&p.samples, "n", 5, "samples of each workload in one boot")
	flags.StringVar(&p.memory, "m", "1024M", "memory of the machine")
	flags.Uint64Var(&p.seed, "seed", uint64(time.Now().UnixNano()), "order of the kernels")
	out := flags.String("out", "bench/results/kernels", "folder of the results")
	budgets := flags.String("budgets", "", "check the instruction counts against this `file`")
	writeBudgets := flags.Bool("write-budgets", false, "write what was counted to the file of -budgets instead")
	flags.Func("against", "`NAME=FILE[;WORD]…`: a reference kernel and more words for its command line", func(s string) error {
		name, rest, ok := strings.Cut(s, "=")
		if !ok || name == "" || name == ours {
			return errors.New("want NAME=FILE[;WORD]…")
		}
		file, words, _ := strings.Cut(rest, ";")
		p.kernels = append(p.kernels, kernel{name, file, strings.ReplaceAll(words, ";", " ")})
		_, err := os.Stat(file)
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
	if err := os.MkdirAll(*out, 0o755); err != nil {
		fmt.Fprintln(stderr, "bench kernels:", err)
		return 1
	}
	runs, err := p.record(ctx, filepath.Join(*out, "runs.jsonl"), stderr)
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

// record takes the plan and keeps each run as a line of the file, failed ones
// too.
func (p plan) record(ctx context.Context, file string, progress io.Writer) ([]run, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var runs []run
	lines := json.NewEncoder(f)
	total := p.rounds * len(p.clocks) * len(p.kernels)
	err = p.take(ctx, func(r run) {
		runs = append(runs, r)
		state := "done"
		if r.Failed != "" {
			log := fmt.Sprintf("%s-%s-%d.log", r.Kernel, r.Clock, r.Round+1)
			state = "FAILED, console in " + log + ": " + r.Failed
			os.WriteFile(filepath.Join(filepath.Dir(file), log), r.Console, 0o644)
		}
		fmt.Fprintf(progress, "%d/%d %s, %s, round %d: %s\n", len(runs), total, r.Kernel, r.Clock, r.Round+1, state)
		lines.Encode(r)
	})
	return runs, errors.Join(err, f.Close())
}
