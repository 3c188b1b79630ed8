// Command bench measures Leveret against other programs and writes what it
// finds, losses first, under bench/results. Each rig is a subcommand:
//
//	go run ./bench native    against other inference engines on this machine
//	go run ./bench kernels   what our kernel and others cost the same program
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/leveret-os/leveret/bench/kernels"
	"github.com/leveret-os/leveret/bench/native"
)

const usage = `usage: go run ./bench RIG [flags]

  native    Leveret against other inference engines on this machine
  kernels   what our kernel and others cost the same program

go run ./bench RIG -h shows a rig's flags; docs/bench.md describes them.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	switch rig, args := os.Args[1], os.Args[2:]; rig {
	case "native":
		os.Exit(native.Main(ctx, args, os.Stdout, os.Stderr))
	case "kernels":
		os.Exit(kernels.Main(ctx, args, os.Stdout, os.Stderr))
	case "-h", "-help", "--help", "help":
		fmt.Print(usage)
	default:
		fmt.Fprintf(os.Stderr, "bench: no rig %q\n%s", rig, usage)
		os.Exit(2)
	}
}
