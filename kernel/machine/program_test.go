package machine

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// header is an ELF header with a program header of one type.
func header(class elf.Class, machine elf.Machine, kind elf.Type, segment elf.ProgType) string {
	b := make([]byte, 64+56)
	copy(b, elf.ELFMAG)
	b[4], b[5], b[6] = byte(class), byte(elf.ELFDATA2LSB), 1
	b[16], b[18], b[20] = byte(kind), byte(machine), 1
	b[32], b[52], b[54], b[56] = 64, 64, 56, 1
	b[64] = byte(segment)
	return string(b)
}

// What cannot be init is refused before anything boots, with what was found and
// what was expected.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content string
		err     error
		says    string
	}{
		"static":  {header(elf.ELFCLASS64, elf.EM_X86_64, elf.ET_EXEC, elf.PT_LOAD), nil, ""},
		"pie":     {header(elf.ELFCLASS64, elf.EM_X86_64, elf.ET_DYN, elf.PT_LOAD), nil, ""},
		"dynamic": {header(elf.ELFCLASS64, elf.EM_X86_64, elf.ET_DYN, elf.PT_INTERP), ErrProgram, "dynamically linked"},
		"arm64":   {header(elf.ELFCLASS64, elf.EM_AARCH64, elf.ET_EXEC, elf.PT_LOAD), ErrProgram, "EM_AARCH64"},
		"object":  {header(elf.ELFCLASS64, elf.EM_X86_64, elf.ET_REL, elf.PT_LOAD), ErrProgram, "ET_REL"},
		"script":  {"#!/bin/sh\n", ErrProgram, "a script"},
		"text":    {"text", ErrProgram, "not an ELF file"},
		"empty":   {"", ErrProgram, "empty"},
		"cut":     {elf.ELFMAG, ErrProgram, "cut"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := program(context.Background(), file, "")
		if !errors.Is(err, c.err) || c.err == nil && (err != nil || got != file) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "want a static program for x86_64")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{filepath.Join(dir, "absent"), "./absent", "no/such/package", "/dev/null"} {
		if _, err := program(context.Background(), name, filepath.Join(dir, "out")); !errors.Is(err, ErrProgram) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := program(context.Background(), "", ""); !errors.Is(err, ErrConfig) {
		t.Errorf("no name: %v", err)
	}
}

func TestCheckKernel(t *testing.T) {
	dir := t.TempDir()
	image := make([]byte, 0x400)
	copy(image[0x202:], "HdrS")
	for name, c := range map[string]struct {
		content string
		err     error
	}{"bzImage": {string(image), nil}, "elf": {elf.ELFMAG, nil}, "text": {"text", ErrProgram}, "empty": {"", ErrProgram}} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := checkKernel(file); !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
	}
	if err := checkKernel(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

func TestCheckKVM(t *testing.T) {
	if err := checkKVM(filepath.Join(t.TempDir(), "kvm")); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "this host has no KVM") {
		t.Error(err)
	}
}
