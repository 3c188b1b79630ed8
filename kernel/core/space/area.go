package space

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/vma"
)

// isData reports whether a's pages count against RLIMIT_DATA: private and
// writable, and not a stack.
func isData(prot, flags uint32) bool {
	return prot&vma.Write != 0 && flags&(vma.Shared|vma.GrowsDown|vma.Stack) == 0
}

// account adds n pages (or takes them away) with a's properties to the totals.
func (s *Space) account(a *vma.Area, n uint64) {
	s.total += n
	if isData(a.Prot, a.Flags) {
		s.data += n
	}
	if a.Flags&vma.Locked != 0 {
		s.locked += n
	}
}

// add puts an area into the tree and the lists that it belongs to.
func (s *Space) add(a *vma.Area) {
	s.Areas.Insert(a)
	s.account(a, (a.End-a.Start)>>pageShift)
	s.attach(a)
}

// attach links a to its object and counts what the object counts.
func (s *Space) attach(a *vma.Area) {
	o := a.Object
	if o == nil {
		return
	}
	o.Attach(&a.Link)
	o.References++
	if a.Flags&vma.Shared != 0 && a.MaxProt&vma.Write != 0 {
		o.Writers++
	}
}

func (s *Space) detach(a *vma.Area) {
	o := a.Object
	if o == nil {
		return
	}
	o.Detach(&a.Link)
	if a.Flags&vma.Shared != 0 && a.MaxProt&vma.Write != 0 {
		o.Writers--
	}
	a.Object = nil
	s.memory.ReleaseObject(o)
}

// drop takes an area, whose pages are gone, out and frees it.
func (s *Space) drop(a *vma.Area) {
	s.account(a, -((a.End - a.Start) >> pageShift))
	s.hint = nil
	s.Areas.Remove(a)
	s.detach(a)
	s.memory.Areas.Put(a)
}

// resize gives an area new bounds.
func (s *Space) resize(a *vma.Area, start, end uint64) {
	s.account(a, (end-start)>>pageShift-(a.End-a.Start)>>pageShift)
	a.Offset += start - a.Start
	s.Areas.Move(a, start, end)
}

// split cuts the area that holds addr in its inside in two there. ENOMEM when
// there are too many areas or there is no memory for another.
func (s *Space) split(addr uint64) unix.Errno {
	a := s.Areas.Find(addr)
	if a == nil || a.Start >= addr {
		return 0
	}
	if s.Areas.Len() >= MaxAreas {
		return unix.ENOMEM
	}
	b := s.memory.Areas.Get()
	if b == nil {
		return unix.ENOMEM
	}
	b.Start, b.End = addr, a.End
	b.Prot, b.MaxProt, b.Flags = a.Prot, a.MaxProt, a.Flags
	b.Object, b.Offset = a.Object, a.Offset+(addr-a.Start)
	s.Areas.Move(a, a.Start, addr)
	s.Areas.Insert(b)
	s.attach(b)
	return 0
}

// splitBoth makes start and end bounds of areas.
func (s *Space) splitBoth(start, end uint64) unix.Errno {
	if e := s.split(start); e != 0 {
		return e
	}
	return s.split(end)
}

// mergeable reports whether b, which follows a, can become part of it.
func mergeable(a, b *vma.Area) bool {
	return a != nil && b != nil && a.End == b.Start && a.Prot == b.Prot && a.MaxProt == b.MaxProt && a.Flags == b.Flags &&
		a.Object == b.Object && (a.Object == nil || a.Offset+(a.End-a.Start) == b.Offset)
}

// merge joins a with its neighbours where that is possible and returns the
// area that a is part of now.
func (s *Space) merge(a *vma.Area) *vma.Area {
	if mergeable(a, a.Next) {
		s.absorb(a, a.Next)
	}
	if p := a.Prev; mergeable(p, a) {
		s.absorb(p, a)
		a = p
	}
	return a
}

// absorb makes b, which follows a, part of it.
func (s *Space) absorb(a, b *vma.Area) {
	end := b.End
	s.hint = nil
	s.Areas.Remove(b)
	s.detach(b)
	s.memory.Areas.Put(b)
	s.Areas.Move(a, a.Start, end)
}

// mergeRange joins what can be joined from start to end, both included.
func (s *Space) mergeRange(start, end uint64) {
	a := s.Areas.Find(start)
	if a != nil && a.Prev != nil {
		a = a.Prev
	}
	for a != nil && a.Start <= end {
		for mergeable(a, a.Next) {
			s.absorb(a, a.Next)
		}
		a = a.Next
	}
}

// covered reports whether areas cover all of [start, end).
func (s *Space) covered(start, end uint64) bool {
	for a := s.Areas.Find(start); a != nil && a.Start <= start; a = a.Next {
		if a.End >= end {
			return true
		}
		start = a.End
	}
	return start >= end
}
