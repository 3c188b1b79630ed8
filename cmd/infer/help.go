package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

func helpCommand() *command {
	return &command{
		name:    "help",
		args:    "[COMMAND]",
		short:   "show the commands, or one command's flags",
		declare: declareHelp,
	}
}

func declareHelp(*flags) func(context.Context, *console, []string) error {
	return func(_ context.Context, c *console, args []string) error {
		switch len(args) {
		case 0:
			return writeOverview(c.stdout)
		case 1:
			cmd := find(args[0])
			if cmd == nil {
				return usagef("unknown command %q", args[0])
			}
			return writeHelp(c.stdout, cmd)
		}
		return usagef("expected one command, found %d", len(args))
	}
}

func writeOverview(w io.Writer) error {
	var b strings.Builder
	b.WriteString("infer runs, measures and prepares language models of the Llama architecture.\n\n" +
		"Usage: infer COMMAND [FLAGS] [ARGUMENTS]\n\n")
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "  %-9s %s\n", cmd.name, cmd.short)
	}
	b.WriteString(`
To begin:

  infer pull                                 # gets SmolLM2-135M-Instruct, prints its folder
  infer run -m FOLDER --chat                 # talk with it
  infer run -m FOLDER -p "Once upon a time" -n 64

` + "`infer help COMMAND` shows a command's flags. Exit status: 0 done, 1 failed,\n2 called wrongly, 130 interrupted.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeHelp shows a command's usage line, flags and remarks.
func writeHelp(w io.Writer, cmd *command) error {
	f := newFlags(cmd)
	cmd.declare(f)
	var b strings.Builder
	usage := []string{"infer", cmd.name}
	if len(f.options) > 0 {
		usage = append(usage, "[FLAGS]")
	}
	if cmd.args != "" {
		usage = append(usage, cmd.args)
	}
	fmt.Fprintf(&b, "Usage: %s\n\n%s\n", strings.Join(usage, " "), sentence(cmd.short))
	if len(f.options) > 0 {
		b.WriteString("\nFlags:\n")
	}
	for _, o := range f.options {
		names := make([]string, len(o.names))
		for i, n := range o.names {
			names[i] = "--" + n
			if len(n) == 1 {
				names[i] = "-" + n
			}
		}
		head := strings.Join(names, ", ")
		if o.value != "" {
			head += " " + o.value
		}
		const column = 26
		if len([]rune(head)) > column-4 {
			fmt.Fprintf(&b, "  %s\n%s", head, strings.Repeat(" ", column))
		} else {
			fmt.Fprintf(&b, "  %-*s", column-2, head)
		}
		b.WriteString(strings.Join(wrap(o.text, 78-column), "\n"+strings.Repeat(" ", column)) + "\n")
	}
	if cmd.long != "" {
		b.WriteString("\n" + strings.TrimSpace(cmd.long) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence makes "show X" into "Show X.".
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// wrap breaks text into lines of at most width characters where words allow.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
