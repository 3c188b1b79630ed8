package rules

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// examples are the programs of the folder examples and how each is tried.
var examples = map[string]func(t *testing.T, program, model string){
	"generate": tryGenerate,
	"chat":     tryChat,
	"serve":    tryServe,
	"agent":    tryAgent,
	"extract":  tryExtract,
	"mcp":      tryMCP,
}

// Every example is a module of its own that uses public packages only, builds
// without cgo, and does with a tiny model what it says.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs: skipped in short mode")
	}
	entries, err := os.ReadDir(filepath.Join(root(t), "examples"))
	if err != nil {
		t.Fatal(err)
	}
	model := testmodel.Tiny(t, filepath.Join(t.TempDir(), "model"), testmodel.TinyOptions{Context: 2048})
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			try := examples[e.Name()]
			if try == nil {
				t.Fatalf("examples/%s is not tried: add it to the list", e.Name())
			}
			dir := filepath.Join(root(t), "examples", e.Name())
			for _, imported := range strings.Fields(run(t, dir, pureReadOnly, "go", "list", "-f", `{{join .Imports "\n"}}`, "./...")) {
				if strings.HasPrefix(imported, module+"/") && !strings.HasPrefix(imported, module+"/pkg/") {
					t.Errorf("it imports %s, which is not public", imported)
				}
			}
			program := filepath.Join(t.TempDir(), e.Name())
			run(t, dir, pureReadOnly, "go", "build", "-o", program, ".")
			try(t, program, model)
		})
	}
}

// pureReadOnly builds without cgo from what the module's go.mod says.
var pureReadOnly = []string{"CGO_ENABLED=0", "GOPROXY=off", "GOWORK=off"}

func tryGenerate(t *testing.T, program, model string) {
	out := run(t, "", nil, program, model, "Hello")
	if !strings.HasPrefix(out, "Hello") || !strings.Contains(out, " tokens, ") {
		t.Errorf("it printed %q", out)
	}
	if out, err := exec.Command(program, filepath.Join(model, "absent"), "Hello").CombinedOutput(); err == nil || !strings.Contains(string(out), "absent") {
		t.Errorf("a model that is absent: %v, %q", err, out)
	}
}

func tryChat(t *testing.T, program, model string) {
	cmd := exec.Command(program, model)
	cmd.Stdin = strings.NewReader("Hello\nAnd <|im_end|> more\n")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "> ") < 3 {
		t.Errorf("%v, it printed %q", err, out)
	}
}

// The built-in model does what these are made for.
func tryAgent(t *testing.T, program, _ string) {
	for task, want := range map[string]string{
		"What is in shopping.txt?":       `1. read_file {"path":"shopping.txt"} → "21 bytes`,
		"How many bytes does x.txt have": "error: there is no note",
	} {
		out, err := exec.Command(program, task).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, it printed %q, expected %q", task, err, out, want)
		}
	}
}

func tryExtract(t *testing.T, program, model string) {
	for _, args := range [][]string{nil, {"-model", model, "Two lamps for Bob"}} {
		var order struct {
			Customer, Item *string
			Quantity       int
			Urgent         *bool
		}
		out := run(t, "", nil, program, args...)
		d := json.NewDecoder(strings.NewReader(out))
		d.DisallowUnknownFields()
		if err := d.Decode(&order); err != nil || order.Customer == nil || order.Item == nil || order.Urgent == nil || order.Quantity < 1 || order.Quantity > 1000 {
			t.Errorf("%v: %v, it printed %q", args, err, out)
		}
	}
}

func tryMCP(t *testing.T, program, _ string) {
	out := run(t, "", nil, program)
	for _, want := range []string{"tool: read_file\n", "left out: ", `tool "book_berth": keyword "not"`, "high 06:10 and 18:35"} {
		if !strings.Contains(out, want) {
			t.Errorf("it printed %q, expected %q in it", out, want)
		}
	}
}

func tryServe(t *testing.T, program, model string) {
	cmd := exec.Command(program, model, "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + strings.TrimSpace(strings.TrimPrefix(line, "listening on ")) + "/generate"
	for body, want := range map[string]int{
		`{"prompt":"Hello","max_tokens":8}`:  http.StatusOK,
		`{"prompt":"","max_tokens":8}`:       http.StatusBadRequest,
		`{"prompt":`:                         http.StatusBadRequest,
		`{"prompt":"Hi","temperature":-100}`: http.StatusBadRequest,
	} {
		response, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != want || len(text) == 0 {
			t.Errorf("%s: %v, status %d, want %d: %q", body, err, response.StatusCode, want, text)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after an interrupt: %v", err)
	}
}
