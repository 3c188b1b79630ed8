package machine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/kernel/machine"
)

// generated is what infer run --json says of a whole run that any machine must
// say alike.
type generated struct {
	Type   string   `json:"type"`
	Prompt []int    `json:"prompt_tokens"`
	Tokens []int    `json:"tokens"`
	Text   string   `json:"text"`
	Logits []string `json:"logits_sha256"`
}

func result(t *testing.T, output string) (g generated) {
	t.Helper()
	for line := range strings.Lines(output) {
		var v generated
		if json.Unmarshal([]byte(line), &v) == nil && v.Type == "result" {
			g = v
		}
	}
	if len(g.Tokens) == 0 || len(g.Logits) != len(g.Tokens) {
		t.Fatalf("%d tokens with %d sums of logits in\n%s", len(g.Tokens), len(g.Logits), output)
	}
	return g
}

// The kernel computes what this machine computes: the same file of a program,
// the same model, every token and every bit of the logits.
func TestInfer(t *testing.T) {
	cases := []struct {
		form, prompt string // form is of the real checkpoint, or tiny, the embedded model
		tokens       int
		memory       string
		cpus         []int
		long         bool
	}{
		{"tiny", "what is 12 * 7?", 8, "512M", []int{1, 4}, false},
		{"q8b32", "The capital of France is", 2, "1G", []int{4}, false},
		{"q8b32", "The capital of France is", 16, "1G", []int{1, 4}, true},
		{"bf16", "The capital of France is", 16, "1G", []int{1, 4}, true},
	}
	for _, c := range cases {
		for _, cpus := range c.cpus {
			t.Run(c.form+" -n "+strconv.Itoa(c.tokens)+" -smp "+strconv.Itoa(cpus), func(t *testing.T) {
				if os.Getenv("LEVERET_BOOT") == "" || c.long && os.Getenv("LEVERET_LONG") == "" {
					t.Skip("boots machines: ./test kernel, ./test long")
				}
				model := "../../pkg/tiny/model"
				if c.form != "tiny" {
					model = testmodel.Dir(t, c.form)
				}
				args := func(model string) []string {
					return []string{"run", "-m", model, "-p", c.prompt, "-n", strconv.Itoa(c.tokens), "--ignore-eos", "--json", "-q"}
				}
				ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
				defer cancel()
				m, err := machine.New(ctx, machine.Config{
					Program: "../../cmd/infer", Args: args("/model"), Files: map[string]string{"model": model},
					CPUs: cpus, Memory: c.memory, Append: "quiet",
				})
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				var stderr bytes.Buffer
				here := exec.CommandContext(ctx, m.Program, args(model)...)
				here.Stderr = &stderr
				out, err := here.Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, &stderr)
				}
				r, err := m.Run(ctx)
				if err != nil || r.Status != 0 {
					t.Fatalf("status %d, %v\n%s", r.Status, err, r.Console)
				}
				if diff := cmp.Diff(result(t, string(out)), result(t, string(r.Console))); diff != "" {
					t.Errorf("-here +on the kernel:\n%s", diff)
				}
			})
		}
	}
}

// The agent does its task on the kernel as here, and what it wrote comes back.
func TestAgent(t *testing.T) {
	if os.Getenv("LEVERET_BOOT") == "" {
		t.Skip("boots machines: ./test kernel")
	}
	root, back := t.TempDir(), filepath.Join(t.TempDir(), "back")
	if err := os.WriteFile(filepath.Join(root, "rent.txt"), []byte("840\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	task := []string{"--root", "/demo", `Multiply the number in rent.txt by 12 and write the result to "year.txt".`}
	r, err := machine.Run(context.Background(), machine.Config{
		Program: "../../cmd/agent", Args: task, Files: map[string]string{"demo": root}, Get: map[string]string{"demo": back},
		CPUs: 4, Timeout: 4 * time.Minute,
	})
	if err != nil || r.Status != 0 {
		t.Fatalf("status %d, %v\n%s", r.Status, err, r.Console)
	}
	for name, want := range map[string]string{"rent.txt": "840\n", "year.txt": "10080"} {
		if got, err := os.ReadFile(filepath.Join(back, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q\n%s", name, got, err, want, r.Console)
		}
	}
	if a, ok := machine.ParseAccount(r.Console); !ok || a.Faults["all"] == 0 || a.Calls["openat"].Forwarded == 0 || a.Time["elapsed"] == 0 {
		t.Errorf("account: %v, %v", a, ok)
	}
}
