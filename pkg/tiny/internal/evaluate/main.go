// Command evaluate lets the agent do tasks with the embedded model, or another,
// and counts what came of them.
//
//	evaluate [-model DIR] [-set held-out] [-seed 1] [-n 600] [-threads 1] [-failures FILE]
//
// The agent is the real one, with grammar and tools, in a temporary folder. With
// -failures the tasks that went wrong are written to a file, each with its calls.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/tiny"
	"github.com/leveret-os/leveret/pkg/tiny/internal/tasks"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	dir := flag.String("model", "", "a model's folder; the embedded model if empty")
	name := flag.String("set", "held-out", "held-out, development or training")
	seed := flag.Uint64("seed", 1, "the seed of the tasks")
	n := flag.Int("n", 600, "the number of tasks")
	threads := flag.Int("threads", 1, "processors")
	failures := flag.String("failures", "", "a file for what went wrong")
	flag.Parse()

	sets := map[string]func(uint64) *tasks.Set{"held-out": tasks.HeldOut, "development": tasks.Development, "training": tasks.Training}
	newSet, ok := sets[*name]
	if !ok {
		return fmt.Errorf("there is no set %q", *name)
	}
	list := io.Discard
	if *failures != "" {
		f, err := os.Create(*failures)
		if err != nil {
			return err
		}
		b := bufio.NewWriter(f)
		defer func() { err = errors.Join(err, b.Flush(), f.Close()) }()
		list = b
	}
	model, err := open(*dir, &llama.Options{Threads: *threads})
	if err != nil {
		return err
	}
	defer model.Close()
	folder, err := os.MkdirTemp("", "evaluate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	writer, err := agent.NewLlama(model, nil)
	if err != nil {
		return err
	}
	bench, err := tasks.NewBench(folder, writer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bench.Close()) }()
	table, err := measure(bench, newSet(*seed), *n, list)
	if err != nil {
		return err
	}
	fmt.Print(table)
	share, count := table.Score()
	fmt.Printf("\n%.2f %% of %d tasks right (set %s, seed %d)\n", 100*share, count, *name, *seed)
	return nil
}

func open(dir string, opts *llama.Options) (*llama.Model, error) {
	if dir == "" {
		return tiny.Open(opts)
	}
	return llama.Open(dir, opts)
}

// measure runs tasks and lists those that went wrong.
func measure(bench *tasks.Bench, set *tasks.Set, n int, list io.Writer) (*tasks.Table, error) {
	var table tasks.Table
	for i := range n {
		t := set.Task(i)
		o, err := bench.Run(context.Background(), t)
		if err != nil {
			return nil, err
		}
		table.Add(t, o)
		if o.Wrong == nil {
			continue
		}
		fmt.Fprintf(list, "%d %s: %s\n  %v\n", i, t.Kind, t.Text, o.Wrong)
		for _, s := range o.Steps {
			fmt.Fprintf(list, "  %s %s -> %.300q\n", s.Call.Name, s.Call.Arguments, s.Result)
		}
	}
	return &table, nil
}
