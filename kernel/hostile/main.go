// Command hostile makes system calls on the kernel with arguments that mean
// harm, and sees that the kernel never stops.
//
//	go run ./kernel/hostile [-calls N] [-seed S] [-smp N] [-m SIZE] [-workers N] [-share N] [-trace] [-strict]
//
// Each machine runs the program of the folder program/ with a seed of its own,
// from which all its choices come: pointers to nothing, to the kernel, to the
// very edge of memory and to memory that other threads take away meanwhile;
// lengths, descriptors, flags and structures with anything in them; and honest
// calls in between, so that every call succeeds too. When the program has made
// its share of calls, or has died of them, the next seed goes on, until the
// calls are made.
//
// At the end the table says how often each call succeeded and failed with each
// error. The exit status is 1 when the kernel crashed, stopped or panicked;
// the seed and the processors' registers are printed. With -trace the program
// prints each call before it makes it: the last ones reproduce a crash.
// With -strict a call that never succeeded, or not with each error that it is
// known for, fails too.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

func main() {
	var (
		calls   = flag.Uint64("calls", 200_000, "how many calls")
		seed    = flag.Uint64("seed", 1, "of the first machine")
		share   = flag.Uint64("share", 200_000, "the most calls of one machine")
		workers = flag.Int("workers", 4, "threads that make calls")
		cpus    = flag.Int("smp", 1, "processors of the machine")
		memory  = flag.String("m", "256M", "memory of the machine")
		silence = flag.Duration("silence", time.Minute, "a machine that says nothing for so long has stopped")
		trace   = flag.Bool("trace", false, "print each call before it is made")
		strict  = flag.Bool("strict", false, "every call must have ended in every way")
		least   = flag.Uint64("least", 1000, "with -strict, how often each call must have succeeded")
		kernel  = flag.String("kernel", "", "an image that is built already")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "leveret-hostile")
	if err != nil {
		fatal(err)
	}
	defer os.RemoveAll(dir)
	program, err := build(ctx, dir)
	if err != nil {
		fatal(err)
	}
	if *kernel == "" {
		// Once: what is edited meanwhile does not matter.
		*kernel = filepath.Join(dir, "kernel")
		if err := machine.BuildTo(ctx, *kernel); err != nil {
			fatal(err)
		}
	}
	all := newTally()
	failures := 0
	begin := time.Now()
	for s := *seed; all.calls < *calls && ctx.Err() == nil; s++ {
		r := one{
			dir: dir, silence: *silence, trace: *trace, seed: s,
			config: machine.Config{
				Kernel: *kernel, Program: program, CPUs: *cpus, Memory: *memory, Append: "quiet nmi=threads",
				Args: arguments(s, min(*share, *calls-all.calls), *workers, *trace),
			},
		}
		if err := r.run(ctx, all); err != nil && ctx.Err() == nil {
			failures++
			fmt.Printf("FAIL seed %d: %v\n%s\n", s, err, r.evidence())
		}
		fmt.Printf("seed %d: %s; %d calls of %d in %v\n", s, r.end, all.calls, *calls, time.Since(begin).Round(time.Second))
	}
	all.print(os.Stdout)
	missing := all.missing(*least)
	for _, m := range missing {
		fmt.Println("missing:", m)
	}
	fmt.Printf("%d calls, %d machines, %d failures, %d ends missing\n", all.calls, all.machines, failures, len(missing))
	if failures > 0 || ctx.Err() != nil || *strict && len(missing) > 0 {
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "hostile:", err)
	os.Exit(2)
}
