package space

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// Result is what became of a page fault.
type Result uint64

const (
	// Resolved: the access can be tried again.
	Resolved Result = iota
	// Unmapped is SIGSEGV with SEGV_MAPERR.
	Unmapped
	// Forbidden is SIGSEGV with SEGV_ACCERR.
	Forbidden
	// BeyondEnd is SIGBUS with BUS_ADRERR: no page of the file is there.
	BeyondEnd
	// NoMemory: there is no frame; the process cannot go on.
	NoMemory
)

// Bits of a page fault's error code (Intel SDM volume 3A, 4.7).
const (
	CodePresent = 1
	CodeWrite   = 2
	CodeUser    = 4
	CodeExec    = 16
)

// flags returns the bits of an entry for a page of a that may be written if
// writable says so.
func (s *Space) flags(a *vma.Area, writable bool) uint64 {
	f := uint64(pagetable.Present | pagetable.Accessed)
	if !s.kernel {
		f |= pagetable.User
	}
	if writable && a.Prot&vma.Write != 0 {
		f |= pagetable.Writable | pagetable.Dirty
	}
	if a.Prot&vma.Exec == 0 {
		f |= pagetable.NoExec
	}
	return f
}

// Fault resolves a fault at addr with the processor's error code, or says what
// it is.
func (s *Space) Fault(l *Local, addr, code uint64) Result {
	a := s.hint
	if a == nil || addr-a.Start >= a.End-a.Start {
		a = s.Areas.Find(addr)
		if a == nil {
			s.Faults.Failed++
			return Unmapped
		}
		if addr < a.Start && (a.Flags&vma.GrowsDown == 0 || !s.growDown(a, addr)) {
			s.Faults.Failed++
			return Unmapped
		}
		s.hint = a
	}
	write := code&CodeWrite != 0
	if a.Prot&vma.Write == 0 && write || a.Prot == 0 || code&CodeExec != 0 && a.Prot&vma.Exec == 0 {
		s.Faults.Failed++
		return Forbidden
	}
	r := Resolved
	if a.Object != nil {
		r = s.faultObject(l, a, addr&^pageMask, write)
	} else {
		r = s.faultAnonymous(l, a, addr&^pageMask, write)
	}
	if r != Resolved {
		s.Faults.Failed++
		// a table made for the page that could not be had
		if slot, _ := s.Tables.Lookup(addr); *slot == 0 {
			s.Tables.Trim(addr, slot)
		}
	}
	return r
}

// faultAnonymous resolves a fault on the anonymous page at va.
func (s *Space) faultAnonymous(l *Local, a *vma.Area, va uint64, write bool) Result {
	m := s.memory
	if a.Flags&vma.Huge != 0 || m.HugeMode == HugeAlways {
		if r, done := s.faultLarge(l, a, va, write); done {
			return r
		}
	}
	slot := s.Tables.Slot(va)
	if slot == nil {
		return s.faultSlotless(l, a, va, write)
	}
	if e := *slot; e != 0 && !(write && s.isZeros(e)) {
		return s.faultPresent(l, a, va, slot, write)
	}
	// the block of up to FaultAround pages around va, within the area
	block := m.FaultAround << pageShift
	start := max(va&^(block-1), a.Start)
	end := min(start&^(block-1)+block, a.End)
	if va+pageSize == a.End { // a stack's first page, most likely: few more are used
		start = max(start, va-min(va, 3<<pageShift))
	}
	if m.Frames.Free() < 4096 { // 16 MiB: no page more than needed
		start, end = va, va+pageSize
	}
	first := (*uint64)(unsafe.Add(unsafe.Pointer(slot), -int((va-start)>>(pageShift-3))))
	n := (end - start) >> pageShift
	if !write {
		return s.mapZeros(a, first, n)
	}
	if n == 16 && empty(first, 16) {
		if pa := m.Frames.AllocRun(4); pa != 0 {
			phys.Zero(pa, 16*pageSize)
			for p, e := unsafe.Pointer(first), pa|s.flags(a, true); n > 0; n-- {
				*(*uint64)(p) = e
				p = unsafe.Add(p, 8)
				e += pageSize
			}
			s.Tables.Use(first, 16)
			s.anonymous += 16
			m.Anonymous += 16
			s.Faults.Small++
			s.Faults.SmallPages += 16
			return Resolved
		}
	}
	return s.fill(l, a, va, slot, first, n)
}

// frame returns a frame for the space's own page, or 0. Services may use the
// reserve: without memory for them nobody gets an answer.
func (s *Space) frame() uint64 {
	if s.kernel {
		return s.memory.Frames.Alloc(0)
	}
	return s.memory.Frames.AllocUser(0)
}

// isZeros reports whether an entry shows the page of zeros.
func (s *Space) isZeros(e uint64) bool {
	return e&pagetable.Borrowed != 0 && e&pagetable.Address == s.memory.zero
}

// fill gives pages of their own to those of n entries from first on that have
// none, or show the page of zeros; to slot, the entry for va, before all.
func (s *Space) fill(l *Local, a *vma.Area, va uint64, slot, first *uint64, n uint64) Result {
	replaced := *slot != 0
	if !s.own(a, slot) {
		return NoMemory
	}
	start := va - (uint64(uintptr(unsafe.Pointer(slot))-uintptr(unsafe.Pointer(first))) << (pageShift - 3))
	end := start + n<<pageShift
	for p := first; n > 0; n-- {
		if e := *p; e == 0 || s.isZeros(e) {
			if !s.own(a, p) {
				break
			}
			replaced = replaced || e != 0
		}
		p = (*uint64)(unsafe.Add(unsafe.Pointer(p), 8))
	}
	if replaced {
		s.memory.Invalidate(l, s, start, end)
	}
	s.Faults.Small++
	return Resolved
}

// own puts a fresh page of zeros into slot, whose entry is zero or shows the
// common page of zeros. It reports false when there is no frame.
func (s *Space) own(a *vma.Area, slot *uint64) bool {
	pa := s.frame()
	if pa == 0 {
		return false
	}
	phys.ZeroPage(pa)
	if *slot == 0 {
		s.Tables.Use(slot, 1)
	} else {
		s.borrowed--
	}
	*slot = pa | s.flags(a, true)
	s.anonymous++
	s.memory.Anonymous++
	s.Faults.SmallPages++
	return true
}

// empty reports whether the n entries from slot on are zero.
func empty(slot *uint64, n uint64) bool {
	all := uint64(0)
	for p := unsafe.Pointer(slot); n > 0; n-- {
		all |= *(*uint64)(p)
		p = unsafe.Add(p, 8)
	}
	return all == 0
}

// mapZeros shows the page of zeros in those of n entries that are zero.
func (s *Space) mapZeros(a *vma.Area, slot *uint64, n uint64) Result {
	e, used := s.memory.zero|pagetable.Borrowed|s.flags(a, false), uint64(0)
	for p := slot; n > 0; n-- {
		if *p == 0 {
			*p = e
			used++
		}
		p = (*uint64)(unsafe.Add(unsafe.Pointer(p), 8))
	}
	s.Tables.Use(slot, used)
	s.borrowed += used
	s.Faults.Small++
	s.Faults.SmallPages += used
	return Resolved
}

// faultSlotless is a fault on a page for which there is no entry of the lowest
// level: under a 2 MiB page, or for want of a frame for a table.
func (s *Space) faultSlotless(l *Local, a *vma.Area, va uint64, write bool) Result {
	slot, size := s.Tables.Lookup(va)
	if size != hugeSize || *slot == 0 {
		return NoMemory
	}
	return s.faultPresentLarge(l, a, va, slot, write)
}

// faultPresent resolves a fault on a page that has an entry: a write to a page
// that is not this space's alone, a right that was given back lazily, or
// nothing at all, when another processor was first.
func (s *Space) faultPresent(l *Local, a *vma.Area, va uint64, slot *uint64, write bool) Result {
	e := *slot
	shared := a.Flags&vma.Shared != 0
	if write && !shared && s.copies(e) {
		return s.copyPage(l, a, va, slot)
	}
	want := e&^(pagetable.Hidden|pagetable.Writable|pagetable.NoExec) | s.flags(a, shared || !s.copies(e))
	s.Faults.Spurious++
	if want != e {
		*slot = want
		s.memory.Invalidate(l, s, va, va+pageSize)
	}
	return Resolved
}

// copies reports whether a private area must copy the page of e before it
// writes to it.
func (s *Space) copies(e uint64) bool {
	return e&pagetable.Borrowed != 0 || s.memory.Frames.Count(e&pagetable.Address) > 1
}

// copyPage gives the entry slot a frame of its own with the same contents.
func (s *Space) copyPage(l *Local, a *vma.Area, va uint64, slot *uint64) Result {
	m := s.memory
	pa := s.frame()
	if pa == 0 {
		return NoMemory
	}
	e := *slot
	old := e & pagetable.Address
	if old == m.zero {
		phys.ZeroPage(pa)
	} else {
		phys.CopyPage(pa, old)
	}
	*slot = pa | s.flags(a, true)
	m.Invalidate(l, s, va, va+pageSize)
	if e&pagetable.Borrowed != 0 {
		s.borrowed--
		s.anonymous++
		m.Anonymous++
	} else {
		m.Frames.Put(old)
	}
	s.Faults.Copy++
	return Resolved
}
