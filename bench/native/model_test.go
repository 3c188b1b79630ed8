package native

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testLibrary is a library of a checkpoint that holds nothing, with a command in
// the place of infer.
func testLibrary(t *testing.T, script string) *library {
	t.Helper()
	models := t.TempDir()
	if err := os.MkdirAll(filepath.Join(models, "f32"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(models, "f32", "model.safetensors"), []byte("weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	infer := filepath.Join(models, "infer")
	if err := os.WriteFile(infer, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	tools, err := newToolbox(t.TempDir(), "", func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLibrary(models, infer, tools)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLibraryConverts(t *testing.T) {
	shell(t, "")
	// Called as: infer quantize -q FORM -m FROM -o TO; a second call fails.
	l := testLibrary(t, `[ "$1 $2 $3 $4 $6" = "quantize -q q4b32 -m -o" ] && [ -d "$5" ] && mkdir "$7" && mv "$0" "$0.done"`)
	for range 2 {
		path, err := l.path(t.Context(), "q4b32")
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() || filepath.Base(path) != "q4b32" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if path, err := l.path(t.Context(), "f32"); err != nil || path != filepath.Join(l.ours, "f32") {
		t.Errorf("%s (%v), want the folder that is there", path, err)
	}
}

func TestLibraryRemembersFailure(t *testing.T) {
	shell(t, "")
	l := testLibrary(t, `echo x >>"$0.calls"; mkdir "$7"; echo "no room" >&2; exit 1`)
	for range 2 {
		if path, err := l.path(t.Context(), "q4b32"); err == nil || !strings.Contains(err.Error(), "no room") {
			t.Errorf("%s, error %v", path, err)
		}
	}
	if calls, _ := os.ReadFile(l.infer + ".calls"); string(calls) != "x\n" {
		t.Errorf("converted %d times, want once", len(calls)/2)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "q4b32")); err == nil {
		t.Error("what was half made counts as made")
	}
	if _, err := newLibrary(t.TempDir(), "", l.tools); err == nil || !strings.Contains(err.Error(), "./test setup") {
		t.Errorf("no checkpoint: %v", err)
	}
}

// An engine that cannot be had is in the rows, with the reason; the others are
// measured.
func TestSetUpNamesReasons(t *testing.T) {
	l := testLibrary(t, "exit 1")
	r := &rig{options: &options{models: l.ours}, stderr: &strings.Builder{}, taker: &taker{tools: l.tools, library: l}}
	s := open(t, filepath.Join(t.TempDir(), "raw.jsonl"), testHeader, false)
	items := []item{
		{config: config{Engine: "mistral.rs", Form: "Q4_1", Class: class4, Threads: 1}, Task: taskPeak},
		{config: config{Engine: "PyTorch eager", Form: "f32", Class: class32, Threads: 1}, Task: taskPeak},
		{config: config{Engine: ours, Form: "q4b32", Class: class4, Threads: 1}, Task: taskPeak},
		{config: config{Engine: ours, Form: "q4b32", Class: class4, Threads: 2}, Task: taskPeak},
	}
	left, err := r.setUp(t.Context(), s, items)
	if err != nil || len(left) != 0 || len(s.samples) != 4 {
		t.Fatalf("%d left, %d rows (%v)", len(left), len(s.samples), err)
	}
	for i, want := range []string{"left out", "no python3", "exit status 1", "exit status 1"} {
		if got := s.samples[i]; got.item != items[i] || !strings.Contains(got.Error, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	if err := os.Mkdir(filepath.Join(l.ours, "q4b32"), 0o755); err != nil {
		t.Fatal(err)
	}
	delete(l.refused, "q4b32")
	if left, err = r.setUp(t.Context(), s, items[1:3]); err != nil || len(left) != 1 || left[0] != items[2] {
		t.Errorf("left %v (%v), want the form that is there now", left, err)
	}
}
