package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// emulator is QEMU's command.
const emulator = "qemu-system-x86_64"

// command returns QEMU's arguments.
func (c Config) command(kernel, initramfs string) ([]string, error) {
	memory := or(c.Memory, "512M")
	size, err := parseSize(memory)
	if err != nil {
		return nil, err
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
		"-machine", kind + ",memory-backend=ram", "-accel", or(c.Accel, "tcg"), "-cpu", or(c.CPU, "Skylake-Client"),
		"-smp", strconv.Itoa(max(c.CPUs, 1)), "-m", memory,
		// Not reserved: a guest may have more memory than the host.
		"-object", "memory-backend-ram,id=ram,size=" + strconv.FormatInt(size, 10) + ",reserve=off",
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio",
		"-device", "isa-debug-exit,iobase=0xf4,iosize=4",
		"-kernel", kernel, "-initrd", initramfs, "-append", line,
	}
	if c.ICount {
		args = append(args, "-icount", "shift=0,sleep=off")
	}
	return append(args, c.QEMU...), nil
}

// commandLine returns the kernel's command line: the same for every kernel.
// With panic=-1 mainline leaves QEMU when init ends.
func (c Config) commandLine() (string, error) {
	words := []string{"console=ttyS0", "panic=-1"}
	if c.Append != "" {
		words = append(words, c.Append)
	}
	if len(c.Args) > 0 {
		words = append(words, "--")
	}
	for _, a := range c.Args {
		// Linux's parser knows double quotes and no way to escape one.
		if strings.ContainsAny(a, "\"\x00") || a == "" {
			return "", fmt.Errorf("%w: argument %q cannot stand on a kernel's command line", ErrConfig, a)
		}
		if strings.ContainsAny(a, " \t\n") {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	line := strings.Join(words, " ")
	if len(line) >= maxLine {
		return "", fmt.Errorf("%w: a command line of %d bytes, at most %d fit", ErrConfig, len(line), maxLine-1)
	}
	return line, nil
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
