package space

import (
	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// wantsHuge reports whether the 2 MiB around va may be one page of a.
func (s *Space) wantsHuge(a *vma.Area, va uint64) bool {
	block := va &^ hugeMask
	if block < a.Start || a.End-block < hugeSize || a.Flags&(vma.NoHuge|vma.GrowsDown) != 0 {
		return false
	}
	switch s.memory.HugeMode {
	case HugeAlways:
		return true
	case HugeMadvise:
		return a.Flags&vma.Huge != 0
	}
	return false
}

// faultLarge tries to resolve a fault on anonymous memory by a 2 MiB page. It
// reports done = false where small pages have to do.
func (s *Space) faultLarge(l *Local, a *vma.Area, va uint64, write bool) (r Result, done bool) {
	if !s.wantsHuge(a, va) {
		return Resolved, false
	}
	slot := s.Tables.LargeSlot(va)
	if slot == nil {
		return NoMemory, true
	}
	if e := *slot; e != 0 {
		if e&pagetable.Large == 0 {
			return Resolved, false // a table with small pages
		}
		return s.faultPresentLarge(l, a, va, slot, write), true
	}
	pa := s.memory.Frames.AllocUser(frames.HugeOrder)
	if pa == 0 {
		s.Tables.Trim(va, slot)
		return Resolved, false
	}
	phys.Zero(pa, hugeSize)
	*slot = pa | pagetable.Large | s.flags(a, true)
	s.Tables.Use(slot, 1)
	s.addLarge()
	s.Faults.Large++
	return Resolved, true
}

func (s *Space) addLarge() {
	s.anonymous += hugePages
	s.memory.Anonymous += hugePages
	s.memory.HugeAnonymous += hugePages
}

// faultPresentLarge is faultPresent for the 2 MiB page in slot.
func (s *Space) faultPresentLarge(l *Local, a *vma.Area, va uint64, slot *uint64, write bool) Result {
	e := *slot
	private := a.Flags&vma.Shared == 0
	if write && private && s.copies(e) {
		if !s.splitLarge(slot) {
			return NoMemory
		}
		small, _ := s.Tables.Lookup(va)
		return s.copyPage(l, a, va, small)
	}
	want := e&^(pagetable.Hidden|pagetable.Writable|pagetable.NoExec) | s.flags(a, !private || !s.copies(e))
	s.Faults.Spurious++
	if want != e {
		*slot = want
		s.memory.Invalidate(l, s, va&^hugeMask, va&^hugeMask+hugeSize)
	}
	return Resolved
}
