// Command boot runs a program on the kernel, in QEMU:
//
//	go run ./kernel/boot [options] -- PROGRAM [ARGUMENTS]
//
// PROGRAM is a static program, or a Go package that is built. It ends with the
// program's exit status; 125 says that there was none to end with: the kernel
// crashed, the time was up, or the machine could not be made. docs/kernel.md
// has the options and the lines that the kernel prints.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/leveret-os/leveret/kernel/machine"
)

// Exit statuses of this command's own, as of docker run.
const (
	exitUsage  = 2
	exitFailed = 125
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := machine.Config{Output: stdout, Input: stdin, Files: map[string]string{}, Get: map[string]string{}}
	set := flag.NewFlagSet("boot", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintln(stderr, "usage: boot [options] -- PROGRAM [ARGUMENTS]")
		set.PrintDefaults()
	}
	set.IntVar(&c.CPUs, "smp", 1, "`N` processors")
	set.StringVar(&c.Memory, "m", "512M", "memory of the machine, more than this one has if need be")
	set.StringVar(&c.Machine, "machine", "q35", "q35 or microvm")
	set.StringVar(&c.Accel, "accel", "tcg", "tcg or kvm")
	set.StringVar(&c.CPU, "cpu", "Skylake-Client", "QEMU's `model` of processor")
	set.BoolVar(&c.ICount, "icount", false, "time is the number of instructions, 1 ns each")
	set.StringVar(&c.Append, "append", "", "more `words` for the kernel")
	set.StringVar(&c.Kernel, "kernel", "", "another kernel to boot: a PVH kernel or bzImage `file`")
	set.DurationVar(&c.Timeout, "timeout", 0, "end the machine after this time")
	pair := func(into map[string]string, guestFirst bool) func(string) error {
		return func(s string) error {
			host, guest, ok := strings.Cut(s, ":")
			if !ok || host == "" || guest == "" {
				return fmt.Errorf("two paths with a colon between are wanted")
			}
			if guestFirst {
				host, guest = guest, host
			}
			into[guest] = host
			return nil
		}
	}
	set.Func("add", "put a file or folder into the initramfs, as `HOST:GUEST`", pair(c.Files, false))
	set.Func("get", "bring a file or folder back when the program has ended, as `GUEST:HOST`", pair(c.Get, true))
	both := set.Bool("beside", false, "run the program here first, and show both runs side by side")
	table := set.Bool("q", false, "with -beside: show nothing else")
	report := set.String("report", "", "write how the run ended, and what it cost, to a `file` as JSON")
	if err := set.Parse(args); err != nil {
		return exitUsage
	}
	if set.NArg() == 0 {
		set.Usage()
		return exitUsage
	}
	c.Program, c.Args = set.Arg(0), set.Args()[1:]
	if *both {
		return beside(ctx, c, *table, stdout, stderr)
	}
	r, err := machine.Run(ctx, c)
	if *report != "" {
		if e := writeReport(*report, r, err); e != nil {
			fmt.Fprintln(stderr, "boot:", e)
			return exitFailed
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "boot:", err)
		return exitFailed
	}
	return r.Status
}
