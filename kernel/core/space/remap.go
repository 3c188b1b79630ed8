package space

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// Remap is mremap(2) and returns the address of the mapping. Again: call it
// again with the same arguments. The checks come in Linux's order.
func (s *Space) Remap(l *Local, addr, oldLength, newLength uint64, flags uint32, target uint64) (uint64, unix.Errno) {
	const known = unix.MREMAP_MAYMOVE | unix.MREMAP_FIXED | unix.MREMAP_DONTUNMAP
	fixed, keep := flags&unix.MREMAP_FIXED != 0, flags&unix.MREMAP_DONTUNMAP != 0
	if flags&^known != 0 || (fixed || keep) && flags&unix.MREMAP_MAYMOVE == 0 || addr&pageMask != 0 {
		return 0, unix.EINVAL
	}
	oldLength, newLength = (oldLength+pageMask)&^pageMask, (newLength+pageMask)&^pageMask
	if newLength == 0 || newLength > s.ceiling || keep && oldLength != newLength {
		return 0, unix.EINVAL
	}
	if fixed || keep {
		if target&pageMask != 0 || fixed && target > s.ceiling-newLength {
			return 0, unix.EINVAL
		}
		if fixed && addr+oldLength > target && target+newLength > addr {
			return 0, unix.EINVAL
		}
	}
	a := s.find(addr)
	if a == nil {
		return 0, unix.EFAULT
	}
	if oldLength == 0 && a.Flags&vma.Shared == 0 {
		return 0, unix.EINVAL
	}
	if keep && a.Flags&vma.Kernel != 0 {
		return 0, unix.EINVAL
	}
	if fixed || keep {
		return s.remapTo(l, a, addr, oldLength, newLength, target, fixed, keep)
	}
	if newLength == oldLength && oldLength <= a.End-addr {
		return addr, 0
	}
	if newLength < oldLength {
		if errno := s.Unmap(l, addr+newLength, oldLength-newLength); errno != 0 {
			return 0, errno
		}
		return addr, 0
	}
	if errno := s.mayGrow(a, addr, oldLength, newLength); errno != 0 {
		return 0, errno
	}
	// in place, at the end of the area
	if delta := newLength - oldLength; oldLength != 0 && oldLength == a.End-addr && addr <= s.ceiling-newLength && !s.near(a.End, a.End+delta) {
		s.account(a, delta>>pageShift)
		s.Areas.Move(a, a.Start, a.End+delta)
		s.merge(a)
		return addr, 0
	}
	if flags&unix.MREMAP_MAYMOVE == 0 {
		return 0, unix.ENOMEM
	}
	to, errno := s.gapLike(a, addr, newLength)
	if errno != 0 {
		return 0, errno
	}
	return s.move(l, a, addr, oldLength, newLength, to, false)
}

// mayGrow checks what Linux's vma_to_resize does.
func (s *Space) mayGrow(a *vma.Area, addr, oldLength, newLength uint64) unix.Errno {
	if oldLength > a.End-addr {
		return unix.EFAULT
	}
	if a.Object != nil && a.Offset+(addr-a.Start)+newLength < newLength {
		return unix.EINVAL
	}
	if newLength <= oldLength {
		return 0
	}
	delta := (newLength - oldLength) >> pageShift
	if a.Flags&vma.Locked != 0 && !s.mayLock(delta) {
		return unix.EAGAIN
	}
	if !s.mayAdd(delta, isData(a.Prot, a.Flags)) || isData(a.Prot, a.Flags) && a.Flags&vma.NoReserve == 0 && delta > s.memory.Frames.Total() {
		return unix.ENOMEM
	}
	return 0
}

// remapTo is Remap with MREMAP_FIXED or MREMAP_DONTUNMAP.
func (s *Space) remapTo(l *Local, a *vma.Area, addr, oldLength, newLength, target uint64, fixed, keep bool) (uint64, unix.Errno) {
	// all checks before anything is lost
	if errno := s.mayGrow(a, addr, min(oldLength, newLength), newLength); errno != 0 {
		return 0, errno
	}
	if keep && !s.mayAdd(newLength>>pageShift, isData(a.Prot, a.Flags)) {
		return 0, unix.ENOMEM
	}
	if fixed {
		if errno := s.clear(l, target, target+newLength); errno != 0 {
			return 0, errno
		}
		if a = s.find(addr); a == nil {
			return 0, unix.EFAULT
		}
	}
	if oldLength > newLength {
		if errno := s.Unmap(l, addr+newLength, oldLength-newLength); errno != 0 {
			return 0, errno
		}
		oldLength = newLength
		a = s.find(addr)
	}
	if !fixed {
		if target != 0 && target <= s.ceiling-newLength && !s.near(target, target+newLength) {
			return s.move(l, a, addr, oldLength, newLength, target, keep)
		}
		to, errno := s.gapLike(a, addr, newLength)
		if errno != 0 {
			return 0, errno
		}
		target = to
	}
	return s.move(l, a, addr, oldLength, newLength, target, keep)
}

// gapLike finds free space that lies in its 2 MiB as addr in its own, so that
// whole tables can be moved.
func (s *Space) gapLike(a *vma.Area, addr, n uint64) (uint64, unix.Errno) {
	if n >= hugeSize {
		if to, ok := s.Areas.GapDown(s.low, s.high, n, hugeSize, addr); ok {
			return to, 0
		}
	}
	return s.gap(&Request{Object: a.Object, Offset: a.Offset + addr - a.Start}, n)
}

// move makes the area [addr, addr+oldLength), a part of a, one of newLength
// bytes at to, where nothing is mapped, with its pages. With keep the old area
// stays, without pages.
func (s *Space) move(l *Local, a *vma.Area, addr, oldLength, newLength, to uint64, keep bool) (uint64, unix.Errno) {
	if s.Areas.Len()+3 > MaxAreas {
		return 0, unix.ENOMEM
	}
	end := addr + oldLength
	if oldLength != 0 {
		if e := s.splitBoth(addr, end); e != 0 {
			return 0, e
		}
		a = s.Areas.Find(addr)
	}
	b := s.memory.Areas.Get()
	if b == nil {
		s.mergeRange(addr, end)
		return 0, unix.ENOMEM
	}
	b.Start, b.End, b.Prot, b.MaxProt, b.Flags = to, to+newLength, a.Prot, a.MaxProt, a.Flags
	if b.Object = a.Object; b.Object != nil {
		b.Offset = a.Offset + (addr - a.Start)
	}
	s.add(b)
	if errno := s.movePages(l, addr, end, to); errno != 0 {
		// put back what was moved: those entries need no memory
		s.movePages(l, to, to+oldLength, addr)
		s.drop(b)
		s.mergeRange(addr, end)
		return 0, errno
	}
	if oldLength != 0 && !keep {
		s.drop(a)
	} else {
		if keep {
			a.Flags &^= vma.Locked | vma.OnFault
			s.locked -= min(s.locked, oldLength>>pageShift*boolBit(b.Flags&vma.Locked != 0))
		}
		s.mergeRange(addr, end)
	}
	s.hint = nil
	s.merge(b)
	return to, 0
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// movePages moves the entries of [va, end) to to, whole tables and 2 MiB pages
// where both lie alike. It is not done in steps: where they do not lie alike,
// which only a program's own choice of address can bring about, its time grows
// with the pages that are there.
func (s *Space) movePages(l *Local, va, end, to uint64) (errno unix.Errno) {
	start := va
	for va < end {
		slot, size := s.Tables.Lookup(va)
		at := to + (va - start)
		if *slot == 0 {
			if va = (va | (size - 1)) + 1; size == pageSize {
				va = s.skipEmpty(slot, va, end)
			}
			continue
		}
		if (va|at)&hugeMask == 0 && end-va >= hugeSize && !s.kernel {
			from := s.Tables.LargeSlot(va)
			target := s.Tables.LargeSlot(at)
			if target == nil {
				errno = unix.ENOMEM
				break
			}
			if *target == 0 {
				e := *from
				*from = 0
				*target = e
				s.Tables.Use(target, 1)
				s.Tables.Unuse(va, from, 1)
				va += hugeSize
				continue
			}
		}
		if size == hugeSize {
			if !s.splitLarge(slot) {
				errno = unix.ENOMEM
				break
			}
			continue
		}
		target := s.Tables.Slot(at)
		if target == nil {
			errno = unix.ENOMEM
			break
		}
		*target = *slot
		*slot = 0
		s.Tables.Use(target, 1)
		s.Tables.Unuse(va, slot, 1)
		va += pageSize
	}
	if va > start {
		s.memory.Invalidate(l, s, start, min(va, end))
	}
	return errno
}

// collapse replaces the small pages of the 2 MiB at block, all of a, by one
// large page with the same contents. EINVAL: nothing is there. EAGAIN: there is
// no 2 MiB of memory.
func (s *Space) collapse(l *Local, a *vma.Area, block uint64) unix.Errno {
	slot, size := s.Tables.Lookup(block)
	if size > hugeSize || size == hugeSize && *slot == 0 {
		return unix.EINVAL
	}
	if size == hugeSize {
		return 0
	}
	n := uint64(0)
	for p, i := unsafe.Pointer(slot), 0; i < hugePages; i++ {
		if *(*uint64)(p)&pagetable.Address != 0 {
			n++
		}
		p = unsafe.Add(p, 8)
	}
	if n == 0 {
		return unix.EINVAL
	}
	return s.gather(l, a, block)
}
