// Command gotests runs the tests of Go's own standard library on the kernel:
//
//	go run ./kernel/gotests [-smp N] [-kernel FILE] [PACKAGE…]
//
// Each package's tests are compiled by go test -c, and the binary is booted as
// init. Only one file is added to a package: it goes into the package's folder,
// where go test would have started the program. A line per package says how
// many tests passed, were skipped by themselves (they want a C compiler, or to
// start another program), and failed. A failure is one unless exceptions.txt
// names the test and the reason; with -kernel and -exceptions those run on
// another kernel, as the same binaries, where they have to pass. The exit status is 0 only if nothing
// failed that is not in that list.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

// standard are the packages whose tests the kernel has to pass.
var standard = []string{
	"sync", "sync/atomic", "time", "runtime", "os", "io/...", "bufio",
	"math/...", "strconv", "encoding/...",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := runner{ctx: ctx}
	flag.IntVar(&r.machine.CPUs, "smp", 1, "processors of the machine")
	flag.StringVar(&r.machine.Memory, "m", "2048M", "memory of the machine")
	flag.StringVar(&r.machine.Kernel, "kernel", "", "another kernel to boot")
	flag.StringVar(&r.machine.Append, "append", "", "more words for the kernel")
	flag.DurationVar(&r.machine.Timeout, "timeout", 10*time.Minute, "the most time for one package")
	flag.StringVar(&r.run, "run", "", "only tests that match this `pattern`")
	flag.BoolVar(&r.short, "short", false, "short tests of every package, not of runtime only")
	flag.BoolVar(&r.excepted, "exceptions", false, "run the exceptions, and nothing else")
	flag.StringVar(&r.logs, "logs", "", "keep what the console said in this `folder`")
	flag.Parse()
	if err := r.main(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gotests:", err)
		os.Exit(1)
	}
}

// main tests the packages that the patterns name; none: the standard ones.
func (r *runner) main(patterns []string) error {
	if len(patterns) == 0 {
		patterns = standard
	}
	var err error
	if r.exceptions, err = parseExceptions(exceptionsText); err != nil {
		return err
	}
	if r.machine.Kernel == "" {
		if r.machine.Kernel, err = machine.Build(r.ctx); err != nil {
			return err
		}
	}
	packages, err := list(r.ctx, patterns)
	if err != nil {
		return err
	}
	var total result
	bad := 0
	for _, p := range packages {
		if _, n := pattern(r.exceptions, p.ImportPath); r.excepted && n == 0 {
			continue
		}
		got, err := r.test(p)
		if err != nil {
			fmt.Printf("FAIL %-28s %v\n", p.ImportPath, err)
			bad++
			continue
		}
		word := "ok  "
		if len(got.Failed) > 0 || got.Unfinished != "" {
			word = "FAIL"
			bad++
		}
		fmt.Printf("%s %-28s %v\n", word, p.ImportPath, got)
		total.add(got)
	}
	fmt.Printf("     %-28s %v\n", fmt.Sprint(len(packages), " packages"), total)
	if bad > 0 {
		return fmt.Errorf("%d of %d packages failed", bad, len(packages))
	}
	return nil
}
