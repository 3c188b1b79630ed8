package machine

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// program returns the file that becomes init: name itself, or what the Go
// package of that path is built to, which is out. It is checked here, since a
// kernel can say little more than that it is no program.
func program(ctx context.Context, name, out string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case name == "":
		return "", fmt.Errorf("%w: no program is named", ErrConfig)
	case err == nil && info.Mode().IsRegular():
		return name, checkProgram(name)
	case err == nil && !info.IsDir():
		return "", fmt.Errorf("%w: %s is %v, want a file or the path of a Go package", ErrProgram, name, info.Mode().Type())
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("machine: %w", err)
	case err != nil && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")):
		return "", fmt.Errorf("%w: there is neither a file nor a Go package %s", ErrProgram, name)
	}
	pkg := name
	if err == nil && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/") {
		pkg = "./" + name // a folder here
	}
	if err := goBuild(ctx, "", out, pkg); err != nil {
		if info == nil {
			err = fmt.Errorf("%w: there is no file %s, and as a Go package it cannot be built: %w", ErrProgram, name, err)
		}
		return "", err
	}
	if err := checkProgram(out); err != nil {
		return "", fmt.Errorf("%s is not the package of a command: %w", name, err)
	}
	return out, nil
}

// checkProgram says why a file cannot be run as init, if so: a program for
// x86_64 that is static, position-independent or not, is what is wanted.
func checkProgram(file string) error {
	const want = "want a static program for x86_64"
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	defer f.Close()
	var head [4]byte
	if n, _ := io.ReadFull(f, head[:]); string(head[:n]) != elf.ELFMAG {
		kind := "not an ELF file"
		switch {
		case n == 0:
			kind = "empty"
		case string(head[:2]) == "#!":
			kind = "a script"
		}
		return fmt.Errorf("%w: %s is %s, %s", ErrProgram, file, kind, want)
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("%w: %s: %w, %s", ErrProgram, file, err, want)
	}
	if e.Class != elf.ELFCLASS64 || e.Machine != elf.EM_X86_64 {
		return fmt.Errorf("%w: %s is for %v, %v, %s", ErrProgram, file, e.Machine, e.Class, want)
	}
	if e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return fmt.Errorf("%w: %s is an ELF file of type %v, %s", ErrProgram, file, e.Type, want)
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%w: %s is dynamically linked, %s (Go: CGO_ENABLED=0; C: -static)", ErrProgram, file, want)
		}
	}
	return nil
}

// checkKernel looks whether a file can be a kernel that QEMU boots.
func checkKernel(file string) error {
	const want = "want an ELF file with a PVH note, or a bzImage"
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("machine: the kernel: %w", err)
	}
	defer f.Close()
	var head [0x206]byte
	n, err := io.ReadFull(f, head[:])
	switch {
	case n >= 4 && string(head[:4]) == elf.ELFMAG:
		return nil
	case n == len(head) && string(head[0x202:0x206]) == "HdrS":
		return nil // Linux, Documentation/arch/x86/boot.rst
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("machine: the kernel: %w", err)
	}
	return fmt.Errorf("%w: %s is no kernel, %s", ErrProgram, file, want)
}
