package space

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/pagetable"
)

// zap takes the pages of [start, end) out of the tables and gives up the owned
// ones. It handles at most Step entries and returns where it stopped: end when
// all is done. ENOMEM: a 2 MiB page of which only a part goes could not be
// split.
func (s *Space) zap(l *Local, start, end uint64) (uint64, unix.Errno) {
	return s.zapSome(l, start, end, true)
}

// zapSome is zap; unless owned, it leaves pages alone that the entries own.
func (s *Space) zapSome(l *Local, start, end uint64, owned bool) (uint64, unix.Errno) {
	s.notePeak()
	va, changed := start, false
	var errno unix.Errno
	l.count = 0
	for budget := uint64(Step); va < end && budget > 0; {
		slot, size := s.Tables.Lookup(va)
		e := *slot
		if e == 0 {
			if va = (va | (size - 1)) + 1; va == 0 {
				va = end
			}
			if size == pageSize {
				va = s.skipEmpty(slot, va, end)
			}
			continue
		}
		if !owned && e&pagetable.Borrowed == 0 {
			va = (va | (size - 1)) + 1 // no progress if the next step begins here
			continue
		}
		changed = true
		if size == hugeSize {
			if va&hugeMask == 0 && end-va >= hugeSize {
				s.clearLarge(l, va, slot)
				va += hugeSize
				budget--
				continue
			}
			if !s.splitLarge(slot) {
				errno = unix.ENOMEM
				break
			}
			continue
		}
		// the entries of one table, in a row
		n := min(budget, (end-va)>>pageShift, hugePages-va>>pageShift&(hugePages-1))
		if !owned {
			n = 1
		}
		s.clearSmall(l, va, slot, n)
		va += n << pageShift
		budget -= n
	}
	va = min(va, end)
	if changed {
		s.memory.Invalidate(l, s, start, max(va, start+pageSize))
		s.free(l)
	}
	return va, errno
}

// skipEmpty returns the next address, at most end, whose entry in slot's table
// is not zero, or where the table ends. slot is the entry before va's.
func (s *Space) skipEmpty(slot *uint64, va, end uint64) uint64 {
	for va < end && va&hugeMask != 0 {
		slot = (*uint64)(unsafe.Add(unsafe.Pointer(slot), 8))
		if *slot != 0 {
			break
		}
		va += pageSize
	}
	return va
}

// clearLarge clears the entry of a 2 MiB page and remembers its block.
func (s *Space) clearLarge(l *Local, va uint64, slot *uint64) {
	e := *slot
	*slot = 0
	if e&pagetable.Borrowed != 0 {
		s.borrowed -= hugePages
	} else {
		s.anonymous -= hugePages
		s.memory.Anonymous -= hugePages
		s.memory.HugeAnonymous -= hugePages
		l.frames[l.count&(Step-1)] = e & pagetable.Address
		l.count++
	}
	s.Tables.Unuse(va, slot, 1)
}

// clearSmall clears n entries from slot on, which are of one table and need not
// be in use, and remembers their frames. l has room for n.
func (s *Space) clearSmall(l *Local, va uint64, slot *uint64, n uint64) {
	first, used, count := slot, uint64(0), l.count
	for ; n > 0; n-- {
		e := *slot
		if e != 0 {
			*slot = 0
			used++
			if e&pagetable.Borrowed == 0 {
				l.frames[count&(Step-1)] = e & pagetable.Address
				count++
			}
		}
		slot = (*uint64)(unsafe.Add(unsafe.Pointer(slot), 8))
	}
	owned := count - l.count
	s.anonymous -= owned
	s.memory.Anonymous -= owned
	s.borrowed -= used - owned
	l.count = count
	if used != 0 {
		s.Tables.Unuse(va, first, used)
	}
}

// free gives up the frames that were remembered.
func (s *Space) free(l *Local) {
	f := s.memory.Frames
	for i := uint64(0); i < l.count && i < Step; i++ {
		// the 16 pages that one fault has mapped, back in one piece
		if i+16 <= l.count && adjacent(&l.frames, i) && f.PutRun(l.frames[i], 4) {
			i += 15
			continue
		}
		f.Put(l.frames[i])
	}
	l.count = 0
}

// adjacent reports whether 16 frames from index i on follow each other.
func adjacent(list *[Step]uint64, i uint64) bool {
	p := unsafe.Pointer(&list[i&(Step-1)])
	pa, diff := list[i&(Step-1)], uint64(0)
	for n := 16; n > 0; n-- {
		diff |= *(*uint64)(p) ^ pa
		p = unsafe.Add(p, 8)
		pa += pageSize
	}
	return diff == 0
}

// splitLarge turns the 2 MiB page in slot into small pages.
func (s *Space) splitLarge(slot *uint64) bool {
	owned := *slot&pagetable.Borrowed == 0
	if !s.Tables.Split(slot) {
		return false
	}
	if owned {
		s.memory.HugeAnonymous -= hugePages
	}
	return true
}
