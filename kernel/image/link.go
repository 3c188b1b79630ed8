package image

import (
	"cmp"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

var le = binary.LittleEndian

// ErrLinked says that core, as linked, is not what this package knows how to
// make a kernel of.
var ErrLinked = errors.New("image: not a linked core")

// segment is a piece of the image.
type segment struct {
	virt, phys, memSize uint64
	flags               elf.ProgFlag
	data                []byte
}

// function is a function of the linked program.
type function struct {
	name       string
	addr, size uint64
	assembly   bool
}

// linked is core as the toolchain linked it.
type linked struct {
	segments  []*segment
	functions []function // by address
	symbols   map[string]uint64
}

// readLinked reads core's ELF file.
func readLinked(r io.ReaderAt) (*linked, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLinked, err)
	}
	if f.Machine != elf.EM_X86_64 || f.Type != elf.ET_EXEC {
		return nil, fmt.Errorf("%w: %v %v, want an x86-64 executable", ErrLinked, f.Machine, f.Type)
	}
	l := &linked{symbols: map[string]uint64{}}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if p.Vaddr < CoreBase+corePhys {
			return nil, fmt.Errorf("%w: a segment at %#x; link with -T", ErrLinked, p.Vaddr)
		}
		data := make([]byte, p.Filesz)
		if _, err := io.ReadFull(p.Open(), data); err != nil {
			return nil, fmt.Errorf("%w: segment at %#x: %w", ErrLinked, p.Vaddr, err)
		}
		l.segments = append(l.segments, &segment{p.Vaddr, p.Vaddr - CoreBase, p.Memsz, p.Flags, data})
	}
	l.cut(f)
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLinked, err)
	}
	for _, s := range symbols {
		l.symbols[s.Name] = s.Value
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			l.functions = append(l.functions, function{name: s.Name, addr: s.Value, size: s.Size})
		}
	}
	slices.SortFunc(l.functions, func(a, b function) int { return cmp.Compare(a.addr, b.addr) })
	return l, l.findAssembly(f)
}

// findAssembly tells the functions that are not the compiler's by their source
// files.
func (l *linked) findAssembly(f *elf.File) error {
	section := f.Section(".gopclntab")
	if section == nil {
		return fmt.Errorf("%w: no .gopclntab", ErrLinked)
	}
	data, err := section.Data()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLinked, err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, f.Section(".text").Addr))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLinked, err)
	}
	for i := range l.functions {
		if ours(l.functions[i].name) {
			file, _, _ := table.PCToLine(l.functions[i].addr)
			l.functions[i].assembly = strings.HasSuffix(file, ".s")
		}
	}
	return nil
}

// cut leaves out what only a runtime that runs would read, where it is the
// tail of a segment.
func (l *linked) cut(f *elf.File) {
	for _, s := range l.segments {
		start := s.virt + s.memSize
		for _, name := range []string{".itablink", ".typelink", ".gopclntab"} {
			if t := f.Section(name); t != nil && t.Addr > s.virt && t.Addr < start && t.Addr+t.Size <= s.virt+s.memSize {
				start = t.Addr
			}
		}
		if start < s.virt+s.memSize {
			s.memSize = start - s.virt
			s.data = s.data[:min(uint64(len(s.data)), s.memSize)]
		}
	}
}

// at returns the n bytes of the image at a virtual address.
func (l *linked) at(addr, n uint64) ([]byte, error) {
	for _, s := range l.segments {
		if addr >= s.virt && addr+n <= s.virt+uint64(len(s.data)) {
			return s.data[addr-s.virt:][:n:n], nil
		}
	}
	return nil, fmt.Errorf("%w: no data at %#x", ErrLinked, addr)
}

// symbol returns the address of an assembly function or of a Go one.
func (l *linked) symbol(name string) (uint64, error) {
	for _, n := range []string{name + ".abi0", name} {
		if a, ok := l.symbols[n]; ok {
			return a, nil
		}
	}
	return 0, fmt.Errorf("%w: no symbol %s", ErrLinked, name)
}

// ours tells functions of core's packages from the runtime's.
func ours(name string) bool {
	return strings.HasPrefix(name, "main.") || strings.Contains(name, "/kernel/core/") || strings.Contains(name, "/kernel/abi.")
}
