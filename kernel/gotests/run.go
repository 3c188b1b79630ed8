package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/kernel/machine"
)

// A runner boots tests.
type runner struct {
	ctx        context.Context
	machine    machine.Config
	exceptions []exception
	run, logs  string
	short      bool
	excepted   bool // only the exceptions, and those
}

// test compiles and boots the tests of a package.
func (r *runner) test(p goPackage) (result, error) {
	dir, err := os.MkdirTemp("", "gotests")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	c := r.machine
	if c.Program, err = p.build(r.ctx, dir); err != nil {
		return result{}, err
	}
	if c.Files, err = p.files(dir); err != nil {
		return result{}, err
	}
	c.Append = strings.TrimSpace(c.Append + " quiet HOME=/root PATH=/bin USER=root rdinit=/test/program.test")
	c.Files["/test/program.test"] = c.Program
	c.Args = []string{"-test.v", "-test.paniconexit0", fmt.Sprintf("-test.timeout=%v", c.Timeout)}
	if r.short || p.ImportPath == "runtime" {
		c.Args = append(c.Args, "-test.short")
	}
	if r.run != "" {
		c.Args = append(c.Args, "-test.run="+r.run)
	}
	excepted := 0
	switch these, n := pattern(r.exceptions, p.ImportPath); {
	case r.excepted:
		c.Args = append(c.Args, "-test.run="+these)
	case n > 0:
		c.Args, excepted = append(c.Args, "-test.skip="+these), n
	}
	ended, err := machine.Run(r.ctx, c)
	if r.logs != "" {
		name := strings.ReplaceAll(p.ImportPath, "/", "_") + fmt.Sprintf("-%d.log", max(c.CPUs, 1))
		if err := errors.Join(os.MkdirAll(r.logs, 0o755), os.WriteFile(filepath.Join(r.logs, name), ended.Console, 0o644)); err != nil {
			return result{}, err
		}
	}
	got := read(string(ended.Console))
	got.Excepted, got.Wall = excepted, ended.Wall
	fmt.Print(got.Report)
	switch {
	case err != nil:
		return got, fmt.Errorf("%w; %v\n%s", err, got, tail(ended.Console))
	case ended.Status != 0 && len(got.Failed) == 0:
		return got, fmt.Errorf("status %d; %v\n%s", ended.Status, got, tail(ended.Console))
	case got.Unfinished != "":
		fmt.Print(tail(ended.Console))
	}
	return got, nil
}

// files are what the tests find on the machine: the package's folder, where it
// is here, time zones, and the users that some tests look for.
func (p goPackage) files(dir string) (map[string]string, error) {
	root := strings.TrimSuffix(p.Dir, filepath.FromSlash("/src/"+p.ImportPath))
	files := map[string]string{p.Dir: p.Dir}
	if family, _, inside := strings.Cut(p.ImportPath, "/"); inside {
		// Some look at what lies beside their package.
		parent := filepath.Join(root, "src", family)
		files = map[string]string{parent: parent}
	}
	zones := filepath.Join(root, "lib", "time")
	if _, err := os.Stat(zones); err == nil && root != p.Dir {
		files[zones] = zones
	}
	// And folders that a system has: one test reads /usr/bin.
	bin := filepath.Join(dir, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "true"), nil, 0o644)); err != nil {
		return nil, err
	}
	files["/usr/bin"], files["/root"] = bin, bin
	if shell, err := exec.LookPath("busybox"); err == nil {
		files["/bin/pwd"] = shell
	}
	for name, text := range map[string]string{
		"passwd": "root:x:0:0:root:/root:/bin/sh\n",
		"group":  "root:x:0:\n",
		"hosts":  "127.0.0.1 localhost\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
		files["/etc/"+name] = file
	}
	return files, nil
}

// tail returns the last lines of a console.
func tail(console []byte) string {
	lines := strings.Split(strings.ReplaceAll(string(console), "\r\n", "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n") + "\n"
}
