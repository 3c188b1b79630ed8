package space

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// Address returns the physical address of the byte at addr, for the kernel to
// read or write on the program's behalf, making the page present first. ok is
// false where the program itself could not do it.
func (s *Space) Address(l *Local, addr uint64, write bool) (pa uint64, ok bool) {
	if !s.kernel && addr >= Top {
		return 0, false
	}
	for try := 0; ; try++ {
		slot, size := s.Tables.Lookup(addr)
		if e := *slot; e&pagetable.Present != 0 && (!write || e&pagetable.Writable != 0) {
			return e&pagetable.Address + addr&(size-1), true
		}
		code := uint64(CodeUser)
		if write {
			code |= CodeWrite
		}
		if try == 2 || s.Fault(l, addr, code) != Resolved {
			return 0, false
		}
	}
}

// Span is Address for up to n bytes from addr on: it returns how many of them,
// at least one, lie adjacent in physical memory. n is not 0. A fault maps
// adjacent frames, so that this is often all of them.
func (s *Space) Span(l *Local, addr, n uint64, write bool) (pa, adjacent uint64) {
	if !s.kernel && addr >= Top {
		return 0, 0
	}
	need := uint64(pagetable.Present)
	if write {
		need |= pagetable.Writable
	}
	slot, size := s.Tables.Lookup(addr)
	e := *slot
	if e&need != need {
		if _, ok := s.Address(l, addr, write); !ok {
			return 0, 0
		}
		slot, size = s.Tables.Lookup(addr)
		e = *slot
	}
	off := addr & (size - 1)
	pa, adjacent = e&pagetable.Address+off, size-off
	for adjacent < n && uintptr(unsafe.Pointer(slot))&(pageSize-8) != pageSize-8 {
		slot = (*uint64)(unsafe.Add(unsafe.Pointer(slot), 8))
		if e += size; *slot != e {
			break
		}
		adjacent += size
	}
	return pa, min(adjacent, n)
}

// CopyIn copies n bytes at addr to to, and returns how many it could.
func (s *Space) CopyIn(l *Local, to unsafe.Pointer, addr, n uint64) uint64 {
	done := uint64(0)
	for done < n {
		pa, part := s.Span(l, addr+done, n-done, false)
		if part == 0 {
			break
		}
		phys.Copy(unsafe.Add(to, int(done)), phys.Pointer(pa), part)
		done += part
	}
	return done
}

// CopyOut copies n bytes from from to addr, and returns how many it could.
func (s *Space) CopyOut(l *Local, addr uint64, from unsafe.Pointer, n uint64) uint64 {
	done := uint64(0)
	for done < n {
		pa, part := s.Span(l, addr+done, n-done, true)
		if part == 0 {
			break
		}
		phys.Copy(phys.Pointer(pa), unsafe.Add(from, int(done)), part)
		done += part
	}
	return done
}
