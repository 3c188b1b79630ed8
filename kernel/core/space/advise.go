package space

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// Advise is madvise(2). Again: call it again, with from being where it says the
// next step begins; the first call has from = addr.
func (s *Space) Advise(l *Local, addr, n uint64, advice uint32, from uint64) (next uint64, errno unix.Errno) {
	switch advice {
	case unix.MADV_NORMAL, unix.MADV_RANDOM, unix.MADV_SEQUENTIAL, unix.MADV_WILLNEED, unix.MADV_DONTNEED, unix.MADV_FREE, unix.MADV_REMOVE,
		unix.MADV_DONTFORK, unix.MADV_DOFORK, unix.MADV_HUGEPAGE, unix.MADV_NOHUGEPAGE, unix.MADV_DONTDUMP, unix.MADV_DODUMP,
		unix.MADV_WIPEONFORK, unix.MADV_KEEPONFORK, unix.MADV_COLD, unix.MADV_PAGEOUT, unix.MADV_POPULATE_READ, unix.MADV_POPULATE_WRITE,
		unix.MADV_DONTNEED_LOCKED, unix.MADV_COLLAPSE, unix.MADV_MERGEABLE, unix.MADV_UNMERGEABLE:
	default:
		return 0, unix.EINVAL
	}
	if addr&pageMask != 0 {
		return 0, unix.EINVAL
	}
	end := addr + (n+pageMask)&^pageMask
	if n != 0 && (n+pageMask)&^pageMask == 0 || end < addr {
		return 0, unix.EINVAL
	}
	if end == addr {
		return 0, 0
	}
	if advice == unix.MADV_POPULATE_READ || advice == unix.MADV_POPULATE_WRITE {
		return s.advisePopulate(l, addr, end, advice == unix.MADV_POPULATE_WRITE, max(from, addr))
	}
	// holes are passed over and reported at the end
	hole := false
	at := max(from, addr)
	if at == addr {
		hole = !s.covered(addr, min(end, s.ceiling))
	} else {
		hole = from&1 != 0 // told by the step before
		at &^= pageMask
	}
	budget := 4 * Step
	for at < end {
		a := s.Areas.Find(at)
		if a == nil || a.Start >= end {
			break
		}
		at = max(at, a.Start)
		stop := min(a.End, end)
		next, errno := s.adviseArea(l, a, at, stop, advice)
		if errno != 0 && errno != Again {
			return 0, errno
		}
		if budget--; next < stop || budget == 0 {
			return next | boolBit(hole), Again
		}
		at = stop
	}
	if hole {
		return 0, unix.ENOMEM
	}
	return 0, 0
}

// adviseArea applies advice to [start, stop) of a, or a first part of it, and
// returns where it stopped.
func (s *Space) adviseArea(l *Local, a *vma.Area, start, stop uint64, advice uint32) (uint64, unix.Errno) {
	switch advice {
	case unix.MADV_HUGEPAGE:
		return stop, s.setFlags(start, stop, vma.Huge, vma.NoHuge)
	case unix.MADV_NOHUGEPAGE:
		return stop, s.setFlags(start, stop, vma.NoHuge, vma.Huge)
	case unix.MADV_DONTNEED, unix.MADV_DONTNEED_LOCKED:
		if a.Flags&vma.Locked != 0 && advice == unix.MADV_DONTNEED {
			return start, unix.EINVAL
		}
		return s.zap(l, start, stop)
	case unix.MADV_FREE:
		// "The kernel can free the pages at any time": at once
		if a.Object != nil || a.Flags&vma.Locked != 0 {
			return start, unix.EINVAL
		}
		return s.zap(l, start, stop)
	case unix.MADV_REMOVE:
		return s.adviseRemove(l, a, start, stop)
	case unix.MADV_WIPEONFORK:
		if a.Object != nil || a.Flags&vma.Shared != 0 {
			return start, unix.EINVAL
		}
	case unix.MADV_COLD, unix.MADV_PAGEOUT:
		if a.Flags&vma.Locked != 0 {
			return start, unix.EINVAL
		}
	case unix.MADV_COLLAPSE:
		return s.adviseCollapse(l, a, start, stop)
	}
	return stop, 0
}

// setFlags sets and clears flags of the areas of [start, end), all of which is
// mapped.
func (s *Space) setFlags(start, end uint64, set, unset uint32) unix.Errno {
	for at := start; at < end; {
		a := s.Areas.Find(at)
		stop := min(a.End, end)
		if flags := a.Flags&^unset | set; flags != a.Flags {
			if e := s.splitBoth(at, stop); e != 0 {
				return e
			}
			a = s.Areas.Find(at)
			pages := (a.End - a.Start) >> pageShift
			s.account(a, -pages)
			a.Flags = flags
			s.account(a, pages)
			s.merge(a)
		}
		at = stop
	}
	return 0
}

// adviseRemove is MADV_REMOVE: a hole in the object.
func (s *Space) adviseRemove(l *Local, a *vma.Area, start, stop uint64) (uint64, unix.Errno) {
	if a.Flags&vma.Locked != 0 || a.Object == nil {
		return start, unix.EINVAL
	}
	if a.Flags&vma.Shared == 0 || a.MaxProt&vma.Write == 0 {
		return start, unix.EACCES
	}
	o := a.Object
	first, end := (a.Offset+start-a.Start)>>pageShift, (a.Offset+stop-a.Start)>>pageShift
	for i := first; i < end; i++ {
		pa, _ := o.InPlace(i)
		if pa == 0 {
			break
		}
		if i-first == Step {
			return start + Step<<pageShift, 0
		}
		phys.ZeroPage(pa)
	}
	if errno := s.memory.Punch(l, o, first, end); errno != 0 {
		return start, errno
	}
	return stop, 0
}

// adviseCollapse is MADV_COLLAPSE on every 2 MiB that lies in [start, stop).
func (s *Space) adviseCollapse(l *Local, a *vma.Area, start, stop uint64) (uint64, unix.Errno) {
	if a.Flags&vma.NoHuge != 0 {
		return start, unix.EINVAL
	}
	if first := (a.Start + hugeMask) &^ hugeMask; first+hugeSize > a.End {
		return start, unix.EINVAL
	}
	block := (start + hugeMask) &^ hugeMask
	if block+hugeSize > stop || block < start {
		// nothing to do, but an area that can have no large page is refused
		if a.Object != nil || s.Resident(a, Step) == 0 {
			return start, unix.EINVAL
		}
		return stop, 0
	}
	if a.Object != nil {
		if !s.mapInPlace(l, a, block) {
			if slot, size := s.Tables.Lookup(block); size != hugeSize || *slot == 0 {
				return start, unix.EINVAL
			}
		}
	} else if errno := s.collapse(l, a, block); errno != 0 {
		return start, errno
	}
	if block += hugeSize; block+hugeSize > stop {
		return stop, 0
	}
	return block, 0
}

// gather copies the small pages of the 2 MiB at block, for which there is a
// table, into one large page.
func (s *Space) gather(l *Local, a *vma.Area, block uint64) unix.Errno {
	m := s.memory
	pa := m.Frames.AllocUser(frames.HugeOrder)
	if pa == 0 {
		return unix.EAGAIN
	}
	slot := s.Tables.LargeSlot(block)
	table := *slot
	// nobody may write while the pages are copied
	*slot = 0
	m.Invalidate(l, s, block, block+hugeSize)
	owned, used := uint64(0), uint64(0)
	for i := uint64(0); i < hugePages; i++ {
		e := phys.Word(table&pagetable.Address + i*8)
		to := pa + i<<pageShift
		if *e == 0 || *e&pagetable.Address == m.zero {
			phys.ZeroPage(to)
		} else {
			phys.CopyPage(to, *e&pagetable.Address)
		}
		if *e != 0 {
			used++
			if *e&pagetable.Borrowed == 0 {
				owned++
				m.Frames.Put(*e & pagetable.Address)
			}
		}
	}
	m.Frames.Release(table & pagetable.Address)
	s.Tables.Tables--
	s.notePeak()
	s.anonymous -= owned
	m.Anonymous -= owned
	s.borrowed -= used - owned
	*slot = s.entry(a, pa|pagetable.Large|s.flags(a, true))
	s.addLarge()
	return 0
}
