package space

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// protSem is PROT_SEM, which Linux takes and ignores.
const protSem = 8

// Protect is mprotect(2). Again: call it again, with from being where it says
// the next step begins; the first call has from = addr.
//
// Like Linux's it changes the areas up to the first hole and then answers
// ENOMEM.
func (s *Space) Protect(l *Local, addr, n uint64, prot uint32, from uint64) (next uint64, errno unix.Errno) {
	const grows = unix.PROT_GROWSDOWN | unix.PROT_GROWSUP
	grow := prot & grows
	prot &^= grows
	if grow == grows || addr&pageMask != 0 {
		return 0, unix.EINVAL
	}
	if n == 0 {
		return 0, 0
	}
	end, ok := s.round(addr, n)
	if end <= addr {
		return 0, unix.ENOMEM
	}
	if prot&^(vma.Read|vma.Write|vma.Exec|protSem) != 0 {
		return 0, unix.EINVAL
	}
	if !ok {
		end = s.ceiling
	}
	prot &= vma.Read | vma.Write | vma.Exec
	a := s.Areas.Find(addr)
	if a == nil {
		return 0, unix.ENOMEM
	}
	if grow&unix.PROT_GROWSDOWN != 0 {
		if a.Start >= end {
			return 0, unix.ENOMEM
		}
		if a.Flags&vma.GrowsDown == 0 {
			return 0, unix.EINVAL
		}
		addr = a.Start
	} else if a.Start > addr || grow != 0 {
		if a.Start <= addr {
			return 0, unix.EINVAL // nothing grows up
		}
		return 0, unix.ENOMEM
	}
	stop, errno := s.protectAreas(addr, end, prot)
	from = max(from, addr)
	if from < stop {
		next, failed := s.protectPages(l, from, stop)
		if failed != 0 {
			return 0, failed
		}
		if next < stop {
			return next, Again
		}
	}
	return 0, errno
}

// protectAreas gives the areas from start on the rights prot, and returns how
// far it came: to end, or to the hole or area that gave an error.
func (s *Space) protectAreas(start, end uint64, prot uint32) (uint64, unix.Errno) {
	at := start
	for at < end {
		a := s.Areas.Find(at)
		if a == nil || a.Start > at {
			return at, unix.ENOMEM
		}
		stop := min(a.End, end)
		if a.Prot == prot {
			at = stop
			continue
		}
		if prot&^a.MaxProt != 0 {
			return at, unix.EACCES
		}
		pages := (stop - at) >> pageShift
		if isData(prot, a.Flags) && !isData(a.Prot, a.Flags) {
			if s.data+pages > s.Limits.Data>>pageShift || a.Flags&vma.NoReserve == 0 && pages > s.memory.Frames.Total() {
				return at, unix.ENOMEM
			}
		}
		if e := s.splitBoth(at, stop); e != 0 {
			return at, e
		}
		a = s.Areas.Find(at)
		s.account(a, -pages)
		a.Prot = prot
		s.account(a, pages)
		s.merge(a)
		at = stop
	}
	return end, 0
}

// protectPages makes the entries of [va, end) agree with the rights of their
// areas, at most about eight steps' worth of them, and returns where it stopped.
// ENOMEM: a 2 MiB page could not be split.
func (s *Space) protectPages(l *Local, va, end uint64) (next uint64, errno unix.Errno) {
	start, changed := va, false
	for budget := 8 * Step; va < end && budget > 0; budget-- {
		a := s.Areas.Find(va)
		if a == nil || a.Start >= end {
			va = end
			break
		}
		va = max(va, a.Start)
		slot, size := s.Tables.Lookup(va)
		if *slot == 0 {
			if va = (va | (size - 1)) + 1; size == pageSize {
				va = s.skipEmpty(slot, va, end)
			}
			continue
		}
		if size == hugeSize && (va&^hugeMask < a.Start || a.End-va&^hugeMask < hugeSize) {
			if !s.splitLarge(slot) {
				errno = unix.ENOMEM
				break
			}
			continue
		}
		if e, want := *slot, s.entry(a, *slot); want != e {
			*slot = want
			changed = true
		}
		va = (va | (size - 1)) + 1
		if size != pageSize {
			continue
		}
		for stop := min(a.End, end); va < stop && va&hugeMask != 0 && budget > 0; budget-- {
			slot = (*uint64)(unsafe.Add(unsafe.Pointer(slot), 8))
			if e := *slot; e != 0 {
				if want := s.entry(a, e); want != e {
					*slot = want
					changed = true
				}
			}
			va += pageSize
		}
	}
	va = min(va, end)
	if changed {
		s.memory.Invalidate(l, s, start&^hugeMask, va)
	}
	return va, errno
}

// entry returns the entry e as the rights of a want it.
func (s *Space) entry(a *vma.Area, e uint64) uint64 {
	if a.Prot == 0 {
		return e&^pagetable.Present | pagetable.Hidden
	}
	keep := e &^ (pagetable.Hidden | pagetable.Writable | pagetable.NoExec)
	return keep | s.flags(a, a.Flags&vma.Shared != 0 || !s.copies(e))
}
