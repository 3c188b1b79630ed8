package space

import "github.com/leveret-os/leveret/kernel/core/vma"

// SetBreak says where the program's data ends, for Break.
func (s *Space) SetBreak(start uint64) {
	s.breakStart = start
	s.breakEnd = start
}

// BreakRange returns the bounds of what Break made.
func (s *Space) BreakRange() (start, end uint64) { return s.breakStart, s.breakEnd }

// Break is brk(2): it returns the new end, or the old one if it cannot be
// changed. ok is false when a step was done and the call is to be repeated.
func (s *Space) Break(l *Local, addr uint64) (end uint64, ok bool) {
	old := s.breakEnd
	if addr < s.breakStart || s.breakStart == 0 {
		return old, true
	}
	from, to := (old+pageMask)&^pageMask, (addr+pageMask)&^pageMask
	switch {
	case addr > s.ceiling-pageSize || addr-s.breakStart > s.Limits.Data:
		return old, true
	case to < from:
		switch s.clear(l, to, from) {
		case 0:
			s.breakEnd = addr
			return addr, true
		case Again:
			return old, false
		default:
			return old, true
		}
	case to > from:
		n := (to - from) >> pageShift
		if s.near(from, to+pageSize) || !s.mayAdd(n, true) || n > s.memory.Frames.Total() || s.lockFuture != 0 && !s.mayLock(n) {
			return old, true
		}
		a := vma.Area{Start: from, End: to, Prot: vma.Read | vma.Write, MaxProt: vma.Read | vma.Write | vma.Exec, Flags: vma.Heap | s.lockFuture}
		if s.Insert(&a) != 0 {
			return old, true
		}
	}
	s.breakEnd = addr
	return addr, true
}
