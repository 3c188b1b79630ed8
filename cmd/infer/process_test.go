package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/llama"
)

// build builds the program as it is released.
func build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program: skipped in short mode")
	}
	bin := filepath.Join(t.TempDir(), "infer")
	cmd := exec.Command("go", "build", "-buildvcs=auto", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// TestInterruptedProcess sends a real SIGINT to the real program.
func TestInterruptedProcess(t *testing.T) {
	bin := build(t)
	dir := tiny(t, testmodel.TinyOptions{Context: 100_000})
	cmd := exec.Command(bin, "run", "-m", dir, "-p", "one two", "-c", "100000", "--ignore-eos", "--json")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines, last := 0, ""
	s := bufio.NewScanner(stdout)
	s.Buffer(nil, 1<<26)
	for s.Scan() {
		last = s.Text()
		if lines++; lines == 10 {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != statusInterrupted || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q, want exit status %d", err, stderr.String(), statusInterrupted)
	}
	r := lastResult(t, outcome{stdout: last + "\n"})
	if r.FinishReason != finishCancelled || len(r.Tokens) != lines-1 || len(r.LogitsSHA256) != len(r.Tokens) {
		t.Errorf("finish %s, %d tokens, %d digests after %d lines", r.FinishReason, len(r.Tokens), len(r.LogitsSHA256), lines)
	}
}

// TestMemory holds the peak of resident memory to the weights, the cache, and
// 48 MiB. The program runs as a process of its own: a test's memory is not its.
func TestMemory(t *testing.T) {
	model := testmodel.Dir(t, "bf16")
	bin := build(t)
	x, err := inspect(model)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bin, "run", "-m", model, "-p", "The capital of France is", "-n", "32", "--ignore-eos", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := lastResult(t, outcome{stdout: string(out)})
	if want := []int{7042, 30, 198, 198}; !slices.Equal(r.Tokens[:4], want) || r.FinishReason != llama.FinishLength {
		t.Errorf("tokens %v (%s), want %v first", r.Tokens, r.FinishReason, want)
	}
	positions := int64(len(r.PromptTokens) + len(r.Tokens))
	limit := x.Bytes + positions*x.Memory.BytesPerPosition + 48<<20
	t.Logf("peak %s, of which weights %s and cache %s", size(r.RSSBytes), size(x.Bytes), size(positions*x.Memory.BytesPerPosition))
	if r.RSSBytes == 0 || r.RSSBytes > limit {
		t.Errorf("peak of resident memory %d, limit %d", r.RSSBytes, limit)
	}
}
