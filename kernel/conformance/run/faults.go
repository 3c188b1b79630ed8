package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A fault is a mistake that a kernel could have: a file of its source in which
// old, which stands there once, is new.
type fault struct {
	program        string // that must notice
	file, old, new string
}

// faults has at least one for each program.
var faults = []fault{
	{"clocks", "kernel/core/clock.go", "unix.CLOCK_REALTIME_ALARM, unix.CLOCK_TAI:\n\t\treturn now", "unix.CLOCK_REALTIME_ALARM:\n\t\treturn now"},
	{"cputimers", "kernel/core/cputimer.go", "preferRunning = true", "preferRunning = false"},
	{"entry", "kernel/core/clone.go", "n.fs, n.gs = x86.ReadFS(), readGS()", "n.fs = x86.ReadFS()"},
	{"entry", "kernel/core/exception.go", "v == 1 && afterSyscall(c, t)", "v == 0 && afterSyscall(c, t)"},
	{"field", "kernel/core/schedcalls.go", "t.SI&7 != 0 || t.SI*8 < ncpu", "t.SI*8 < ncpu"},
	{"files", "kernel/core/files.go", "if off < 0 {", "if off < -1 {"},
	{"futex", "kernel/core/timers.go", "t.AX = eTIMEDOUT", "t.AX = eAGAIN"},
	{"goruntime", "kernel/core/timers.go", "t.timedOut = true", "t.timedOut = false"},
	{"identity", "kernel/core/cred.go", "uint64(t.process.cred.EUID)", "uint64(t.process.cred.UID)"},
	{"memory", "kernel/core/fault.go", "uint64(unix.SIGSEGV), 2 // SEGV_ACCERR", "uint64(unix.SIGSEGV), 1"},
	{"process", "kernel/core/ids.go", "t.noNewPrivs = true", "t.noNewPrivs = false"},
	{"ready", "kernel/core/pipe.go", "t.AX = ePIPE\n\t\tif done", "t.AX = eBADF\n\t\tif done"},
	{"sched", "kernel/core/schedcalls.go", "if prio < 1 || prio > runq.MaxPriority {", "if prio < 1 {"},
	{"signals", "kernel/core/sigdeliver.go", "again = !handler || restart\n", "again = !handler\n"},
	{"vector", "kernel/core/sigdeliver.go", "*(*uint64)(header) &= xfeatures & w.Features", "*(*uint64)(header) &= xfeatureX87"},
}

// errUnnoticed says that a program ran on a faulty kernel as on Linux.
var errUnnoticed = errors.New("the program does not notice a planted fault")

// checkFaults requires a program to pass on the kernel as it is, and to fail
// on each faulty one.
func (r *runner) checkFaults(name string) error {
	if err := r.check(name); err != nil {
		return err
	}
	any := false
	for _, f := range faults {
		if f.program != name {
			continue
		}
		any = true
		if err := r.checkFault(f); err != nil {
			return err
		}
	}
	if !any {
		return fmt.Errorf("no fault is planted for %s", name)
	}
	return nil
}

func (r *runner) checkFault(f fault) error {
	dir, err := os.MkdirTemp("", "leveret-fault")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := f.plant(dir)
	if err != nil {
		return err
	}
	faulty := *r
	faulty.machine.Overlay = overlay
	err = faulty.check(f.program)
	switch {
	case err == nil:
		return fmt.Errorf("%w: %s: %q for %q", errUnnoticed, f.file, f.new, f.old)
	case errors.Is(err, errOutput):
		return nil
	}
	return fmt.Errorf("%s with its fault: %w", f.file, err)
}

// plant writes the faulty file and go build's overlay of it into dir, and
// returns the latter's path.
func (f fault) plant(dir string) (string, error) {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), f.old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, want once", f.file, f.old, n)
	}
	file, overlay := filepath.Join(dir, "faulty.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), f.old, f.new, 1)), 0o644); err != nil {
		return "", err
	}
	source, err := filepath.Abs(f.file)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {source: file}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, data, 0o644)
}
