package programs

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/internal/testenv"
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
	// files is a folder that is in the working folder, by its name; "": none.
	files string
}

// errAbsent says that this machine lacks what a program needs.
var errAbsent = errors.New("not on this machine")

var table = []program{
	{name: "Go, hello", build: goPackage("../testdata/hello")},
	{name: "Go, the runtime at work", build: goPackage("../conformance/goruntime")},
	{name: "C with glibc", build: compiler("gcc", "-O1", "-static", "testdata/hello.c", "-o"), args: []string{"one", "two words"}},
	{name: "C with musl", build: compiler("musl-gcc", "-O1", "-static", "testdata/hello.c", "-o"), args: []string{"one", "two words"}},
	{name: "C++, exceptions and threads", build: compiler("g++", "-O1", "-static", "-pthread", "testdata/hello.cc", "-o"), args: []string{"one"}},
	{name: "Rust, static-pie", build: staticPIE(compiler("rustc", "-O", "--target", "x86_64-unknown-linux-gnu", "-C", "target-feature=+crt-static", "testdata/hello.rs", "-o")), args: []string{"one"}},
	{name: "esbuild bundles", build: esbuild, args: []string{"--bundle", "--target=es2017", "--sourcemap=inline", "--color=false", "js/main.ts"}, files: "testdata/js"},
	{name: "esbuild finds an error", build: esbuild, args: []string{"--color=false", "js/broken.ts"}, files: "testdata/js"},
	{name: "busybox echo", build: found("busybox"), args: []string{"echo", "hello"}, path: "/bin/busybox"},
	{name: "busybox sha256sum", build: found("busybox"), args: []string{"sha256sum", "/bin/busybox"}, path: "/bin/busybox"},
	{name: "busybox sort", build: found("busybox"), args: []string{"sort", "-r", "js/shapes.ts"}, path: "/bin/busybox", files: "testdata/js"},
	{name: "busybox awk", build: found("busybox"), args: []string{"awk", "{ n += length($0) } END { print n, NR; exit 3 }", "js/main.ts"}, path: "/bin/busybox", files: "testdata/js"},
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

// found takes a static program that the machine has.
func found(name string) func(*testing.T, string) error {
	return func(t *testing.T, to string) error {
		path, err := exec.LookPath(name)
		if err != nil {
			return errors.Join(errAbsent, err)
		}
		if f, err := elf.Open(path); err == nil {
			dynamic := f.Section(".interp") != nil
			f.Close()
			if dynamic {
				return errors.Join(errAbsent, fmt.Errorf("%s is dynamically linked, want a static one", path))
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o755)
	}
}

// esbuild takes the program at $LEVERET_ESBUILD, which ./test fetches.
func esbuild(t *testing.T, to string) error {
	path := os.Getenv("LEVERET_ESBUILD")
	if path == "" {
		return errors.Join(errAbsent, errors.New("$LEVERET_ESBUILD is not set: ./test setup"))
	}
	return found(path)(t, to)
}

// staticPIE is build, of which the result must be position-independent and
// have no interpreter.
func staticPIE(build func(*testing.T, string) error) func(*testing.T, string) error {
	return func(t *testing.T, to string) error {
		if err := build(t, to); err != nil {
			return err
		}
		f, err := elf.Open(to)
		if err != nil {
			return err
		}
		defer f.Close()
		if f.Type != elf.ET_DYN || f.Section(".interp") != nil {
			return fmt.Errorf("%s is %v, or has an interpreter; want a static-pie", to, f.Type)
		}
		return nil
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
	if os.Getenv("LEVERET_BOOT") == "" {
		t.Skip("boots machines: LEVERET_BOOT=1 go test ./kernel/programs [-smp N]")
	}
	for _, p := range table {
		t.Run(p.name, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "program")
			err := p.build(t, binary)
			if errors.Is(err, errAbsent) {
				testenv.Absent(t, err)
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
	cmd.Dir = t.TempDir()
	if p.files != "" {
		if err := os.CopyFS(filepath.Join(cmd.Dir, filepath.Base(p.files)), os.DirFS(p.files)); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Env = []string{"HOME=/", "TERM=linux"}
	out, err := cmd.CombinedOutput() // a console has no two streams
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ending{strings.ReplaceAll(string(out), binary, p.path), cmd.ProcessState.ExitCode()}
}

func onKernel(t *testing.T, binary string, p program) ending {
	image, err := built()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{p.path: binary}
	if p.files != "" {
		files["/"+filepath.Base(p.files)] = p.files
	}
	result, err := machine.Run(context.Background(), machine.Config{
		Kernel: image, Program: binary, Files: files, Args: p.args,
		CPUs: *processors, Append: "rdinit=" + p.path, Timeout: 2 * time.Minute,
	})
	if err != nil {
		t.Errorf("%v\n%s", err, result.Console)
	}
	return ending{machine.ProgramOutput(result.Console), result.Status}
}
