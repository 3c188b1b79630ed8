package elf

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

const limit = 0x7ffffffff000

// parse reads all of a file's headers, as the loader does.
func parse(b []byte) (Image, []Segment, unix.Errno) {
	var m Image
	if len(b) < HeaderSize {
		return m, nil, unix.ENOEXEC
	}
	h, errno := ParseHeader((*[HeaderSize]byte)(b))
	if errno != 0 {
		return m, nil, errno
	}
	m.Header = h
	var all []Segment
	for i := range h.Programs {
		off := h.ProgramOffset + i*ProgramSize
		if off+ProgramSize > uint64(len(b)) {
			return m, nil, unix.ENOEXEC
		}
		var s Segment
		s.Parse((*[ProgramSize]byte)(b[off:]))
		if errno := m.Add(&s, limit); errno != 0 {
			return m, nil, errno
		}
		all = append(all, s)
	}
	return m, all, m.Finish()
}

// TestSelf compares what is read of this very test program with what the
// standard library reads.
func TestSelf(t *testing.T) {
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, segments, errno := parse(b)
	if errno != 0 {
		t.Fatal(errno)
	}
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Entry != m.Entry || len(f.Progs) != len(segments) {
		t.Fatalf("entry %#x, %d headers; want %#x, %d", m.Entry, len(segments), f.Entry, len(f.Progs))
	}
	for i, p := range f.Progs {
		want := Segment{uint32(p.Type), uint32(p.Flags), p.Off, p.Vaddr, p.Filesz, p.Memsz, p.Align}
		if segments[i] != want {
			t.Errorf("header %d is %+v, want %+v", i, segments[i], want)
		}
		if p.Type == elf.PT_LOAD && (p.Vaddr < m.Low || p.Vaddr+p.Memsz > m.High || p.Vaddr+p.Memsz > m.Break) {
			t.Errorf("segment %#x is outside %#x-%#x", p.Vaddr, m.Low, m.High)
		}
	}
	if m.HeaderAddress == 0 || m.CodeStart > m.Entry || m.CodeEnd <= m.Entry {
		t.Errorf("%+v", m)
	}
}

// file makes a program with the given segments.
func file(kind uint16, segments ...Segment) []byte {
	le := binary.LittleEndian
	b := make([]byte, HeaderSize)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], kind)
	le.PutUint16(b[18:], machine64)
	le.PutUint64(b[24:], 0x401000)
	le.PutUint64(b[32:], HeaderSize)
	le.PutUint16(b[54:], ProgramSize)
	le.PutUint16(b[56:], uint16(len(segments)))
	for _, s := range segments {
		b = le.AppendUint32(b, s.Type)
		b = le.AppendUint32(b, s.Flags)
		for _, v := range []uint64{s.Offset, s.Address, s.Address, s.FileSize, s.MemorySize, s.Align} {
			b = le.AppendUint64(b, v)
		}
	}
	return b
}

func TestHostile(t *testing.T) {
	good := Segment{Load, FlagRead | FlagExec, 0, 0x400000, 0x1000, 0x2000, 0x1000}
	with := func(f func(*Segment)) []byte { s := good; f(&s); return file(typeExec, s) }
	patch := func(off int, v ...byte) []byte { b := file(typeExec, good); copy(b[off:], v); return b }
	for _, c := range []struct {
		name string
		file []byte
		want unix.Errno
	}{
		{"good", file(typeExec, good), 0},
		{"dynamic", file(typeDyn, good), 0},
		{"empty", nil, unix.ENOEXEC},
		{"magic", patch(0, 'x'), unix.ENOEXEC},
		{"32 bit", patch(4, 1), unix.ENOEXEC},
		{"big endian", patch(5, 2), unix.ENOEXEC},
		{"relocatable", patch(16, 1), unix.ENOEXEC},
		{"arm", patch(18, 183), unix.ENOEXEC},
		{"header size", patch(54, 32), unix.ENOEXEC},
		{"no headers", patch(56, 0, 0), unix.ENOEXEC},
		{"too many headers", patch(56, 0xff, 0xff), unix.ENOEXEC},
		{"headers far away", patch(32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), unix.ENOEXEC},
		{"nothing to load", file(typeExec, Segment{Type: GNUStack}), unix.ENOEXEC},
		{"empty segment", with(func(s *Segment) { s.MemorySize, s.FileSize = 0, 0 }), unix.ENOEXEC},
		{"file larger than memory", with(func(s *Segment) { s.FileSize = 0x3000 }), unix.EINVAL},
		{"offset not congruent", with(func(s *Segment) { s.Offset = 0x10 }), unix.EINVAL},
		{"kernel address", with(func(s *Segment) { s.Address = 0xffffffff80000000 }), unix.ENOMEM},
		{"address and size overflow", with(func(s *Segment) { s.MemorySize = 1<<64 - 0x1000 }), unix.ENOMEM},
		{"reaches the limit", with(func(s *Segment) { s.Address = limit - 0x1000 }), unix.ENOMEM},
		{"ends at the limit", with(func(s *Segment) { s.Address = limit - 0x2000 }), 0},
		{"offset overflow", with(func(s *Segment) { s.Offset = 1<<64 - 0x1000 }), unix.ENOMEM},
	} {
		if m, _, errno := parse(c.file); errno != c.want {
			t.Errorf("%s: %v, want %v (%+v)", c.name, errno, c.want, m)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(typeDyn, Segment{Load, 5, 0, 0x400000, 0x1000, 0x2000, 0x1000}, Segment{Load, 6, 0x1000, 0x402000, 10, 0x5000, 1 << 21}))
	f.Add(file(typeExec, Segment{Load, 5, 0xfff, 0xfff, 1, 1, 3}, Segment{Type: Interp}, Segment{Type: GNUStack, Flags: 7}))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, segments, errno := parse(b)
		if errno != 0 {
			return
		}
		if m.Low&pageMask != 0 || m.High&pageMask != 0 || m.Low >= m.High || m.High > limit || m.Align&(m.Align-1) != 0 || m.Align < 4096 {
			t.Fatalf("%+v", m)
		}
		for _, s := range segments {
			if s.Type == Load && s.MemorySize != 0 && (s.Address < m.Low || s.Address+s.MemorySize > m.High || s.FileSize > s.MemorySize || s.Address+s.MemorySize > m.Break) {
				t.Fatalf("%+v is outside %+v", s, m)
			}
		}
	})
}

func ExampleParseHeader() {
	b := [HeaderSize]byte{0x7f, 'E', 'L', 'F', 1} // a 32-bit program
	_, errno := ParseHeader(&b)
	fmt.Println(errno)
	// Output: exec format error
}
