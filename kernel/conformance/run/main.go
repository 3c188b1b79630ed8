// Command run compares what the conformance programs observe natively with what
// they observe on the kernel.
//
//	go run ./kernel/conformance/run [-native|-update|-faults] [-smp N] [-kernel FILE] [NAME…]
//
// A conformance program is a folder beside this one with a Go package main or C
// files. It prints a line for each thing that it observed, and nothing that
// Linux itself varies (addresses, times, process ids). Its expected.txt is what
// it prints on Linux; -update writes it, so every expectation was seen there
// first. -faults builds for each program the kernels with a fault that faults.go
// lists for it, and requires the program to notice each. The exit status is 0 only when every program printed exactly that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/kernel/machine"
)

// folder is where the programs are, from the root of the module.
const folder = "kernel/conformance"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := runner{ctx: ctx}
	flag.BoolVar(&r.native, "native", false, "run natively only")
	flag.BoolVar(&r.update, "update", false, "run natively and write expected.txt")
	flag.BoolVar(&r.faults, "faults", false, "require each program to notice the faults planted for it")
	flag.BoolVar(&r.verbose, "v", false, "show the console")
	flag.IntVar(&r.machine.CPUs, "smp", 1, "processors of the machine")
	flag.StringVar(&r.machine.Memory, "m", "512M", "memory of the machine")
	flag.StringVar(&r.machine.Kernel, "kernel", "", "another kernel to boot")
	flag.StringVar(&r.machine.Append, "append", "", "more words for the kernel")
	flag.DurationVar(&r.machine.Timeout, "timeout", 3*time.Minute, "the most time for one program")
	flag.Parse()
	programs, err := find(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	failed := 0
	for _, p := range programs {
		check := r.check
		if r.faults {
			check = r.checkFaults
		}
		if err := check(p); err != nil {
			fmt.Printf("FAIL %s: %v\n", p, err)
			failed++
			continue
		}
		fmt.Println("ok  ", p)
	}
	if failed > 0 {
		fmt.Printf("%d of %d programs failed\n", failed, len(programs))
		os.Exit(1)
	}
}

// find returns the names of the programs: all of them when none is named.
func find(names []string) ([]string, error) {
	var all []string
	for _, pattern := range []string{"*/main.go", "*/main.c"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if name := filepath.Base(filepath.Dir(f)); name != "run" {
				all = append(all, name)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no programs in %s: run this from the root of the module", folder)
	}
	slices.Sort(all)
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("no program %q, there are %v", name, all)
		}
	}
	if len(names) > 0 {
		return names, nil
	}
	return all, nil
}

// A runner knows where programs run.
type runner struct {
	ctx            context.Context
	native, update bool
	faults         bool
	verbose        bool
	machine        machine.Config
}

// errOutput says that a program printed something else than on Linux.
var errOutput = errors.New("its output is not expected.txt")

// check runs one program and compares its output.
func (r *runner) check(name string) error {
	dir, err := os.MkdirTemp("", "leveret-conformance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, name)
	if err := build(r.ctx, filepath.Join(folder, name), binary); err != nil {
		return err
	}
	golden := filepath.Join(folder, name, "expected.txt")
	if r.native || r.update {
		got, err := runNatively(r.ctx, binary)
		if err != nil {
			return err
		}
		if r.update {
			return os.WriteFile(golden, []byte(got), 0o644)
		}
		return compare(golden, got)
	}
	c := r.machine
	c.Program = binary
	if r.verbose {
		c.Output = os.Stdout
	}
	result, err := machine.Run(r.ctx, c)
	if len(result.Console) == 0 { // it was not built, or did not begin
		return errors.Join(err, errors.New("the machine said nothing"))
	}
	got := machine.ProgramOutput(result.Console)
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("exit status %d, want 0", result.Status)
	}
	return errors.Join(err, compare(golden, got))
}

// compare tells how got differs from the lines of the file.
func compare(file, got string) error {
	want, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w (-update makes it, on Linux)", err)
	}
	if diff := cmp.Diff(lines(string(want)), lines(got)); diff != "" {
		return fmt.Errorf("%w: (-linux +here):\n%s", errOutput, diff)
	}
	return nil
}
