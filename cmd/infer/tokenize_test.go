package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

func TestTokenize(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	text := "one <|im_end|> ü\n"
	o := invoke(t, "tokenize", "-m", dir, "--json", text).ok(t)
	var ids []int
	if err := json.Unmarshal([]byte(o.stdout), &ids); err != nil || len(ids) < 4 || o.stderr != "" {
		t.Fatalf("stdout %q, stderr %q", o.stdout, o.stderr)
	}
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]outcome{
		"-f FILE":        invoke(t, "tokenize", "-m", dir, "--json", "-f", file),
		"-f -":           invokeWith(t, text, "tokenize", "-m", dir, "--json", "-f", "-"),
		"standard input": invokeWith(t, text, "tokenize", "-m", dir, "--json"),
		"flags after it": invoke(t, "tokenize", text, "--json", "-m", dir),
	} {
		if got.ok(t).stdout != o.stdout {
			t.Errorf("%s gives %s, TEXT gives %s", name, got.stdout, o.stdout)
		}
	}
	special := invoke(t, "tokenize", "-m", dir, "--json", "--parse-special", text).ok(t)
	if len(special.stdout) >= len(o.stdout) {
		t.Errorf("--parse-special gives %s, without it %s", special.stdout, o.stdout)
	}
	lines := strings.Split(strings.TrimSuffix(invoke(t, "tokenize", "-m", dir, text).ok(t).stdout, "\n"), "\n")
	if len(lines) != len(ids) || !strings.HasSuffix(lines[len(lines)-1], `"\n"`) {
		t.Errorf("lines %q for %v", lines, ids)
	}
	if got := invoke(t, "tokenize", "-m", dir, "--json", "").ok(t).stdout; got != "[]\n" {
		t.Errorf("an empty text gives %q", got)
	}
}

// TestTokenizeWithoutWeights: a folder that has nothing but a tokenizer.
func TestTokenizeWithoutWeights(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	want := invoke(t, "tokenize", "-m", dir, "--json", "one").ok(t).stdout
	if err := os.Remove(filepath.Join(dir, "model.safetensors")); err != nil {
		t.Fatal(err)
	}
	if got := invoke(t, "tokenize", "-m", dir, "--json", "one").ok(t).stdout; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	invoke(t, "tokenize", "-m", t.TempDir(), "one").fails(t, statusError, "tokenizer")
}
