package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Name, Dir     string
	TestGoFiles, XTestGoFiles []string
}

// environment is how the tests are built: as static programs of the machine.
func environment() []string {
	return append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=")
}

// list returns the packages that match the patterns and have tests.
func list(ctx context.Context, patterns []string) ([]goPackage, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Name,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...)
	cmd.Env = environment()
	var failure bytes.Buffer
	cmd.Stderr = &failure
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &failure)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no package that matches %s has tests", strings.Join(patterns, " "))
	}
	return all, nil
}

// start is the file that is added to a package's tests: it makes the machine
// what a test finds on Linux, and goes where go test starts a program. A
// kernel that mounts nothing by itself gets /proc, /dev, /sys and its loopback
// interface.
const start = `package %s_test

import (
	"syscall"
	"unsafe"
)

func init() {
	const folder = %q
	if err := syscall.Chdir(folder); err != nil {
		panic("gotests: cannot go to " + folder + ": " + err.Error())
	}
	syscall.Umask(0)
	syscall.Mkdir("/tmp", 0o1777)
	syscall.Umask(0o22)
	var s syscall.Stat_t
	if syscall.Stat("/proc/self", &s) == nil {
		return
	}
	for _, m := range [][2]string{{"proc", "/proc"}, {"devtmpfs", "/dev"}, {"sysfs", "/sys"}} {
		syscall.Mkdir(m[1], 0o755)
		syscall.Mount(m[0], m[1], m[0], 0, "")
	}
	if fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0); err == nil {
		up := [40]byte{0: 'l', 1: 'o', 16: syscall.IFF_UP}
		syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&up)))
		syscall.Close(fd)
	}
}
`

// build compiles a package's tests into dir and returns the program.
func (p goPackage) build(ctx context.Context, dir string) (string, error) {
	added := filepath.Join(dir, "start.go")
	if err := os.WriteFile(added, fmt.Appendf(nil, start, p.Name, p.Dir), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(p.Dir, "gotests_start_test.go"): added},
	})
	if err != nil {
		return "", err
	}
	replace := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(replace, overlay, 0o644); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "program.test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", replace, "-o", program, p.ImportPath)
	cmd.Env = environment()
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c: %w\n%s", err, text)
	}
	return program, nil
}
