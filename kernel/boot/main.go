// Command boot runs a program on the kernel, in an emulator.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/leveret-os/leveret/kernel/machine"
)

func main() {
	c := machine.Config{Output: os.Stdout, Files: map[string]string{}}
	flag.IntVar(&c.CPUs, "smp", 1, "processors")
	flag.StringVar(&c.Memory, "m", "512M", "memory of the machine")
	flag.StringVar(&c.Machine, "machine", "q35", "q35 or microvm")
	flag.StringVar(&c.Accel, "accel", "tcg", "tcg or kvm")
	flag.BoolVar(&c.ICount, "icount", false, "time is the number of instructions")
	flag.StringVar(&c.Append, "append", "", "more words for the kernel")
	flag.StringVar(&c.Kernel, "kernel", "", "another kernel to boot")
	flag.DurationVar(&c.Timeout, "timeout", 0, "end the machine after this time")
	flag.Func("add", "`HOST:GUEST`: put a file into the initramfs", func(s string) error {
		host, guest, ok := strings.Cut(s, ":")
		if !ok {
			return fmt.Errorf("%q is not HOST:GUEST", s)
		}
		c.Files[guest] = host
		return nil
	})
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: boot [options] -- PROGRAM [ARGUMENTS]")
		os.Exit(2)
	}
	c.Program, c.Args = flag.Arg(0), flag.Args()[1:]
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := machine.Run(ctx, c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "boot:", err)
		os.Exit(1)
	}
	os.Exit(r.Status)
}
