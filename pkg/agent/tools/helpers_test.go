package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/pkg/agent"
)

// secret is what stands in files outside of the root.
const secret = "THE SECRET OUTSIDE"

// sandbox is a root folder with a folder outside of it.
type sandbox struct {
	dir, outside string
	root         *os.Root
	tools        map[string]agent.Tool
}

// newSandbox makes a root folder with some files, and secrets around it.
func newSandbox(t testing.TB, opts *FilesOptions) *sandbox {
	t.Helper()
	top := t.TempDir()
	s := &sandbox{dir: filepath.Join(top, "box"), outside: filepath.Join(top, "outside"), tools: map[string]agent.Tool{}}
	for _, dir := range []string{"box/sub/deep", "outside", "box-sibling"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for name, text := range map[string]string{
		"box/notes.txt": "first line\nsecond\n", "box/sub/a.txt": "in sub", "box/empty": "", "box/é😀": "aé😀z",
		"outside/secret.txt": secret, "box-sibling/secret.txt": secret, "secret.txt": secret,
	} {
		must(t, os.WriteFile(filepath.Join(top, name), []byte(text), 0o644))
	}
	root, err := os.OpenRoot(s.dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	s.root = root
	for _, tool := range Files(root, opts) {
		s.tools[tool.Name()] = tool
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call calls a tool and returns its result as a model with ample room sees it.
func call(t testing.TB, tool agent.Tool, args map[string]any) (string, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	must(t, err)
	r, err := tool.Call(context.Background(), raw)
	if err != nil {
		return "", err
	}
	if r.Head == nil {
		return r.Text, nil
	}
	return r.Head(len(r.Text)) + "\n" + r.Text, nil
}

// clean fails if an error tells a model about the host.
func (s *sandbox) clean(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, bad := range []string{s.dir, s.outside, filepath.Dir(s.dir), secret, "/etc", "passwd", "openat"} {
		if strings.Contains(err.Error(), bad) {
			t.Errorf("%s: the error %q has %q in it", what, err, bad)
		}
	}
}

// untouched fails if something outside of the root has changed.
func (s *sandbox) untouched(t testing.TB) {
	t.Helper()
	for _, name := range []string{"outside/secret.txt", "box-sibling/secret.txt", "secret.txt"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(s.dir), name))
		if err != nil || string(data) != secret {
			t.Errorf("%s: %v, %q", name, err, data)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(s.dir))
	must(t, err)
	if len(entries) != 4 {
		t.Errorf("beside the root: %v", entries)
	}
	outside, err := os.ReadDir(s.outside)
	must(t, err)
	if len(outside) != 1 {
		t.Errorf("outside: %v", outside)
	}
}

func is(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, expected %v", err, target)
	}
}
