package space

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/vma"
)

const mlockOnFault = 1 // MLOCK_ONFAULT

// Lock is mlock(2) and mlock2(2). Again: call it again, with from being where
// it says the next step begins; the first call has from = 0.
func (s *Space) Lock(l *Local, addr, n uint64, flags uint32, from uint64) (next uint64, errno unix.Errno) {
	if flags&^mlockOnFault != 0 {
		return 0, unix.EINVAL
	}
	start := addr &^ pageMask
	n = (n + addr&pageMask + pageMask) &^ pageMask // a length that wraps is 0, as for Linux
	end := start + n
	if !s.Privileged && s.locked+n>>pageShift > s.Limits.Locked>>pageShift {
		return 0, unix.ENOMEM
	}
	if end < start {
		return 0, unix.EINVAL
	}
	if n == 0 {
		return 0, 0
	}
	if from == 0 {
		set := uint32(vma.Locked)
		if flags&mlockOnFault != 0 {
			set |= vma.OnFault
		}
		if errno := s.lockAreas(start, end, set); errno != 0 {
			return 0, errno
		}
		from = start
	}
	return s.Populate(l, from, end, true)
}

// lockAreas gives the areas of [start, end) the flags for locking; ENOMEM at
// the first hole, what is in front of it being done.
func (s *Space) lockAreas(start, end uint64, set uint32) unix.Errno {
	for at := start; at < end; {
		a := s.Areas.Find(at)
		if a == nil || a.Start > at {
			return unix.ENOMEM
		}
		stop := min(a.End, end)
		if errno := s.setFlags(at, stop, set, vma.Locked|vma.OnFault); errno != 0 {
			return errno
		}
		at = stop
	}
	return 0
}

// Unlock is munlock(2).
func (s *Space) Unlock(addr, n uint64) unix.Errno {
	start := addr &^ pageMask
	n = (n + addr&pageMask + pageMask) &^ pageMask
	if start+n < start {
		return unix.EINVAL
	}
	return s.lockAreas(start, start+n, 0)
}

// LockAll is mlockall(2). Again: call it again from where it says, first 0.
func (s *Space) LockAll(l *Local, flags uint32, from uint64) (next uint64, errno unix.Errno) {
	const known = unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT
	if flags == 0 || flags&^known != 0 || flags == unix.MCL_ONFAULT {
		return 0, unix.EINVAL
	}
	if flags&unix.MCL_CURRENT != 0 && !s.Privileged && s.total > s.Limits.Locked>>pageShift {
		return 0, unix.ENOMEM
	}
	set := uint32(vma.Locked)
	if flags&unix.MCL_ONFAULT != 0 {
		set |= vma.OnFault
	}
	s.lockFuture = 0
	if flags&unix.MCL_FUTURE != 0 {
		s.lockFuture = set
	}
	if flags&unix.MCL_CURRENT == 0 {
		return 0, 0
	}
	if from == 0 {
		s.setAll(set)
	}
	next, errno = s.Populate(l, max(from, pageSize), s.ceiling, false)
	if errno != Again {
		return 0, 0
	}
	return next, errno
}

// UnlockAll is munlockall(2).
func (s *Space) UnlockAll() {
	s.lockFuture = 0
	s.setAll(0)
}

// setAll sets the locking of every area.
func (s *Space) setAll(set uint32) {
	for a := s.Areas.First(); a != nil; a = a.Next {
		n := (a.End - a.Start) >> pageShift
		s.account(a, -n)
		a.Flags = a.Flags&^(vma.Locked|vma.OnFault) | set
		s.account(a, n)
		for mergeable(a.Prev, a) {
			p := a.Prev
			s.absorb(p, a)
			a = p
		}
	}
}
