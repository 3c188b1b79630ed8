// Command agent gives a language model a task, and tools to do it with: see
// `agent --help`, and docs/agent.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/leveret-os/leveret/pkg/agent"
)

// The exit statuses.
const (
	statusDone         = 0
	statusError        = 1
	statusUsage        = 2
	statusRepeatedCall = 3
	statusStepLimit    = 4
	statusContextFull  = 5
	statusToolFailures = 6
	statusCancelled    = 130 // what a shell shows for a program ended by SIGINT
)

// statuses are those of the ends of a run.
var statuses = map[agent.Reason]int{
	agent.Done:         statusDone,
	agent.RepeatedCall: statusRepeatedCall,
	agent.StepLimit:    statusStepLimit,
	agent.ContextFull:  statusContextFull,
	agent.ToolFailures: statusToolFailures,
	agent.Cancelled:    statusCancelled,
	agent.Failed:       statusError,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // the second signal ends the program at once
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	note := func(err error) {
		fmt.Fprintf(stderr, "agent: %s\n", oneLine(strings.TrimPrefix(err.Error(), "agent: ")))
	}
	o, err := parse(args)
	var usage *usageError
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(stdout, help)
		return statusDone
	case errors.As(err, &usage):
		note(err)
		return statusUsage
	case o.version:
		fmt.Fprintln(stdout, version())
		return statusDone
	}
	s, err := open(ctx, o, note)
	if err != nil {
		note(err)
		if ctx.Err() != nil {
			return statusCancelled
		}
		return statusError
	}
	defer s.close()
	end, err := work(ctx, s.agent, o, stdout)
	if err != nil {
		note(err)
	}
	return statuses[end]
}

// oneLine keeps a text on its line and the terminal unharmed, whatever a model
// or a server wrote.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, printable(s))
}

// printable replaces the characters that a terminal might obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '?'
		}
		return r
	}, s)
}
