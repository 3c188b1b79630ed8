// Package elf reads the headers of an x86-64 ELF program, as the gABI's chapter
// "Program Loading" defines them, and decides what may be mapped. Every field
// comes from the program's file and is checked before it is used.
//
// It only looks at bytes that it is given and never allocates, so the same code
// serves core and the host's tests.
package elf

import (
	"golang.org/x/sys/unix"
)

const (
	// HeaderSize and ProgramSize are the bytes of the file header and of one
	// program header.
	HeaderSize  = 64
	ProgramSize = 56
	// MaxPrograms is the largest number of program headers (Linux takes
	// 64 KiB of them).
	MaxPrograms = 65536 / ProgramSize

	pageMask = 4095
)

// Types of program header that matter here.
const (
	Load      = 1
	Interp    = 3
	Phdr      = 6
	GNUStack  = 0x6474e551
	typeExec  = 2
	typeDyn   = 3
	machine64 = 62
)

// Flags of a segment.
const (
	FlagExec  = 1
	FlagWrite = 2
	FlagRead  = 4
)

// Header is what the file header says.
type Header struct {
	Dynamic       bool // ET_DYN: may be loaded anywhere
	Entry         uint64
	ProgramOffset uint64
	Programs      uint64
}

// Segment is one program header.
type Segment struct {
	Type, Flags          uint32
	Offset, Address      uint64
	FileSize, MemorySize uint64
	Align                uint64
}

func le16(b []byte) uint64 { return uint64(b[0]) | uint64(b[1])<<8 }
func le32(b []byte) uint64 { return le16(b) | le16(b[2:])<<16 }
func le64(b []byte) uint64 { return le32(b) | le32(b[4:])<<32 }

// ParseHeader reads a file header. It answers ENOEXEC for what is not a 64-bit
// little-endian x86-64 program with a plausible table of program headers.
func ParseHeader(b *[HeaderSize]byte) (Header, unix.Errno) {
	var h Header
	if le32(b[:]) != 0x464c457f || b[4] != 2 || b[5] != 1 {
		return h, unix.ENOEXEC
	}
	kind := le16(b[16:])
	if kind != typeExec && kind != typeDyn || le16(b[18:]) != machine64 || le16(b[54:]) != ProgramSize {
		return h, unix.ENOEXEC
	}
	h.Dynamic = kind == typeDyn
	h.Entry, h.ProgramOffset, h.Programs = le64(b[24:]), le64(b[32:]), le16(b[56:])
	if h.Programs == 0 || h.Programs > MaxPrograms || h.ProgramOffset > 1<<50 {
		return h, unix.ENOEXEC
	}
	return h, 0
}

// Parse reads a program header.
func (s *Segment) Parse(b *[ProgramSize]byte) {
	s.Type, s.Flags = uint32(le32(b[0:])), uint32(le32(b[4:]))
	s.Offset, s.Address = le64(b[8:]), le64(b[16:])
	s.FileSize, s.MemorySize, s.Align = le64(b[32:]), le64(b[40:]), le64(b[48:])
}

// Image is what a program asks for as a whole.
type Image struct {
	Header

	Low, High     uint64 // page-aligned bounds of all segments
	Align         uint64 // what the load address of an ET_DYN must be a multiple of
	HeaderAddress uint64 // of the program headers (AT_PHDR), or 0
	Interpreter   bool   // wants a dynamic linker
	ExecStack     bool   // wants an executable stack

	CodeStart, CodeEnd uint64 // of executable segments, as /proc/self/stat has them
	DataStart, DataEnd uint64
	Break              uint64 // end of the last segment, not aligned
	loads              uint64
}

// Add takes account of one program header. limit is the end of the addresses
// that a program may have; a segment beyond it, or that contradicts itself, is
// ENOEXEC or EINVAL, and one whose sizes overflow is ENOMEM.
func (m *Image) Add(s *Segment, limit uint64) unix.Errno {
	switch s.Type {
	case Interp:
		m.Interpreter = true
	case GNUStack:
		m.ExecStack = s.Flags&FlagExec != 0
	case Load:
		return m.load(s, limit)
	}
	return 0
}

func (m *Image) load(s *Segment, limit uint64) unix.Errno {
	if s.MemorySize == 0 {
		return 0
	}
	if s.FileSize > s.MemorySize || s.Address&pageMask != s.Offset&pageMask {
		return unix.EINVAL
	}
	if s.Address >= limit || s.MemorySize > limit-s.Address || s.Offset > 1<<50 || s.FileSize > 1<<50 {
		return unix.ENOMEM
	}
	start, end := s.Address&^pageMask, (s.Address+s.MemorySize+pageMask)&^pageMask
	if end > limit {
		return unix.ENOMEM
	}
	if m.loads == 0 {
		m.Low, m.High, m.Align = start, end, pageMask+1
		m.CodeStart, m.DataStart = ^uint64(0), 0
	}
	m.loads++
	m.Low, m.High = min(m.Low, start), max(m.High, end)
	if s.Align > m.Align && s.Align&(s.Align-1) == 0 && s.Align <= 1<<30 {
		m.Align = s.Align
	}
	if off := m.ProgramOffset; off >= s.Offset && off-s.Offset < s.FileSize {
		m.HeaderAddress = s.Address + off - s.Offset
	}
	fileEnd := s.Address + s.FileSize
	if s.Flags&FlagExec != 0 {
		m.CodeStart, m.CodeEnd = min(m.CodeStart, s.Address), max(m.CodeEnd, fileEnd)
	} else if s.Flags&FlagWrite != 0 {
		m.DataStart, m.DataEnd = max(m.DataStart, s.Address), max(m.DataEnd, fileEnd)
	}
	m.Break = max(m.Break, s.Address+s.MemorySize)
	return 0
}

// Finish says whether the image, all of whose headers were added, can run:
// ENOEXEC when it has nothing to load.
func (m *Image) Finish() unix.Errno {
	if m.loads == 0 {
		return unix.ENOEXEC
	}
	if m.CodeStart == ^uint64(0) {
		m.CodeStart = m.Low
	}
	return 0
}
