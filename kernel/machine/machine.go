// Package machine builds the kernel, packs programs into an initramfs, and
// runs both in QEMU, this kernel or another one.
//
// How a machine ended is told by QEMU's own exit status, which the kernel sets
// through the debug-exit device, never by what a program printed.
package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Config says what to run, and on what machine. Its zero value with a Program
// is a machine of one processor and 512 MiB.
type Config struct {
	// Kernel is a file to boot, a PVH kernel or a bzImage; "" builds and boots
	// ours.
	Kernel string
	// Overlay changes our kernel's source for this run: a file as go build's
	// -overlay takes it. "": the source as it is.
	Overlay string
	// Program is init: a file, or else the path of a Go package, which is
	// built. It is /init in the machine.
	Program string
	// Args are the program's arguments, without its own name.
	Args []string
	// Files are more files for the initramfs: the path there → the file or
	// folder here.
	Files map[string]string
	// Get are files and folders that come back when the program has ended: the
	// path there → the path here, which is replaced. Our kernel alone does it.
	Get map[string]string

	CPUs    int           // 0: 1
	Memory  string        // as QEMU's -m: a number with M or G; "": 512M
	Machine string        // q35 or microvm; "": q35
	Accel   string        // tcg or kvm; "": tcg
	CPU     string        // QEMU's model of processor; "": Skylake-Client
	ICount  bool          // time is the number of instructions executed
	Append  string        // more words for the kernel's command line
	QEMU    []string      // more options of QEMU
	Timeout time.Duration // 0: none

	// Input is what the console gets; nil: nothing.
	Input io.Reader
	// Output gets the console while the machine runs; nil: nobody.
	Output io.Writer
}

// Result is how a run ended and what it took.
type Result struct {
	Status  int    // the program's exit status; 128 + Signal when that ended it
	Signal  int    // 0: none
	Console []byte // all that the console said

	Wall        time.Duration // from the start of QEMU to its end
	FirstByte   time.Duration // from the start of QEMU to the kernel's first byte
	FirstOutput time.Duration // … to the program's first line; of other kernels with quiet only

	FirstRAM int64 // bytes of guest memory touched by FirstOutput, 0: unknown
	PeakRAM  int64 // … as last seen
	Command  []string
}

// What can go wrong with a machine, apart from building it.
var (
	// ErrTimeout: Config.Timeout ended the machine.
	ErrTimeout = errors.New("machine: timed out")
	// ErrCrash: the kernel crashed.
	ErrCrash = errors.New("machine: the kernel crashed")
	// ErrServices: the kernel's services ended.
	ErrServices = errors.New("machine: the kernel's services ended")
	// ErrBoot: the kernel did not get as far as init.
	ErrBoot = errors.New("machine: the kernel did not start init")
	// ErrEnd: the machine ended in some other way, or nobody knows how.
	ErrEnd = errors.New("machine: bad end")
	// ErrConfig: a Config that makes no sense.
	ErrConfig = errors.New("machine: bad configuration")
	// ErrProgram: what cannot be init, or a kernel.
	ErrProgram = errors.New("machine: cannot be run")
	// ErrNoEmulator: QEMU is not there.
	ErrNoEmulator = errors.New("machine: no QEMU")
	// ErrGet: a file that was to come back did not.
	ErrGet = errors.New("machine: not brought back")
)

// A Machine is ready to run: everything is built and packed.
type Machine struct {
	// Program is the file that is init.
	Program string

	config Config
	tmp    string
	args   []string
}

// New builds what is stale and packs the initramfs. ErrConfig; errors of the
// builds. Close removes what it made.
func New(ctx context.Context, c Config) (m *Machine, err error) {
	tmp, err := os.MkdirTemp("", "leveret-boot")
	if err != nil {
		return nil, fmt.Errorf("machine: %w", err)
	}
	m = &Machine{config: c, tmp: tmp}
	if err := m.make(ctx); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Machine) make(ctx context.Context) (err error) {
	c := m.config
	// What is wrong with the configuration is said before anything is built.
	if _, err := c.command("", "", ""); err != nil {
		return err
	}
	if err := checkGet(c.Get); err != nil {
		return err
	}
	if _, err := exec.LookPath(emulator); err != nil {
		return fmt.Errorf("%w: %w (Debian: qemu-system-x86)", ErrNoEmulator, err)
	}
	if m.Program, err = program(ctx, c.Program, filepath.Join(m.tmp, "init")); err != nil {
		return err
	}
	kernel := c.Kernel
	if kernel == "" {
		if kernel, err = build(ctx, c.Overlay); err != nil {
			return err
		}
	} else if err := checkKernel(kernel); err != nil {
		return err
	}
	initramfs := filepath.Join(m.tmp, "initramfs")
	if err := pack(initramfs, m.Program, c); err != nil {
		return err
	}
	m.args, err = c.command(kernel, initramfs, m.exported())
	return err
}

func (m *Machine) exported() string { return filepath.Join(m.tmp, "export") }

// Close removes the machine's files.
func (m *Machine) Close() error { return os.RemoveAll(m.tmp) }

// Run boots and waits for the end. A program that ends with whatever status, or
// by a signal, is no error.
func (m *Machine) Run(ctx context.Context) (Result, error) {
	r, err := m.config.boot(ctx, m.args)
	if err == nil && len(m.config.Get) > 0 {
		err = get(m.exported(), m.config.Get)
	}
	return r, err
}

// Run makes a Machine and runs it once.
func Run(ctx context.Context, c Config) (Result, error) {
	m, err := New(ctx, c)
	if err != nil {
		return Result{}, err
	}
	defer m.Close()
	return m.Run(ctx)
}
