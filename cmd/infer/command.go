package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// The exit statuses, the same for every command.
const (
	statusOK          = 0
	statusError       = 1
	statusUsage       = 2
	statusInterrupted = 130 // what a shell shows for a program ended by SIGINT
)

// A command is one subcommand of infer.
type command struct {
	name  string
	args  string // what follows the flags, for the usage line
	short string // one line
	long  string // what else its help says, below the flags
	// declare binds the flags and returns what runs the command on the
	// arguments that are left when they have been parsed.
	declare func(f *flags) func(ctx context.Context, c *console, args []string) error
}

// commands returns the commands in the order of the help.
func commands() []*command {
	return []*command{
		runCommand(), benchCommand(), evaluateCommand(),
		tokenizeCommand(), inspectCommand(),
		pullCommand(), convertCommand(), quantizeCommand(),
		versionCommand(), helpCommand(),
	}
}

// console is what a command talks to.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

// terminal reports whether a stream of the console is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// note writes one line about the work, never about its result, to stderr.
func (c *console) note(format string, args ...any) {
	fmt.Fprintf(c.stderr, "infer: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// run is the whole program: it runs the command that args name and returns the
// exit status. A cancelled ctx ends it as a signal does.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &console{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv}
	err := dispatch(ctx, c, args)
	var usage *usageError
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, errInterrupted), interrupted(ctx, err):
		return statusInterrupted
	case errors.Is(err, syscall.EPIPE):
		return statusError // whoever read the output has gone: nobody to tell
	case errors.As(err, &usage):
		c.note("%s", usage)
		return statusUsage
	}
	c.note("%v", err)
	return statusError
}

// interrupted reports whether an error is that of a cancelled ctx, by its own
// name or by that of the signal.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// errInterrupted ends a command that a signal stopped and that has said so.
var errInterrupted = errors.New("interrupted")

func dispatch(ctx context.Context, c *console, args []string) error {
	if len(args) == 0 {
		return &usageError{text: "no command given; `infer help` lists them"}
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-v", "-version", "--version":
		name = "version"
	}
	cmd := find(name)
	if cmd == nil {
		return &usageError{text: fmt.Sprintf("unknown command %q; `infer help` lists the commands", name)}
	}
	f := newFlags(cmd)
	work := cmd.declare(f)
	rest, err := f.parse(args[1:])
	if errors.Is(err, errHelp) {
		return writeHelp(c.stdout, cmd)
	}
	if err == nil {
		err = work(ctx, c, rest)
	}
	var usage *usageError
	if errors.As(err, &usage) && usage.command == "" {
		return &usageError{command: cmd.name, text: usage.text}
	}
	return err
}

func find(name string) *command {
	for _, cmd := range commands() {
		if cmd.name == name {
			return cmd
		}
	}
	return nil
}

// usageError is a mistake in how the program was called.
type usageError struct {
	command string
	text    string
}

func (e *usageError) Error() string {
	if e.command == "" {
		return e.text
	}
	return fmt.Sprintf("%s: %s (`infer help %s` shows the flags)", e.command, e.text, e.command)
}

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// oneLine keeps a message on its line and the terminal unharmed, whatever a
// file name in it holds.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return '?'
		}
		return r
	}, s)
}
