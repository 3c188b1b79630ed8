package space

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// aroundObject is how many bytes around a fault on an object are mapped where
// the object has the pages: no frame is needed for that.
const aroundObject = 64 << pageShift

// faultObject resolves a fault on the page at va, which shows an object's.
func (s *Space) faultObject(l *Local, a *vma.Area, va uint64, write bool) Result {
	o := a.Object
	at := a.Offset + (va - a.Start)
	if at >= (o.Size+pageMask)&^pageMask {
		return BeyondEnd
	}
	shared := a.Flags&vma.Shared != 0
	if shared || !write {
		if s.mapInPlace(l, a, va) {
			return Resolved
		}
	}
	slot := s.Tables.Slot(va)
	if slot == nil {
		return s.faultSlotless(l, a, va, write)
	}
	if *slot != 0 {
		return s.faultPresent(l, a, va, slot, write)
	}
	if write && !shared {
		return s.copyFrom(a, slot, at>>pageShift)
	}
	pa := o.Page(at >> pageShift)
	if pa == 0 {
		if o.MaxPages != 0 && o.Pages >= o.MaxPages {
			return BeyondEnd // as a full file system has it
		}
		return NoMemory
	}
	*slot = pa | pagetable.Borrowed | s.flags(a, shared)
	used := uint64(1) + s.mapAround(a, va, slot, shared)
	s.Tables.Use(slot, used)
	s.borrowed += used
	s.Faults.Small++
	s.Faults.SmallPages += used
	return Resolved
}

// copyFrom puts a private copy of the object's page index into the zero entry
// slot.
func (s *Space) copyFrom(a *vma.Area, slot *uint64, index uint64) Result {
	m := s.memory
	from := uint64(0)
	if !a.Object.Hole(index) {
		if from = a.Object.Page(index); from == 0 {
			return NoMemory
		}
	}
	pa := s.frame()
	if pa == 0 {
		return NoMemory
	}
	if from == 0 {
		phys.ZeroPage(pa)
	} else {
		phys.CopyPage(pa, from)
	}
	*slot = pa | s.flags(a, true)
	s.Tables.Use(slot, 1)
	s.anonymous++
	m.Anonymous++
	s.Faults.Copy++
	return Resolved
}

// mapAround maps what the object has of the pages around va, whose entry is
// slot, and returns how many it added.
func (s *Space) mapAround(a *vma.Area, va uint64, slot *uint64, shared bool) uint64 {
	o := a.Object
	start := max(va&^(aroundObject-1), a.Start)
	end := min(va&^(aroundObject-1)+aroundObject, a.End)
	if last := (o.Size + pageMask) &^ pageMask; end-a.Start > last-a.Offset {
		end = a.Start + last - a.Offset
	}
	flags := s.flags(a, shared) | pagetable.Borrowed
	n := uint64(0)
	p := (*uint64)(unsafe.Add(unsafe.Pointer(slot), -int((va-start)>>(pageShift-3))))
	for index := (a.Offset + start - a.Start) >> pageShift; start < end; start += pageSize {
		if *p == 0 {
			if pa := o.Peek(index); pa != 0 {
				*p = pa | flags
				n++
			}
		}
		p = (*uint64)(unsafe.Add(unsafe.Pointer(p), 8))
		index++
	}
	return n
}

// mapInPlace maps the 2 MiB around va as one page where a file of the initramfs
// lies in memory so that this is possible, and nothing is mapped there yet.
func (s *Space) mapInPlace(l *Local, a *vma.Area, va uint64) bool {
	block := va &^ hugeMask
	if block < a.Start || a.End-block < hugeSize {
		return false
	}
	pa, n := a.Object.InPlace((a.Offset + block - a.Start) >> pageShift)
	if n < hugePages || pa&hugeMask != 0 {
		return false
	}
	slot := s.Tables.LargeSlot(va)
	if slot == nil || *slot != 0 {
		return false
	}
	*slot = pa | pagetable.Large | pagetable.Borrowed | s.flags(a, a.Flags&vma.Shared != 0)
	s.Tables.Use(slot, 1)
	s.borrowed += hugePages
	s.Faults.InPlace++
	return true
}
