package space

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/vma"
)

// Mincore tells for up to len(out) pages from addr on whether they are in
// memory: bit 0 of each byte. It returns for how many, and ENOMEM when none of
// the first page is mapped.
func (s *Space) Mincore(addr uint64, out []byte) (n int, errno unix.Errno) {
	for n < len(out) {
		a := s.find(addr)
		if a == nil {
			break
		}
		for n < len(out) && addr < a.End {
			resident := byte(0)
			if slot, _ := s.Tables.Lookup(addr); *slot != 0 {
				resident = 1
			} else if a.Object != nil && a.Object.Peek((a.Offset+addr-a.Start)>>pageShift) != 0 {
				resident = 1
			}
			out[n] = resident
			n++
			addr += pageSize
		}
	}
	if n == 0 && len(out) != 0 {
		return 0, unix.ENOMEM
	}
	return n, 0
}

// Sync is msync(2): the memory file system has nothing to write back, so it
// only checks.
func (s *Space) Sync(addr, n uint64, flags uint32) unix.Errno {
	if flags&^(unix.MS_ASYNC|unix.MS_INVALIDATE|unix.MS_SYNC) != 0 || addr&pageMask != 0 ||
		flags&(unix.MS_ASYNC|unix.MS_SYNC) == unix.MS_ASYNC|unix.MS_SYNC {
		return unix.EINVAL
	}
	end := addr + (n+pageMask)&^pageMask
	if end < addr {
		return unix.ENOMEM
	}
	hole := false
	for at := addr; at < end; {
		a := s.Areas.Find(at)
		if a == nil {
			return unix.ENOMEM
		}
		hole = hole || a.Start > at
		if a.Start >= end {
			break
		}
		if flags&unix.MS_INVALIDATE != 0 && a.Flags&vma.Locked != 0 {
			return unix.EBUSY
		}
		at = a.End
	}
	if hole {
		return unix.ENOMEM
	}
	return 0
}

// Next returns the first area that ends above addr, or nil.
func (s *Space) Next(addr uint64) *vma.Area { return s.Areas.Find(addr) }

// Resident counts the bytes of a that have a page, looking at no more than n
// tables or gaps.
func (s *Space) Resident(a *vma.Area, n uint64) uint64 {
	bytes := uint64(0)
	for va := a.Start; va < a.End && n > 0; n-- {
		slot, size := s.Tables.Lookup(va)
		if size != pageSize {
			if *slot != 0 {
				bytes += min((va|(size-1))+1, a.End) - va
			}
			va = (va | (size - 1)) + 1
			continue
		}
		for {
			if *slot != 0 {
				bytes += pageSize
			}
			va += pageSize
			if va >= a.End || va&hugeMask == 0 {
				break
			}
			slot = (*uint64)(unsafe.Add(unsafe.Pointer(slot), 8))
		}
	}
	return bytes
}
