package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

// beside runs a program here and then, the same file, on the kernel, and shows
// both side by side; quiet shows that alone. It returns what the program ended with
// here, also where there can be no machine, which is said.
func beside(ctx context.Context, c machine.Config, quiet bool, stdout, stderr io.Writer) int {
	c.Output = nil
	c.Append = strings.TrimSpace(c.Append + " acct=full")
	m, err := machine.New(ctx, c) // packs the files as they are before the first run
	if err != nil {
		fmt.Fprintf(stderr, "boot: NOT on the kernel: %v\n", err)
		if info, err := os.Stat(c.Program); err != nil || info.IsDir() {
			return exitFailed
		}
		here, err := runHere(ctx, c.Program, c.Args, stdout, stderr)
		return statusOf(here, err, stderr)
	}
	defer m.Close()
	sum, err := fileSum(m.Program)
	if err != nil {
		return statusOf(side{}, err, stderr)
	}
	own := stdout
	if quiet {
		own = io.Discard
	}
	here, err := runHere(ctx, m.Program, c.Args, own, stderr)
	if err != nil || ctx.Err() != nil {
		return statusOf(here, err, stderr)
	}
	fmt.Fprintf(stdout, "\nand the same file on the kernel, in QEMU (%s):\n", how(c))
	r, err := m.Run(ctx)
	there := side{status: r.Status, text: machine.ProgramOutput(r.Console)}
	if err != nil {
		stdout.Write(r.Console)
	}
	if after, e := fileSum(m.Program); err == nil && (e != nil || after != sum) {
		err = fmt.Errorf("%s changed meanwhile", m.Program)
	}
	show(stdout, sum, c, here, there, r, err)
	return here.status
}

// statusOf is what to end with when there is nothing to compare.
func statusOf(s side, err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintln(stderr, "boot:", err)
		return exitFailed
	}
	return s.status
}

// side is what one run of the program left.
type side struct {
	status      int
	wall        time.Duration
	text        string // standard output, there with the errors in between
	diagnostics string // standard error, here
}

// runHere runs the program on this machine.
func runHere(ctx context.Context, program string, args []string, stdout, stderr io.Writer) (s side, err error) {
	var out, diag bytes.Buffer
	if !strings.Contains(program, "/") {
		program = "./" + program
	}
	cmd := exec.CommandContext(ctx, program, args...)
	var mu sync.Mutex // stdout and stderr may be one
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, locked{stdout, &mu}), io.MultiWriter(&diag, locked{stderr, &mu})
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	begin := time.Now()
	err = cmd.Run()
	s = side{wall: time.Since(begin), text: out.String(), diagnostics: diag.String()}
	var exit *exec.ExitError
	if err != nil && cmd.ProcessState == nil || err != nil && ctx.Err() == nil && !errors.As(err, &exit) {
		return s, err
	}
	s.status = cmd.ProcessState.ExitCode()
	if wait, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		s.status = 128 + int(wait.Signal())
	}
	return s, nil
}

// how says what the machine is.
func how(c machine.Config) string {
	if c.Accel == "kvm" {
		return "kvm"
	}
	return "tcg: every instruction is emulated"
}

type locked struct {
	io.Writer
	mu *sync.Mutex
}

func (w locked) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Writer.Write(p)
}

func fileSum(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// compared are the lines of an output that must be the same wherever a program
// runs: without what it measured and what its processor was.
func compared(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "RESULT ") {
			continue
		}
		var v map[string]any
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &v) == nil {
			for key := range v {
				if measuredKey.MatchString(key) {
					delete(v, key)
				}
			}
			b, _ := json.Marshal(v)
			line = string(b)
		}
		lines = append(lines, measured.ReplaceAllString(line, "$1=…"))
	}
	return lines
}

var (
	measured    = regexp.MustCompile(`\b(seconds)=[0-9.]+`)
	measuredKey = regexp.MustCompile(`_ms$|_per_second$|_bytes$|^seconds$|^threads$|^isa$`)
)

// differences compares both outputs and returns the first line that differs of
// each, "" for none. On a console what a program writes to standard error stands
// between its output.
func differences(here, there side) (a, b string) {
	want, got := compared(here.text), compared(there.text)
	for _, line := range compared(here.diagnostics) {
		if i := slices.Index(got, line); i >= 0 && !slices.Contains(want, line) {
			got = slices.Delete(got, i, i+1)
		}
	}
	got = slices.DeleteFunc(got, isFigures)
	want = slices.DeleteFunc(want, isFigures)
	for i := range max(len(want), len(got)) {
		a, b = "(no line)", "(no line)"
		if i < len(want) {
			a = want[i]
		}
		if i < len(got) {
			b = got[i]
		}
		if a != b {
			return a, b
		}
	}
	return "", ""
}

// isFigures tells infer's line of figures, which goes to standard error.
func isFigures(line string) bool {
	return strings.HasPrefix(line, "infer: ") && strings.Contains(line, " tokens/s")
}
