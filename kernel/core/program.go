//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/elf"
	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/space"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// program is a program that was mapped.
type program struct {
	layout stackLayout
	vdso   uint64 // address of the vDSO, or 0
	elf.Image
	bias  uint64 // added to the file's addresses
	entry uint64
}

// Where a position-independent program is put: Linux's ELF_ET_DYN_BASE.
const dynamicBase = userTop / 3 * 2 &^ (2<<20 - 1)

// readObject copies n bytes at off of an object to dst; false when they are not
// all there.
func readObject(dst unsafe.Pointer, o *object.Object, off, n uint64) bool {
	if off > o.Size || n > o.Size-off {
		return false
	}
	for n > 0 {
		pa := o.Page(off >> 12)
		if pa == 0 {
			return false
		}
		part := min(n, 4096-off&4095)
		phys.Copy(dst, phys.Pointer(pa+off&4095), part)
		dst = unsafe.Add(dst, int(part))
		off += part
		n -= part
	}
	return true
}

// loadProgram maps the ELF program in o into as, which is empty or services'.
// Text and data come from o itself, page by page as they are used; where o lies
// in place no page is copied before it is written. ENOEXEC, EINVAL, ENOMEM.
func loadProgram(c *CPU, as *AddressSpace, o *object.Object, p *program) unix.Errno {
	var header [elf.HeaderSize]byte
	if !readObject(unsafe.Pointer(&header), o, 0, elf.HeaderSize) {
		return unix.ENOEXEC
	}
	h, errno := elf.ParseHeader(&header)
	if errno != 0 {
		return errno
	}
	p.Image.Header = h
	limit := uint64(userTop)
	if as == servicesSpace {
		limit = ^uint64(4095)
	}
	for i := uint64(0); i < h.Programs; i++ {
		var s elf.Segment
		if !readSegment(o, &h, i, &s) {
			return unix.ENOEXEC
		}
		if errno := p.Add(&s, limit); errno != 0 {
			return errno
		}
	}
	if errno := p.Finish(); errno != 0 {
		return errno
	}
	if h.Dynamic {
		p.bias = (dynamicBase+p.Align-1)&^(p.Align-1) - p.Low
	}
	for i := uint64(0); i < h.Programs; i++ {
		var s elf.Segment
		readSegment(o, &h, i, &s)
		if s.Type == elf.Load && s.MemorySize != 0 {
			if errno := mapSegment(c, as, o, &s, p.bias); errno != 0 {
				return errno
			}
		}
	}
	p.entry = h.Entry + p.bias
	as.SetBreak((p.Break + p.bias + 4095) &^ 4095)
	return 0
}

func readSegment(o *object.Object, h *elf.Header, i uint64, s *elf.Segment) bool {
	var b [elf.ProgramSize]byte
	if !readObject(unsafe.Pointer(&b), o, h.ProgramOffset+i*elf.ProgramSize, elf.ProgramSize) {
		return false
	}
	s.Parse(&b)
	return true
}

// mapSegment maps one segment: what the file has of it, then zeros.
func mapSegment(c *CPU, as *AddressSpace, o *object.Object, s *elf.Segment, bias uint64) unix.Errno {
	prot := uint32(0)
	if s.Flags&elf.FlagRead != 0 {
		prot |= vma.Read
	}
	if s.Flags&elf.FlagWrite != 0 {
		prot |= vma.Write
	}
	if s.Flags&elf.FlagExec != 0 {
		prot |= vma.Exec
	}
	start := (s.Address + bias) &^ 4095
	fileEnd := s.Address + bias + s.FileSize
	end := (s.Address + bias + s.MemorySize + 4095) &^ 4095
	mapped := start
	if s.FileSize != 0 {
		mapped = (fileEnd + 4095) &^ 4095
		r := space.Request{Addr: start, Length: mapped - start, Prot: prot, Flags: unix.MAP_PRIVATE | unix.MAP_FIXED, Object: o, Offset: s.Offset &^ 4095, Readable: true}
		if errno := mapNow(c, as, &r); errno != 0 {
			return errno
		}
		// the rest of the last page belongs to the zeros
		if n := mapped - fileEnd; n != 0 && prot&vma.Write != 0 && s.MemorySize > s.FileSize {
			pa, ok := as.Address(&c.mm, fileEnd, true)
			if !ok {
				return unix.ENOMEM
			}
			phys.Clear(phys.Pointer(pa), n)
		}
	}
	if end > mapped {
		r := space.Request{Addr: mapped, Length: end - mapped, Prot: prot, Flags: unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_ANONYMOUS}
		return mapNow(c, as, &r)
	}
	return 0
}

// mapNow is Map in an address space that is being made: nothing is replaced
// that would take more than a step.
func mapNow(c *CPU, as *AddressSpace, r *space.Request) unix.Errno {
	for {
		if _, errno := as.Map(&c.mm, r); errno != space.Again {
			return errno
		}
	}
}

// Stacks of programs: what is mapped to begin with, below it RLIMIT_STACK
// bytes to grow into.
const firstStack = 132 << 10

// mapStack makes a program's stack below top.
func mapStack(c *CPU, as *AddressSpace, top uint64) unix.Errno {
	a := vma.Area{Start: top - firstStack, End: top, Prot: vma.Read | vma.Write, MaxProt: 7, Flags: vma.Stack | vma.GrowsDown}
	return as.Insert(&a)
}
