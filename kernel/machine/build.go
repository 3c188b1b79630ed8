package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/kernel/image"
)

const module = "github.com/leveret-os/leveret"

// goBuild builds a package of this module as a static program.
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

// moduleRoot returns the folder of this module's source.
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

// buildKernel builds core, services and the image into dir and returns the
// image's path and that of services.
func buildKernel(ctx context.Context, root, dir string) (kernel, services string, err error) {
	core := filepath.Join(dir, "core.elf")
	services = filepath.Join(dir, "services")
	kernel = filepath.Join(dir, "kernel")
	if err := goBuild(ctx, root, core, "./kernel/core",
		"-gcflags="+module+"/kernel/core/...=-wb=false", "-ldflags=-E main.entry64 -T -0x7fdff000"); err != nil {
		return "", "", err
	}
	if err := goBuild(ctx, root, services, "./kernel/services", "-ldflags=-s -w -T -0x6ffff000"); err != nil {
		return "", "", err
	}
	f, err := os.Open(core)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	program, err := os.ReadFile(services)
	if err != nil {
		return "", "", err
	}
	data, _, err := image.Kernel(f, program)
	if err != nil {
		return "", "", err
	}
	return kernel, services, errors.Join(os.WriteFile(kernel+".new", data, 0o644), os.Rename(kernel+".new", kernel))
}
