package space

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// present reports whether the page at va can be read, or written, without a
// fault, and how many bytes the entry that says so spans.
func (s *Space) present(va uint64, write bool) (ok bool, size uint64) {
	slot, size := s.Tables.Lookup(va)
	e := *slot
	return e&pagetable.Present != 0 && (!write || e&pagetable.Writable != 0), size
}

// populate faults in the pages of a from va to stop, for writing where write
// says so, and returns where it stopped: after about a step's worth of faults,
// or with what the fault that failed was.
func (s *Space) populate(l *Local, a *vma.Area, va, stop uint64, write bool) (uint64, Result) {
	code := uint64(CodeUser)
	if write {
		code |= CodeWrite
	}
	// looking at a page is cheap, a fault maps up to 16, or 2 MiB
	for budget := 16 * Step; va < stop && budget > 0; budget-- {
		ok, size := s.present(va, write)
		if !ok {
			if r := s.Fault(l, va, code); r != Resolved {
				return va, r
			}
			if ok, size = s.present(va, write); !ok {
				return va, NoMemory
			}
			budget -= 255
			if size == hugeSize {
				budget = 0
			}
		}
		va = (va | (size - 1)) + 1
	}
	return min(va, stop), Resolved
}

// Populate faults in [from, end), as MAP_POPULATE, MAP_LOCKED and mlock want
// it: writable private pages for writing. What cannot be populated is passed
// over. Again: call it again from where it says. It reports the first failure,
// for mlock: ENOMEM or EAGAIN, or 0.
func (s *Space) Populate(l *Local, from, end uint64, strict bool) (next uint64, errno unix.Errno) {
	at := from
	for n := 0; at < end; n++ {
		a := s.Areas.Find(at)
		if a == nil || a.Start >= end {
			break
		}
		at = max(at, a.Start)
		if n == Step {
			return at, Again
		}
		stop := min(a.End, end)
		if a.Prot == 0 || a.Flags&vma.OnFault != 0 {
			if strict && a.Flags&vma.OnFault == 0 {
				return 0, unix.ENOMEM
			}
			at = stop
			continue
		}
		write := a.Prot&vma.Write != 0 && a.Flags&vma.Shared == 0
		next, r := s.populate(l, a, at, stop, write)
		if r != Resolved {
			if strict {
				return 0, populateError(r)
			}
			return 0, 0
		}
		if at = next; at < stop {
			return at, Again
		}
	}
	return 0, 0
}

// populateError is mlock's error for a fault that failed (Linux's
// __mlock_posix_error_return).
func populateError(r Result) unix.Errno {
	if r == NoMemory {
		return unix.EAGAIN
	}
	return unix.ENOMEM
}

// advisePopulate is MADV_POPULATE_READ and MADV_POPULATE_WRITE.
func (s *Space) advisePopulate(l *Local, addr, end uint64, write bool, from uint64) (uint64, unix.Errno) {
	need := uint32(vma.Read)
	if write {
		need = vma.Write
	}
	for at := from; at < end; {
		a := s.Areas.Find(at)
		if a == nil || a.Start > at {
			return 0, unix.ENOMEM
		}
		if a.Prot&need == 0 {
			return 0, unix.EINVAL
		}
		stop := min(a.End, end)
		next, r := s.populate(l, a, at, stop, write)
		switch r {
		case Resolved:
		case NoMemory:
			return 0, unix.ENOMEM
		default:
			return 0, unix.EFAULT
		}
		if next < stop {
			return next, Again
		}
		at = stop
	}
	return 0, 0
}
