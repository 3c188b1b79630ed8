package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDifferences(t *testing.T) {
	const agent = "AGENT step=1 tool=done\nAGENT steps=1 tokens=3 seconds=0.1 reason=done\nyes\nRESULT agent-seconds 0.1 s\n"
	for name, c := range map[string]struct {
		here, diagnostics, there string
		same                     bool
	}{
		"times":            {agent, "", strings.ReplaceAll(agent, "0.1", "9.75"), true},
		"line ends":        {"a\n", "", "a\r\n", true},
		"standard error":   {"a\nb\n", "oops\n", "a\noops\nb\n", true},
		"infer's figures":  {"a\n", "infer: 3 tokens (length), 5.1 tokens/s\n", "a\ninfer: 3 tokens (length), 0.2 tokens/s\n", true},
		"measured in JSON": {`{"tokens":[1],"load_ms":3,"isa":"avx512","threads":2}`, "", `{"tokens":[1],"load_ms":9,"isa":"avx2","threads":1}`, true},
		"tokens":           {`{"tokens":[1],"load_ms":3}`, "", `{"tokens":[2],"load_ms":3}`, false},
		"the answer":       {agent, "", strings.ReplaceAll(agent, "yes", "no"), false},
		"a line less":      {"a\nb\n", "", "a\n", false},
		"a line more":      {"a\n", "", "a\nb\n", false},
		"an unknown error": {"a\n", "", "a\noops\n", false},
	} {
		a, b := differences(side{text: c.here, diagnostics: c.diagnostics}, side{text: c.there})
		if (a == b) != c.same {
			t.Errorf("%s: %q, %q", name, a, b)
		}
	}
}

func TestFigures(t *testing.T) {
	f := figures("AGENT steps=3 tokens=28 seconds=0.025 tool_calls=3 reason=done\r\n10080\r\nRESULT agent-steps 3 steps\r\n")
	if f["steps"] != "3" || f["tokens"] != "28" || f["reason"] != "done" || f["answer"] != "10080" {
		t.Error(f)
	}
	f = figures("{\"type\":\"token\",\"id\":7}\n{\"type\":\"result\",\"tokens\":[7,8],\"text\":\" Paris.\",\"logits_sha256\":[\"aa\",\"bb\"]}\n")
	if f["tokens"] != "[7,8]" || f["logits_sha256"] != "2, the last bb…" || f["answer"] != "Paris." {
		t.Error(f)
	}
	if f := figures("hello\n"); len(f) != 0 {
		t.Error(f)
	}
}

func TestCompareTrees(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a/x": "1", "b/x": "1", "c/x": "2", "d/x": "1", "d/y": "", "e/z": "1"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for other, want := range map[string]string{"b": "the same, byte for byte", "c": "DIFFERENT: x", "d": "DIFFERENT: y more", "e": "DIFFERENT: no x"} {
		if n, got := compareTrees(filepath.Join(dir, "a"), filepath.Join(dir, other)); n != 1 || got != want {
			t.Errorf("%s: %d, %q", other, n, got)
		}
	}
	if _, got := compareTrees(filepath.Join(dir, "a"), filepath.Join(dir, "absent")); !strings.Contains(got, "absent") {
		t.Error(got)
	}
}
