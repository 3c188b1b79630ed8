package programs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/kernel/machine"
)

// A program is built, or found, and run with arguments.
type program struct {
	name string
	// build leaves a static program at the path, or returns errAbsent.
	build func(t *testing.T, to string) error
	args  []string
	// path is where the program is and what it is called; "": /init.
	path string
}

// errAbsent says that this machine lacks what a program needs.
var errAbsent = errors.New("not on this machine")

var table = []program{
	{"Go, hello", goPackage("../testdata/hello"), nil, ""},
	{"C with glibc", compiler("gcc", "-O1", "-static", "testdata/hello.c", "-o"), []string{"one", "two words"}, ""},
	{"C with musl", compiler("musl-gcc", "-O1", "-static", "testdata/hello.c", "-o"), []string{"one", "two words"}, ""},
	{"Rust, static-pie", compiler("rustc", "-O", "-C", "target-feature=+crt-static", "testdata/hello.rs", "-o"), []string{"one"}, ""},
	{"busybox echo", found("busybox"), []string{"echo", "hello"}, "/bin/busybox"},
	{"busybox sha256sum", found("busybox"), []string{"sha256sum", "/bin/busybox"}, "/bin/busybox"},
	{"busybox wc", found("busybox"), []string{"wc", "-c", "/bin/busybox"}, "/bin/busybox"},
}

// goPackage builds a Go program.
func goPackage(path string) func(*testing.T, string) error {
	return func(t *testing.T, to string) error {
		cmd := exec.Command("go", "build", "-o", to, path)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		return run(cmd)
	}
}

// compiler calls a compiler with arguments and the path of its result.
func compiler(name string, args ...string) func(*testing.T, string) error {
	return func(t *testing.T, to string) error {
		if _, err := exec.LookPath(name); err != nil {
			return errors.Join(errAbsent, err)
		}
		return run(exec.Command(name, append(args[:len(args):len(args)], to)...))
	}
}

// found takes a program that the machine has.
func found(name string) func(*testing.T, string) error {
	return func(t *testing.T, to string) error {
		path, err := exec.LookPath(name)
		if err != nil {
			return errors.Join(errAbsent, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o755)
	}
}

func run(cmd *exec.Cmd) error {
	if text, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(text)))
	}
	return nil
}

// An ending is what a program said and how it ended.
type ending struct {
	Output string
	Status int
}

// TestPrograms runs every program natively and on the kernel.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("boots machines")
	}
	for _, p := range table {
		t.Run(p.name, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "program")
			err := p.build(t, binary)
			if errors.Is(err, errAbsent) && os.Getenv("CI") == "" {
				t.Skipf("SKIPPED: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.path == "" {
				p.path = "/init"
			}
			want := natively(t, binary, p)
			got := onKernel(t, binary, p)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-linux +kernel):\n%s", diff)
			}
		})
	}
}

// natively runs the program under the name that it has on the kernel.
func natively(t *testing.T, binary string, p program) ending {
	args := append([]string{}, p.args...)
	for i, a := range args {
		if a == p.path {
			args[i] = binary
		}
	}
	cmd := exec.Command(binary, args...)
	cmd.Args[0] = p.path
	cmd.Env = []string{"HOME=/", "TERM=linux"}
	out, err := cmd.CombinedOutput() // a console has no two streams
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ending{strings.ReplaceAll(string(out), binary, p.path), cmd.ProcessState.ExitCode()}
}

func onKernel(t *testing.T, binary string, p program) ending {
	var console bytes.Buffer
	result, err := machine.Run(context.Background(), machine.Config{
		Program: binary, Files: map[string]string{p.path: binary}, Args: p.args,
		Append: "rdinit=" + p.path, Timeout: 2 * time.Minute, Output: &console,
	})
	if err != nil {
		t.Errorf("%v\n%s", err, console.String())
	}
	return ending{machine.ProgramOutput(result.Console), result.Status}
}
