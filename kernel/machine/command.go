package machine

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// emulator is QEMU's command.
const emulator = "qemu-system-x86_64"

// maxCPUs is how many processors have an xAPIC's number.
const maxCPUs = 255

// command returns QEMU's arguments; export is the file that gets what comes
// back.
func (c Config) command(kernel, initramfs, export string) ([]string, error) {
	memory := or(c.Memory, "512M")
	size, err := parseSize(memory)
	if err != nil {
		return nil, err
	}
	if size < minMemory || size > maxMemory {
		return nil, fmt.Errorf("%w: memory %q, want 64M to 64G", ErrConfig, memory)
	}
	if c.CPUs < 0 || c.CPUs > maxCPUs {
		return nil, fmt.Errorf("%w: %d processors, want 1 to %d", ErrConfig, c.CPUs, maxCPUs)
	}
	accel := or(c.Accel, "tcg")
	switch {
	case accel != "tcg" && accel != "kvm":
		return nil, fmt.Errorf("%w: accelerator %q, want tcg or kvm", ErrConfig, accel)
	case accel == "kvm" && c.ICount:
		return nil, fmt.Errorf("%w: kvm counts no instructions: -icount is for tcg", ErrConfig)
	case accel == "kvm":
		if err := checkKVM(kvmDevice); err != nil {
			return nil, err
		}
	}
	kind := or(c.Machine, "q35")
	if kind != "q35" && kind != "microvm" {
		return nil, fmt.Errorf("%w: machine %q, want q35 or microvm", ErrConfig, kind)
	}
	line, err := c.commandLine()
	if err != nil {
		return nil, err
	}
	args := []string{
		"-machine", kind + ",memory-backend=ram", "-accel", accel, "-cpu", or(c.CPU, "Skylake-Client"),
		"-smp", strconv.Itoa(max(c.CPUs, 1)), "-m", memory,
		// Not reserved: a guest may have more memory than the host.
		"-object", "memory-backend-ram,id=ram,size=" + strconv.FormatInt(size, 10) + ",reserve=off",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
		"-device", "isa-debug-exit,iobase=0xf4,iosize=4",
		"-kernel", kernel, "-initrd", initramfs, "-append", line,
	}
	if len(c.Get) > 0 {
		args = append(args, "-chardev", "file,id=export,path="+strings.ReplaceAll(export, ",", ",,"), "-device", "isa-debugcon,iobase=0xe9,chardev=export")
	}
	if c.ICount {
		args = append(args, "-icount", "shift=0,sleep=off")
	}
	return append(args, c.QEMU...), nil
}

// commandLine returns the kernel's command line: the same for every kernel, but
// for arguments that only ours can be given.
// With panic=-1 mainline leaves QEMU when init ends.
func (c Config) commandLine() (string, error) {
	for _, a := range c.Args {
		if strings.Contains(a, "\x00") {
			return "", fmt.Errorf("%w: argument %q has a NUL", ErrConfig, a)
		}
	}
	words := []string{"console=ttyS0", "panic=-1"}
	if c.Append != "" {
		words = append(words, c.Append)
	}
	for _, path := range slices.Sorted(maps.Keys(c.Get)) {
		if c.Kernel != "" {
			return "", fmt.Errorf("%w: %s cannot come back from another kernel", ErrConfig, path)
		}
		if strings.ContainsAny(path, "\"\x00\n") {
			return "", fmt.Errorf("%w: the path %q cannot stand on a kernel's command line", ErrConfig, path)
		}
		words = append(words, `"leveret.export=`+guestPath(path)+`"`)
	}
	if plain := !slices.ContainsFunc(c.Args, unquotable); !plain && c.Kernel == "" {
		words = append(words, "leveret.args="+base64.RawURLEncoding.EncodeToString([]byte(strings.Join(c.Args, "\x00"))))
		return lineOf(words)
	}
	if len(c.Args) > 0 {
		words = append(words, "--")
	}
	for _, a := range c.Args {
		if unquotable(a) {
			return "", fmt.Errorf("%w: argument %q cannot stand on a kernel's command line", ErrConfig, a)
		}
		if strings.ContainsAny(a, " \t\n") {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	return lineOf(words)
}

// unquotable tells arguments that Linux's parser, which knows double quotes and
// no way to escape one, cannot give to init.
func unquotable(a string) bool { return strings.ContainsAny(a, "\"\x00") || a == "" }

func lineOf(words []string) (string, error) {
	line := strings.Join(words, " ")
	if len(line) >= maxLine {
		return "", fmt.Errorf("%w: a command line of %d bytes, at most %d fit", ErrConfig, len(line), maxLine-1)
	}
	return line, nil
}

// The memory that a machine may have, in bytes.
const (
	minMemory = 64 << 20
	maxMemory = 64 << 30
)

const kvmDevice = "/dev/kvm"

// checkKVM says why KVM cannot be used, if so.
func checkKVM(device string) error {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: no %s: this host has no KVM; want -accel tcg", ErrConfig, device)
	case err != nil:
		return fmt.Errorf("%w: KVM: %w; want -accel tcg, or the group that may use it", ErrConfig, err)
	}
	return f.Close()
}

// maxLine is COMMAND_LINE_SIZE of Linux on x86, and core's.
const maxLine = 2048

// parseSize reads a size as QEMU's -m has it: MiB unless a suffix says other.
func parseSize(s string) (int64, error) {
	digits, shift := s, 20
	if s != "" {
		switch s[len(s)-1] {
		case 'K', 'k':
			shift = 10
		case 'M', 'm':
		case 'G', 'g':
			shift = 30
		default:
			digits += "M"
		}
		digits = digits[:len(digits)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%w: memory %q, want a number with M or G", ErrConfig, s)
	}
	return n << shift, nil
}

func or(s, d string) string {
	if s == "" {
		return d
	}
	return s
}
