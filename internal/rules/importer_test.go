package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// importer is a program in a module of its own that uses the SDK.
const importer = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/leveret-os/leveret/pkg/llama"
)

func main() {
	model, err := llama.Open(os.Args[1], nil)
	if err != nil {
		panic(err)
	}
	defer model.Close()
	session, err := model.NewSession(nil)
	if err != nil {
		panic(err)
	}
	defer session.Close()
	prompt := model.Tokenizer().Encode("Hello", nil)
	n := 0
	for _, err := range session.Generate(context.Background(), prompt, &llama.GenerateOptions{MaxTokens: 4, IgnoreEOS: true}) {
		if err != nil {
			panic(err)
		}
		n++
	}
	fmt.Println("tokens", n)
}
`

// pure builds without cgo and fetches nothing: what the main module needs is
// all that an importer needs.
var pure = []string{"CGO_ENABLED=0", "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off"}

// A module of one's own imports pkg/llama, builds without cgo, and runs.
func TestImportFromAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program: skipped in short mode")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	toolchain := regexp.MustCompile(`(?m)^go .*$`).FindString(read(t, "go.mod"))
	write("go.mod", "module example.com/importer\n\n"+toolchain+"\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+root(t)+"\n")
	write("go.sum", read(t, "go.sum"))
	write("main.go", importer)
	run(t, dir, pure, "go", "build", "-o", "importer", ".")
	model := testmodel.Tiny(t, filepath.Join(dir, "model"), testmodel.TinyOptions{})
	if out := run(t, dir, nil, filepath.Join(dir, "importer"), model); out != "tokens 4\n" {
		t.Errorf("the importer printed %q", out)
	}
}

// `go install` puts every command into GOBIN, and the commands start.
func TestInstallCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the commands: skipped in short mode")
	}
	bin := t.TempDir()
	run(t, root(t), []string{"GOBIN=" + bin, "CGO_ENABLED=0", "GOPROXY=off"}, "go", "install", "./cmd/...")
	commands, err := os.ReadDir(filepath.Join(root(t), "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		out := run(t, bin, nil, filepath.Join(bin, c.Name()), "version")
		if !strings.Contains(out, c.Name()) || !strings.Contains(out, runtime.Version()) {
			t.Errorf("%s version printed %q; it should name itself and the Go version", c.Name(), out)
		}
	}
}

// `go install github.com/…/cmd/infer@version` refuses a go.mod that replaces
// or excludes modules.
func TestGoModCanBeInstalledFrom(t *testing.T) {
	if m := regexp.MustCompile(`(?m)^\s*(replace|exclude)\b.*$`).FindString(read(t, "go.mod")); m != "" {
		t.Errorf("go.mod has %q", m)
	}
}
