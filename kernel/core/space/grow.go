package space

import "github.com/leveret-os/leveret/kernel/core/vma"

// growDown extends an area that grows down to the page of addr, if its limits
// and what lies below allow it.
func (s *Space) growDown(a *vma.Area, addr uint64) bool {
	start := addr &^ pageMask
	if start < s.low || a.End-start > s.Limits.Stack {
		return false
	}
	if p := a.Prev; p != nil {
		if start < p.End || p.Prot != 0 && p.Flags&vma.GrowsDown == 0 && start-p.End < vma.Guard {
			return false
		}
	}
	n := (a.Start - start) >> pageShift
	if !s.mayAdd(n, false) || a.Flags&vma.Locked != 0 && !s.mayLock(n) {
		return false
	}
	s.resizeDown(a, start)
	return true
}

// resizeDown moves the start of an anonymous area.
func (s *Space) resizeDown(a *vma.Area, start uint64) {
	s.account(a, (a.Start-start)>>pageShift)
	s.Areas.Move(a, start, a.End)
}

// mayAdd reports whether RLIMIT_AS, and for data RLIMIT_DATA, leave room for n
// pages more.
func (s *Space) mayAdd(n uint64, data bool) bool {
	return s.total+n <= s.Limits.AddressSpace>>pageShift && (!data || s.data+n <= s.Limits.Data>>pageShift)
}

// mayLock reports whether RLIMIT_MEMLOCK leaves room for n locked pages more.
func (s *Space) mayLock(n uint64) bool {
	return s.Privileged || s.locked+n <= s.Limits.Locked>>pageShift
}
