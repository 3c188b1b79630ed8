package machine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/kernel/image"
	"golang.org/x/sys/unix"
)

const module = "github.com/leveret-os/leveret"

// goBuild builds a package as a static program of the machine.
func goBuild(ctx context.Context, dir, out, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("machine: go build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// moduleRoot returns the folder of this module's source, in which the caller
// must be.
func moduleRoot(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("machine: go list: %w", err)
	}
	path, dir, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if path != module {
		return "", fmt.Errorf("machine: the module here is %s, want %s", path, module)
	}
	return dir, nil
}

// Build builds core, services and the image of both from the source in the
// current folder's module, where they are stale, and returns the image's path.
// It is in the user's cache; its name is that of its content, so that a later
// Build does not pull it from under a machine that starts.
func Build(ctx context.Context) (string, error) { return build(ctx, "") }

// BuildTo is Build, with the image copied to a file, which no later Build
// changes or removes: for many machines that are to run the same kernel.
func BuildTo(ctx context.Context, file string) error {
	built, err := Build(ctx)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	return nil
}

// build is Build of a source that an overlay, if any, changes.
func build(ctx context.Context, overlay string) (string, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("machine: %w", err)
	}
	dir := filepath.Join(cache, "leveret", "kernel", fmt.Sprintf("%x", sha256.Sum256([]byte(root)))[:12])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("machine: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	return buildIn(ctx, root, dir, overlay)
}

func buildIn(ctx context.Context, root, dir, overlay string) (string, error) {
	over := "-overlay=" + overlay
	core, services := filepath.Join(dir, "core.elf"), filepath.Join(dir, "services.elf")
	if err := goBuild(ctx, root, core, "./kernel/core", append([]string{over}, CoreFlags...)...); err != nil {
		return "", err
	}
	if err := goBuild(ctx, root, services, "./kernel/services", over, "-ldflags=-s -w -T -0x6ffff000"); err != nil {
		return "", err
	}
	linked, err := os.ReadFile(core)
	if err != nil {
		return "", fmt.Errorf("machine: %w", err)
	}
	program, err := os.ReadFile(services)
	if err != nil {
		return "", fmt.Errorf("machine: %w", err)
	}
	data, _, err := image.Kernel(bytes.NewReader(linked), program)
	if err != nil {
		return "", err
	}
	kernel := filepath.Join(dir, fmt.Sprintf("kernel-%x", sha256.Sum256(data))[:len("kernel-")+16])
	if _, err := os.Stat(kernel); err == nil {
		return kernel, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("machine: %w", err)
	}
	tidy(dir)
	if err := errors.Join(os.WriteFile(kernel+".new", data, 0o644), os.Rename(kernel+".new", kernel)); err != nil {
		return "", fmt.Errorf("machine: %w", err)
	}
	return kernel, nil
}

// CoreFlags are the options of go build that kernel/core is built with: it is
// linked at 0xffffffff80200000 and has no write barriers.
var CoreFlags = []string{
	"-gcflags=" + module + "/kernel/core/...=-wb=false",
	"-ldflags=-E main.entry64 -T -0x7fdff000",
}

// tidy removes all but the last few images of a folder.
func tidy(dir string) {
	const keep = 8
	old, _ := filepath.Glob(filepath.Join(dir, "kernel-*"))
	for len(old) > keep {
		oldest := 0
		for i := range old {
			if modTime(old[i]) < modTime(old[oldest]) {
				oldest = i
			}
		}
		os.Remove(old[oldest])
		old = append(old[:oldest], old[oldest+1:]...)
	}
}

func modTime(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// lock waits for the only use of a folder.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("machine: %s: %w", file, err)
	}
	return func() { f.Close() }, nil
}
