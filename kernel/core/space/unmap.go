package space

import "golang.org/x/sys/unix"

// Unmap is munmap(2). Again: call it again. While it is under way the areas are
// still there, so that nothing else is put in their place; they go all at once,
// when their pages have gone.
func (s *Space) Unmap(l *Local, addr, n uint64) unix.Errno {
	end, ok := s.round(addr, n)
	if addr&pageMask != 0 || n == 0 || !ok || addr == end {
		return unix.EINVAL
	}
	return s.clear(l, addr, end)
}

// clear unmaps what there is in [start, end).
func (s *Space) clear(l *Local, start, end uint64) unix.Errno {
	if !s.taken(start, end) {
		return 0
	}
	// a hole in one area makes two of it: fail before anything is lost
	if a := s.Areas.Find(start); a.Start < start && a.End > end && s.Areas.Len() >= MaxAreas {
		return unix.ENOMEM
	}
	next, errno := s.zap(l, start, end)
	if errno != 0 {
		return errno
	}
	if next < end {
		return Again
	}
	return s.cut(start, end)
}

// cut takes [start, end), whose pages are gone, out of the areas.
func (s *Space) cut(start, end uint64) unix.Errno {
	a := s.Areas.Find(start)
	if a != nil && a.Start < start {
		if a.End > end {
			if e := s.split(end); e != 0 {
				return e
			}
		}
		next := a.Next
		s.resize(a, a.Start, start)
		a = next
	}
	for a != nil && a.Start < end {
		next := a.Next
		if a.End > end {
			s.resize(a, end, a.End)
			break
		}
		s.drop(a)
		a = next
	}
	s.hint = nil
	return 0
}

// Destroy unmaps everything and frees the tables, a step at a time. Again: call
// it again. No processor may use the space any more.
func (s *Space) Destroy(l *Local) unix.Errno {
	for budget := Step; ; budget-- {
		a := s.Areas.First()
		if a == nil {
			break
		}
		if budget == 0 {
			return Again
		}
		next, errno := s.zap(l, a.Start, a.End)
		if errno != 0 {
			return errno
		}
		if next < a.End {
			// what is gone need not be looked at again
			if next > a.Start {
				s.resize(a, next, a.End)
			}
			return Again
		}
		s.drop(a)
	}
	s.Tables.Destroy()
	return 0
}
