package machine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/kernel/machine"
)

// A fault in services is a panic of Go's that ends one call, with EIO and a
// line; all handlers go on, and so does the program.
func TestServicesFault(t *testing.T) {
	// 258 is mkdirat, on x86_64.
	for _, cpus := range []int{1, 4} {
		r, console, err := run(t, machine.Config{Program: "../testdata/folders", CPUs: cpus, Append: "leveret.fault=258"})
		if err != nil || r.Status != 0 {
			t.Fatalf("status %d, %v\n%s", r.Status, err, console)
		}
		if n := strings.Count(console, ": input/output error\n"); n != 10 {
			t.Errorf("%d calls ended with EIO, want 10\n%s", n, console)
		}
		if n := strings.Count(console, "services: call 258 of process 1: panic: runtime error: invalid memory address or nil pointer dereference\n"); n != 10 {
			t.Errorf("%d lines of panics, want 10\n%s", n, console)
		}
		if !strings.Contains(console, "\n<nil>\n") {
			t.Errorf("the next call failed\n%s", console)
		}
	}
}

// A program that cannot be started is a boot that failed, with what is wrong.
func TestNoInit(t *testing.T) {
	for program, says := range map[string]string{
		"/absent": "services: /absent: no such file or directory\n", "/text": "*** core: the program cannot be loaded: it is no ELF file",
	} {
		_, console, err := run(t, machine.Config{Append: "quiet rdinit=" + program, Files: map[string]string{"text": "fault_test.go"}})
		if !errors.Is(err, machine.ErrBoot) || !strings.Contains(console, says) {
			t.Errorf("%s: %v, want ErrBoot and %q\n%s", program, err, says, console)
		}
	}
}
