package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/agent"
)

// outcome is what one call of the program left behind.
type outcome struct {
	status         int
	stdout, stderr string
}

func invoke(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	status := run(ctx, args, &stdout, &stderr)
	return outcome{status, stdout.String(), stderr.String()}
}

// randomModel writes a random model and a folder with a file.
func randomModel(t *testing.T) (model, root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "notes.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return testmodel.Tiny(t, filepath.Join(t.TempDir(), "model"), testmodel.TinyOptions{Context: 8000}), root
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "no task"},
		{[]string{"-m", "x"}, "no task"},
		{[]string{"-m", "x", " "}, "no task"},
		{[]string{"-m", "", "task"}, "no model"},
		{[]string{"-m", "x", "--no-such", "task"}, "unknown flag"},
		{[]string{"-m", "x", "--max-steps", "-1", "task"}, "--max-steps"},
		{[]string{"-m", "x", "--max-steps", "many", "task"}, "max-steps"},
		{[]string{"-m", "x", "-t", "-1", "task"}, "-t -1"},
		{[]string{"-m", "x", "-c", "-1", "task"}, "-c -1"},
		{[]string{"-m", "x", "--timeout", "-1s", "task"}, "--timeout"},
	} {
		o := invoke(context.Background(), c.args...)
		if o.status != statusUsage || !strings.Contains(o.stderr, c.says) || strings.Count(o.stderr, "\n") != 1 || o.stdout != "" {
			t.Errorf("%q: %+v", c.args, o)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"-m", "x", "--help"}} {
		if o := invoke(context.Background(), args...); o.status != 0 || o.stdout != help {
			t.Errorf("%q: %+v", args, o)
		}
	}
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if o := invoke(context.Background(), args...); o.status != 0 || !strings.HasPrefix(o.stdout, "agent ") || !strings.Contains(o.stdout, runtime.Version()) {
			t.Errorf("%q: %+v", args, o)
		}
	}
}

// Each flag of the help can be given, and each that can be given is there.
func TestHelpIsComplete(t *testing.T) {
	o, err := parse([]string{"-m", "a", "--root", "b", "--read-only", "--allow", "h", "--allow", "i", "--mcp", "c", "--max-steps", "3", "--timeout", "2s", "-c", "5", "-t", "6", "--json", "--report", "do", "--", "-it"})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", *o); got != `{model:a root:b task:do -it readOnly:true allow:[h i] mcp:[c] maxSteps:3 timeout:2000000000 context:5 threads:6 json:true report:true version:false}` {
		t.Error(got)
	}
	for _, flag := range regexp.MustCompile(`--?[a-z][a-z-]*`).FindAllString(help, -1) {
		if _, err := parse([]string{flag, "1"}); err != nil && strings.Contains(err.Error(), "unknown flag") {
			t.Errorf("%s is in the help alone", flag)
		}
	}
}

func TestErrors(t *testing.T) {
	model, root := randomModel(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-m", filepath.Join(root, "absent"), "task"}, "absent"},
		{[]string{"-m", model, "--root", filepath.Join(root, "absent"), "task"}, "root folder"},
		{[]string{"-m", model, "--allow", "http://x", "task"}, "allow-list"},
		{[]string{"-m", model, "--mcp", "/no/such/server", "task"}, "--mcp"},
		{[]string{"-m", model, "--mcp", " ", "task"}, "no command"},
		{[]string{"-m", model, "--mcp", "http://127.0.0.1:1/", "task"}, "--mcp"},
		{[]string{"-m", model, "-c", "100000", "task"}, "100000"},
	} {
		o := invoke(context.Background(), c.args...)
		if o.status != statusError || !strings.HasPrefix(o.stderr, "agent: ") || !strings.Contains(o.stderr, c.says) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%q: %+v", c.args, o)
		}
	}
}

var (
	stepLine = regexp.MustCompile(`^AGENT step=\d+ (tool=[a-z_]+ args=\{.*\}|wrote=".*)( result=".*)?$`)
	endLine  = regexp.MustCompile(`^AGENT steps=(\d+) tokens=\d+ seconds=\d+\.\d{3} tool_calls=\d+ reason=([a-z-]+)$`)
)

// A run shows its steps, a line each, its end, and the figures for machines;
// the status is that of the reason.
func TestRun(t *testing.T) {
	model, root := randomModel(t)
	o := invoke(context.Background(), "-m", model, "--root", root, "--max-steps", "2", "--report", "read", "notes.txt", "--allow", "a.test")
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	n := 0
	for n < len(lines) && stepLine.MatchString(lines[n]) {
		n++
	}
	if n == 0 || n > 2 || n == len(lines) {
		t.Fatalf("%d steps in %s", n, o.stdout)
	}
	end := endLine.FindStringSubmatch(lines[n])
	if end == nil || end[1] != fmt.Sprint(n) || statuses[agent.Reason(end[2])] != o.status {
		t.Fatalf("status %d, end %s", o.status, lines[n])
	}
	for i, name := range []string{"steps", "tokens", "seconds", "step-ms"} {
		if !regexp.MustCompile(`^RESULT agent-` + name + ` [0-9.]+ (steps|tokens|s|ms)$`).MatchString(lines[n+1+i]) {
			t.Errorf("figure %q", lines[n+1+i])
		}
	}
	if (o.status == statusDone) != (o.stderr == "") {
		t.Errorf("status %d, stderr %q", o.status, o.stderr)
	}
}

func TestRunJSON(t *testing.T) {
	model, root := randomModel(t)
	o := invoke(context.Background(), "-m", model, "--root", root, "--max-steps", "2", "--json", "task")
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	for i, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		key := "step"
		if i == len(lines)-1 {
			key = "reason"
		}
		if _, ok := v[key]; !ok {
			t.Errorf("line %d has no %s: %s", i, key, line)
		}
	}
}

func TestInterrupted(t *testing.T) {
	model, root := randomModel(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if o := invoke(ctx, "-m", model, "--root", root, "task"); o.status != statusCancelled {
		t.Errorf("%+v", o)
	}
	if o := invoke(context.Background(), "-m", model, "--root", root, "--timeout", "1ns", "task"); o.status != statusCancelled || !strings.Contains(o.stdout, "reason=cancelled") {
		t.Errorf("%+v", o)
	}
}

// The tools are those that the flags ask for, and the current folder is not
// written to unless it is named.
func TestTools(t *testing.T) {
	for _, c := range []struct {
		o    options
		want string
	}{
		{options{}, "read_file list_dir compute"},
		{options{root: t.TempDir()}, "read_file list_dir write_file compute"},
		{options{root: t.TempDir(), readOnly: true, allow: list{"a.test"}}, "read_file list_dir compute http_get"},
	} {
		s := &session{}
		list, err := s.tools(context.Background(), &c.o)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list {
			names = append(names, tool.Name())
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("tools %s, want %s", got, c.want)
		}
		s.close()
	}
}

// Whatever a model or a tool writes, a step is a line, and a terminal obeys
// none of it.
func TestWriting(t *testing.T) {
	var b bytes.Buffer
	s := &agent.Step{N: 1, Call: agent.Call{Name: "read_file", Arguments: json.RawMessage("{\n\"path\":\"\u009b31m\"}")}, Result: "a\nb\x1b[31m" + strings.Repeat("é", 1000)}
	if err := writeStep(&b, s, false); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, `AGENT step=1 tool=read_file args={ "path":"?31m"} result="a\nb\u001b[31m`) || strings.Count(got, "\n") != 1 || !strings.Contains(got, "(2008 bytes)") {
		t.Errorf("%q", got)
	}
	b.Reset()
	answer := "red \x1b[31m\nRESULT"
	if err := writeEnd(&b, &totals{Steps: 1, Reason: agent.Done, Answer: &answer}, &options{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasSuffix(got, "reason=done\nred ?[31m\nRESULT\n") {
		t.Errorf("%q", got)
	}
	b.Reset()
	if err := writeStep(&b, &agent.Step{N: 2, End: agent.ContextFull}, false); err != nil || b.Len() != 0 {
		t.Errorf("%v, %q", err, b.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Who cannot be told of the steps is not served to the end.
func TestBrokenOutput(t *testing.T) {
	model, root := randomModel(t)
	var stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(context.Background(), []string{"-m", model, "--root", root, "task"}, broken{}, &stderr)
	}()
	select {
	case status := <-done:
		if status != statusError {
			t.Errorf("status %d, %s", status, &stderr)
		}
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
	}
}

// Every reason has a status of its own, as the help says.
func TestStatuses(t *testing.T) {
	seen := map[int]agent.Reason{}
	for reason, status := range statuses {
		if other, taken := seen[status]; taken {
			t.Errorf("%s and %s have status %d", reason, other, status)
		}
		seen[status] = reason
	}
	if len(statuses) != 7 || statuses[agent.ReasonOf(nil)] != 0 || statuses[agent.ReasonOf(errors.New("x"))] != statusError {
		t.Errorf("%v", statuses)
	}
}

// With the real model on its own folder a run has a typed end.
func TestRealModel(t *testing.T) {
	dir := testmodel.Dir(t, "q8b32")
	o := invoke(context.Background(), "-m", dir, "--root", dir, "--read-only", "--max-steps", "4", "-c", "4096", "read /vocab.json and report its size")
	t.Logf("%s%s", o.stdout, o.stderr)
	lines := strings.Split(o.stdout, "\n")
	n := 0
	for n < len(lines) && stepLine.MatchString(lines[n]) {
		n++
	}
	if n == 0 || n == len(lines) || endLine.FindStringSubmatch(lines[n]) == nil || o.status == statusError {
		t.Errorf("status %d", o.status)
	}
}
