// Package machine builds the kernel, packs programs into an initramfs, and
// runs both in an emulator.
package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/leveret-os/leveret/kernel/image"
)

// Config says what to run, and on what machine.
type Config struct {
	// Kernel is a PVH kernel or bzImage to boot; "" builds and boots ours.
	Kernel string
	// Program is init: a file, or the path of a Go package, which is built.
	Program string
	// Args are the program's arguments.
	Args []string
	// Files are more files for the initramfs: guest path → host path.
	Files map[string]string

	CPUs    int           // 0: 1
	Memory  string        // as QEMU's -m; "": 512M
	Machine string        // q35 or microvm; "": q35
	Accel   string        // tcg or kvm; "": tcg
	ICount  bool          // count instructions instead of measuring time
	Append  string        // more words of the command line
	Timeout time.Duration // 0: none

	// Output gets the console while the machine runs; nil: nobody.
	Output io.Writer
}

// Result is how a run ended.
type Result struct {
	Status  int    // the program's exit status
	Console []byte // all that the console said
	Wall    time.Duration
}

// ErrTimeout says that a run was ended by Config.Timeout.
var ErrTimeout = errors.New("machine: timed out")

// ErrEnd says that the machine ended in another way than by its program's exit.
var ErrEnd = errors.New("machine: bad end")

// Run builds what is stale, boots, and waits for the end.
func Run(ctx context.Context, c Config) (Result, error) {
	var r Result
	root, err := moduleRoot(ctx)
	if err != nil {
		return r, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return r, fmt.Errorf("machine: %w", err)
	}
	dir := filepath.Join(cache, "leveret", "kernel")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, fmt.Errorf("machine: %w", err)
	}
	kernel, services, err := buildKernel(ctx, root, dir)
	if err != nil {
		return r, err
	}
	tmp, err := os.MkdirTemp("", "leveret-boot")
	if err != nil {
		return r, fmt.Errorf("machine: %w", err)
	}
	defer os.RemoveAll(tmp)
	program := c.Program
	if info, err := os.Stat(program); err != nil || info.IsDir() {
		program = filepath.Join(tmp, "init")
		if err := goBuild(ctx, "", program, c.Program); err != nil {
			return r, err
		}
	}
	initramfs := filepath.Join(tmp, "initramfs")
	if err := pack(initramfs, program, services, c.Files); err != nil {
		return r, err
	}
	if c.Kernel != "" {
		kernel = c.Kernel
	}
	return boot(ctx, c, kernel, initramfs)
}

func pack(out, program, services string, files map[string]string) error {
	var b bytes.Buffer
	a := image.NewArchive(&b)
	a.Dir("dev", 0o755)
	a.CharDevice("dev/console", 0o600, 5, 1)
	add := func(name, file string) error {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("machine: %w", err)
		}
		a.File(strings.TrimPrefix(name, "/"), 0o755, data)
		return nil
	}
	if err := add("init", program); err != nil {
		return err
	}
	if err := add("services", services); err != nil {
		return err
	}
	for guest, host := range files {
		if err := add(guest, host); err != nil {
			return err
		}
	}
	if err := a.Close(); err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	return nil
}

func boot(ctx context.Context, c Config, kernel, initramfs string) (Result, error) {
	var r Result
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
		defer cancel()
	}
	line := "console=ttyS0 " + c.Append
	if len(c.Args) > 0 {
		line += " -- " + strings.Join(c.Args, " ")
	}
	args := []string{
		"-M", or(c.Machine, "q35"), "-accel", or(c.Accel, "tcg"), "-cpu", "Skylake-Client",
		"-smp", fmt.Sprint(max(c.CPUs, 1)), "-m", or(c.Memory, "512M"),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
		"-device", "isa-debug-exit,iobase=0xf4,iosize=4",
		"-kernel", kernel, "-initrd", initramfs, "-append", line,
	}
	if c.ICount {
		args = append(args, "-icount", "shift=0,sleep=off")
	}
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	var console bytes.Buffer
	cmd.Stdout = &console
	if c.Output != nil {
		cmd.Stdout = io.MultiWriter(&console, c.Output)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	err := cmd.Run()
	r.Wall = time.Since(begin)
	r.Console = console.Bytes()
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, fmt.Errorf("machine: %w", err)
	}
	switch code := cmd.ProcessState.ExitCode(); code {
	case 33:
		return r, nil
	default:
		return r, fmt.Errorf("%w: QEMU ended with status %d\n%s", ErrEnd, code, stderr.Bytes())
	}
}

func or(s, d string) string {
	if s == "" {
		return d
	}
	return s
}
