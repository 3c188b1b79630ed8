package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module is the path of the repository's main module.
const module = "github.com/leveret-os/leveret"

// root returns the repository's top folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// walk calls visit for every file of the repository, by its slash-separated
// path from the top, leaving out what is built, fetched or hidden (but for
// .ci).
func walk(t testing.TB, visit func(path string)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && rel != "." && rel != ".ci"
			if hidden || rel == "bin" || rel == "release" {
				return fs.SkipDir
			}
			return nil
		}
		visit(rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// read returns the content of one of the repository's files.
func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// run runs a command in dir, with more environment, and returns its standard
// output.
func run(t testing.TB, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stderr.Bytes(), stdout.Bytes()[:min(stdout.Len(), 2000)])
	}
	return stdout.String()
}

// goPackage is what the rules need of `go list -json`.
type goPackage struct {
	ImportPath string
	Name       string
	Dir        string
	Standard   bool
	ForTest    string
	Module     *goModule
	Imports    []string
}

type goModule struct {
	Path, Version, Dir string
	Main               bool
}

// builds are the configurations that the rules are checked in.
var builds = []struct {
	name string
	env  []string
	tags string
}{
	{"amd64", []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"}, ""},
	{"amd64 noasm", []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0"}, "noasm"},
	{"arm64", []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}, ""},
}

// list returns the packages that `go list` finds for patterns, in the first
// build, or in that with the given index.
func list(t testing.TB, build int, args ...string) []goPackage {
	t.Helper()
	b := builds[build]
	args = append([]string{"list", "-json=ImportPath,Name,Dir,Standard,ForTest,Module,Imports", "-tags=" + b.tags}, args...)
	dec := json.NewDecoder(strings.NewReader(run(t, root(t), b.env, "go", args...)))
	var packages []goPackage
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
