package space

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// map32Bit is MAP_32BIT, which only x86-64 has.
const map32Bit = 0x40

// legacyFlags are the flags that mmap(2) with MAP_SHARED_VALIDATE knows.
const legacyFlags = unix.MAP_SHARED | unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_ANONYMOUS | unix.MAP_DENYWRITE | unix.MAP_EXECUTABLE |
	unix.MAP_GROWSDOWN | unix.MAP_LOCKED | unix.MAP_NORESERVE | unix.MAP_POPULATE | unix.MAP_NONBLOCK | unix.MAP_STACK | unix.MAP_HUGETLB | map32Bit

// Request is a call of mmap(2). Object is what its descriptor refers to, nil
// for anonymous memory.
type Request struct {
	Addr, Length uint64
	Prot, Flags  uint32
	Object       *object.Object
	Offset       uint64
	Readable     bool // the descriptor is open for reading
	Writable     bool // and for writing
}

// Map is mmap(2) and returns the address of the mapping. Again means: call it
// again with the same request. Populating, for MAP_POPULATE and MAP_LOCKED, is
// the caller's: PopulateFlags tells.
//
// The order of the checks is Linux's, so that a call that is wrong in two ways
// gets the same error.
func (s *Space) Map(l *Local, r *Request) (uint64, unix.Errno) {
	if r.Offset&pageMask != 0 {
		return 0, unix.EINVAL
	}
	anonymous := r.Object == nil
	if r.Flags&unix.MAP_HUGETLB != 0 {
		if !anonymous {
			return 0, unix.EINVAL
		}
		return 0, unix.ENOMEM // there is no pool of such pages
	}
	if r.Length == 0 {
		return 0, unix.EINVAL
	}
	n := (r.Length + pageMask) &^ pageMask
	if n == 0 {
		return 0, unix.ENOMEM
	}
	if r.Offset+n < r.Offset {
		return 0, unix.EOVERFLOW
	}
	if s.Areas.Len() > MaxAreas {
		return 0, unix.ENOMEM
	}
	var a vma.Area
	a.Prot = r.Prot & (vma.Read | vma.Write | vma.Exec)
	a.MaxProt = vma.Read | vma.Write | vma.Exec
	a.Flags = s.lockFuture
	addr, errno := s.place(r, n)
	if errno != 0 {
		return 0, errno
	}
	if r.Flags&unix.MAP_LOCKED != 0 {
		a.Flags |= vma.Locked
		a.Flags &^= vma.OnFault
	}
	if a.Flags&vma.Locked != 0 && !s.mayLock(n>>pageShift) {
		return 0, unix.EAGAIN
	}
	if errno := mapType(r, &a, anonymous); errno != 0 {
		return 0, errno
	}
	if r.Flags&unix.MAP_NORESERVE != 0 {
		a.Flags |= vma.NoReserve
	}
	pages := n >> pageShift
	if s.total+pages-s.pagesIn(addr, addr+n) > s.Limits.AddressSpace>>pageShift || isData(a.Prot, a.Flags) && s.data+pages > s.Limits.Data>>pageShift {
		return 0, unix.ENOMEM
	}
	// memory that cannot exist is refused at once (overcommit_memory 0)
	if a.Flags&vma.NoReserve == 0 && (isData(a.Prot, a.Flags) || anonymous && a.Flags&vma.Shared != 0) && pages > s.memory.Frames.Total() {
		return 0, unix.ENOMEM
	}
	if errno := s.clear(l, addr, addr+n); errno != 0 {
		return 0, errno
	}
	a.Start, a.End = addr, addr+n
	return addr, s.insert(&a, r)
}

// mapType sets a's flags by the type of mapping, or says what is wrong with it.
func mapType(r *Request, a *vma.Area, anonymous bool) unix.Errno {
	kind := r.Flags & unix.MAP_TYPE
	grows := r.Flags&unix.MAP_GROWSDOWN != 0
	switch {
	case anonymous && kind == unix.MAP_SHARED:
		if grows {
			return unix.EINVAL
		}
		a.Flags |= vma.Shared
	case anonymous && kind == unix.MAP_PRIVATE:
		if grows {
			a.Flags |= vma.GrowsDown
		}
	case anonymous:
		return unix.EINVAL
	case kind == unix.MAP_SHARED || kind == unix.MAP_SHARED_VALIDATE:
		if kind == unix.MAP_SHARED_VALIDATE && r.Flags&^legacyFlags != 0 {
			return unix.EOPNOTSUPP
		}
		if !r.Writable {
			if a.Prot&vma.Write != 0 {
				return unix.EACCES
			}
			a.MaxProt &^= vma.Write
		}
		if r.Object != nil && r.Object.Seals&(unix.F_SEAL_WRITE|unix.F_SEAL_FUTURE_WRITE) != 0 {
			if a.Prot&vma.Write != 0 {
				return unix.EPERM
			}
			a.MaxProt &^= vma.Write
		}
		a.Flags |= vma.Shared
		fallthrough
	case kind == unix.MAP_PRIVATE:
		if !r.Readable {
			return unix.EACCES
		}
		if grows {
			return unix.EINVAL
		}
	default:
		return unix.EINVAL
	}
	if !anonymous && r.Offset+(r.Length+pageMask)&^pageMask > 1<<63-1 {
		return unix.EOVERFLOW
	}
	return 0
}

// insert adds an area like a, of anonymous memory or r's object, to its free
// place.
func (s *Space) insert(a *vma.Area, r *Request) unix.Errno {
	if a.Flags&vma.Shared != 0 && r.Object == nil {
		a.Object = s.memory.anonymousObject(a.End - a.Start)
		if a.Object == nil {
			return unix.ENOMEM
		}
		errno := s.Insert(a)
		s.memory.ReleaseObject(a.Object) // the area has its own reference
		return errno
	}
	if a.Object = r.Object; a.Object != nil {
		a.Offset = r.Offset
	}
	return s.Insert(a)
}

// Insert adds an area with a's bounds, rights, flags, object and offset where
// nothing is mapped. It may become part of a neighbour. ENOMEM.
func (s *Space) Insert(a *vma.Area) unix.Errno {
	// grow a neighbour rather than make a new area
	next := s.Areas.Find(a.Start)
	prev := s.Areas.Last()
	if next != nil {
		prev = next.Prev
	}
	if mergeable(prev, a) {
		s.account(a, (a.End-a.Start)>>pageShift)
		s.Areas.Move(prev, prev.Start, a.End)
		s.merge(prev)
		return 0
	}
	b := s.memory.Areas.Get()
	if b == nil {
		return unix.ENOMEM
	}
	b.Start, b.End, b.Prot, b.MaxProt, b.Flags = a.Start, a.End, a.Prot, a.MaxProt, a.Flags
	b.Object, b.Offset = a.Object, a.Offset
	s.add(b)
	s.merge(b)
	return 0
}

// pagesIn counts the mapped pages of [start, end).
func (s *Space) pagesIn(start, end uint64) uint64 {
	n := uint64(0)
	for a := s.Areas.Find(start); a != nil && a.Start < end; a = a.Next {
		n += (min(a.End, end) - max(a.Start, start)) >> pageShift
	}
	return n
}

// place finds the address of a mapping of n bytes.
func (s *Space) place(r *Request, n uint64) (uint64, unix.Errno) {
	if n > s.ceiling {
		return 0, unix.ENOMEM
	}
	if r.Flags&(unix.MAP_FIXED|unix.MAP_FIXED_NOREPLACE) != 0 {
		if r.Addr > s.ceiling-n || s.kernel && r.Addr < s.low {
			return 0, unix.ENOMEM
		}
		if r.Addr&pageMask != 0 {
			return 0, unix.EINVAL
		}
		if r.Flags&unix.MAP_FIXED_NOREPLACE != 0 && s.taken(r.Addr, r.Addr+n) {
			return 0, unix.EEXIST
		}
		return r.Addr, 0
	}
	if hint := r.Addr &^ pageMask; hint != 0 {
		hint = max(hint, s.low)
		if top := s.hintTop(); n <= top && hint <= top-n && !s.near(hint, hint+n) {
			return hint, 0
		}
	}
	if r.Flags&map32Bit != 0 {
		if addr, ok := s.Areas.GapDown(0x4000_0000, 0x8000_0000, n, 0, 0); ok {
			return addr, 0
		}
		return 0, unix.ENOMEM
	}
	return s.gap(r, n)
}

// hintTop is the end of where an address that is only a hint may lie.
func (s *Space) hintTop() uint64 {
	if s.kernel {
		return s.high
	}
	return s.ceiling
}

// gap finds free address space for n bytes. Where 2 MiB pages are possible it
// looks for a place that suits them.
func (s *Space) gap(r *Request, n uint64) (uint64, unix.Errno) {
	align, offset := uint64(0), uint64(0)
	if n >= hugeSize {
		align = hugeSize
		if o := r.Object; o != nil {
			offset = r.Offset // large pages of the file, if it ever has some
			if pa, pages := o.InPlace(r.Offset >> pageShift); pages != 0 {
				offset = pa
			}
		}
	}
	if s.kernel {
		if addr, ok := s.Areas.GapUp(s.low, s.high, n, align, offset); ok {
			return addr, 0
		}
		return 0, unix.ENOMEM
	}
	if addr, ok := s.Areas.GapDown(s.low, s.high, n, align, offset); ok {
		return addr, 0
	}
	if addr, ok := s.Areas.GapDown(s.low, s.high, n, 0, 0); ok {
		return addr, 0
	}
	if addr, ok := s.Areas.GapUp(s.low, s.ceiling, n, 0, 0); ok {
		return addr, 0
	}
	return 0, unix.ENOMEM
}

// taken reports whether anything is mapped in [start, end).
func (s *Space) taken(start, end uint64) bool {
	a := s.Areas.Find(start)
	return a != nil && a.Start < end
}

// near is taken, and also true where the range would come too close to an area
// above that grows down.
func (s *Space) near(start, end uint64) bool {
	a := s.Areas.Find(start)
	if a == nil {
		return false
	}
	floor := a.Start
	if a.Flags&vma.GrowsDown != 0 {
		floor -= min(floor, vma.Guard)
	}
	return floor < end
}

// PopulateFlags tells how the pages of a new mapping are to be populated: not
// at all, or as Populate wants it.
func (s *Space) PopulateFlags(flags uint32) (populate bool) {
	return flags&(unix.MAP_POPULATE|unix.MAP_NONBLOCK) == unix.MAP_POPULATE || flags&unix.MAP_LOCKED != 0 ||
		s.lockFuture&(vma.Locked|vma.OnFault) == vma.Locked
}
