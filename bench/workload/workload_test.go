package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestEveryWorkload runs the command natively, once through each workload: every
// one gives a positive sample in its unit, and nothing is skipped.
func TestEveryWorkload(t *testing.T) {
	binary := t.TempDir() + "/workload"
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "-n", "1").CombinedOutput()
	if err != nil {
		t.Fatalf("workload -n 1: %v\n%s", err, out)
	}
	text := string(out)
	if !strings.HasSuffix(text, "BENCH DONE\n") {
		t.Errorf("output does not end with BENCH DONE:\n%s", text)
	}
	for _, w := range workloads() {
		// A sleep may end on the nanosecond; everything else takes time.
		line := regexp.MustCompile(`(?m)^RESULT ` + w.name + ` \d+\.\d{4} ` + regexp.QuoteMeta(w.unit) + `$`)
		if got := len(line.FindAllString(text, -1)); got != 1 {
			t.Errorf("%s: %d result lines, want 1\n%s", w.name, got, text)
		}
	}
}

func TestChoose(t *testing.T) {
	got, err := choose([]string{"pipe", "getppid"})
	if err != nil || len(got) != 2 || got[0].name != "pipe" || got[1].name != "getppid" {
		t.Errorf("choose(pipe, getppid) = %v, %v", got, err)
	}
	if _, err := choose([]string{"no-such"}); err == nil || !strings.Contains(err.Error(), `"no-such"`) {
		t.Errorf("choose(no-such): error %v, want one that names it", err)
	}
}
