// Package space keeps address spaces: which areas of memory a program has, what
// a page fault does, and what the system calls of the mmap family change.
//
// It has four layers below it: frames (physical memory), pagetable (what the
// processor sees), vma (which areas there are), object (what files and shared
// memory consist of). A frame in a page table is either *owned* by the entry,
// which holds one count of it, or *borrowed* (pagetable.Borrowed) from an
// object, from the initramfs, or from the one page of zeros.
//
// Rules that everything here keeps:
//   - Callers serialise: one lock covers all spaces, objects and frames.
//   - A call does a bounded amount of work, at most Step pages, and is then
//     complete or answers Again. Doing the same call again goes on: every call
//     is written so that its parts may be repeated.
//   - Translations are dropped on all processors before the frames behind them
//     are freed.
//   - Values from users are checked here, at the boundary, and never asserted.
package space

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/slab"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

const (
	pageSize  = phys.PageSize
	pageShift = phys.PageShift
	pageMask  = pageSize - 1
	hugeSize  = phys.HugeSize
	hugeMask  = hugeSize - 1
	hugePages = hugeSize / pageSize

	// Top is the end of the addresses that a program may use.
	Top = 0x7ffffffff000
	// Step is how many pages one call handles before it answers Again.
	Step = 64
	// MaxAreas is the most areas of one space (Linux's vm.max_map_count).
	MaxAreas = 65530
	// NoLimit is RLIM_INFINITY.
	NoLimit = ^uint64(0)
)

// Again, as an errno, says that a step was done and the call is to be repeated.
// It is no errno of Linux and never reaches a program.
const Again unix.Errno = 4095

// How anonymous memory gets 2 MiB pages (transparent_hugepage/enabled).
const (
	HugeNever = iota
	HugeMadvise
	HugeAlways
)

// Memory is what all spaces share.
type Memory struct {
	Frames      *frames.Allocator
	Areas       slab.Pool[vma.Area]
	Objects     slab.Pool[object.Object]
	HugeMode    uint64
	FaultAround uint64 // pages that a fault of anonymous memory maps: 1 to 16

	// Invalidate drops the translations of [start, end) on every processor
	// that may hold some of s.
	Invalidate func(l *Local, s *Space, start, end uint64)

	zero  uint64         // the page of zeros
	dying *object.Object // released, with pages still to be freed

	// pages in use, for /proc/meminfo
	Anonymous, HugeAnonymous uint64
}

// Init sets up m over the frames of f; false when memory is too small.
func (m *Memory) Init(f *frames.Allocator) bool {
	m.Frames = f
	m.Areas.Init(f)
	m.Objects.Init(f)
	m.HugeMode = HugeMadvise
	m.FaultAround = 16
	m.zero = f.AllocZero()
	return m.zero != 0
}

// Faults counts page faults by what they did.
type Faults struct {
	Small      uint64 // mapped 4 KiB pages, one or several
	SmallPages uint64 // how many those were
	Large      uint64 // mapped a new 2 MiB page
	InPlace    uint64 // mapped 2 MiB of a file of the initramfs in place
	Copy       uint64 // copied a page on write
	Spurious   uint64 // found nothing to do
	Failed     uint64 // became a signal
}

// Local is what each processor keeps for this package.
type Local struct {
	frames [Step]uint64 // blocks to free once translations are dropped
	count  uint64
}

// Limits are the resource limits that concern memory, in bytes.
type Limits struct {
	AddressSpace, Data, Stack, Locked uint64
}

// Space is an address space. The tree of its areas comes first: an area finds
// its space through its tree.
type Space struct {
	Areas  vma.Tree
	Tables pagetable.Map
	Limits Limits
	Faults Faults

	// Users is a set of processors that run, or lately ran, in this space; it
	// is the caller's.
	Users uint64
	// References counts the processes and requests that hold the space.
	References uint64

	memory *Memory
	hint   *vma.Area // found last

	low, high uint64 // where mappings may be placed
	ceiling   uint64 // end of all addresses
	kernel    bool

	// Privileged says that limits on locked memory do not apply.
	Privileged bool
	lockFuture uint32 // area flags of later mappings (mlockall)

	breakStart, breakEnd uint64

	// pages
	total, data, locked uint64
	anonymous, borrowed uint64 // resident
	peak                uint64
}

// Init makes s an empty space for programs, with the kernel's half of the
// tables at the physical address kernel. It reports false without memory.
func (s *Space) Init(m *Memory, kernel uint64) bool {
	*s = Space{memory: m, low: 0x10000, high: Top - 0x1000_0000, ceiling: Top, References: 1, Privileged: true}
	s.Limits = Limits{AddressSpace: NoLimit, Data: NoLimit, Stack: 8 << 20, Locked: 8 << 20}
	return s.Tables.Init(m.Frames, kernel)
}

// InitKernel makes s the space of services: mappings are placed in [low, high),
// go up from low, are not accessible to programs, and use the tables at root.
func (s *Space) InitKernel(m *Memory, root, low, high uint64) {
	*s = Space{memory: m, low: low, high: high, ceiling: NoLimit &^ pageMask, kernel: true, References: 1, Privileged: true}
	s.Limits = Limits{NoLimit, NoLimit, NoLimit, NoLimit}
	s.Tables.Root, s.Tables.Frames = root, m.Frames
	s.Tables.LargeSlot(low) // the upper tables exist before any space shares them
}

// of returns the space that an area is in.
func of(a *vma.Area) *Space { return (*Space)(unsafe.Pointer(a.Owner)) }

// areaOf returns the area that a link of an object's list belongs to.
func areaOf(l *object.Link) *vma.Area {
	return (*vma.Area)(unsafe.Add(unsafe.Pointer(l), -int(unsafe.Offsetof(vma.Area{}.Link))))
}

// Root returns the physical address of the top page table.
func (s *Space) Root() uint64 { return s.Tables.Root }

// Usage is how much memory a space has, in bytes.
type Usage struct {
	Virtual, Resident, Shared, Data, Locked, Tables, Peak uint64
}

// Usage reports what the space uses.
func (s *Space) Usage() Usage {
	s.notePeak()
	return Usage{
		Virtual: s.total << pageShift, Resident: (s.anonymous + s.borrowed) << pageShift, Shared: s.borrowed << pageShift,
		Data: s.data << pageShift, Locked: s.locked << pageShift, Tables: (s.Tables.Tables + 1) << pageShift, Peak: s.peak << pageShift,
	}
}

// notePeak must be called before resident pages are taken away.
func (s *Space) notePeak() { s.peak = max(s.peak, s.anonymous+s.borrowed) }

// find returns the area that holds addr, or nil.
func (s *Space) find(addr uint64) *vma.Area {
	if a := s.hint; a != nil && addr-a.Start < a.End-a.Start {
		return a
	}
	a := s.Areas.Find(addr)
	if a == nil || addr < a.Start {
		return nil
	}
	s.hint = a
	return a
}

// round returns the page-aligned range that [addr, addr+n) touches; ok is false
// when it wraps or ends beyond the space.
func (s *Space) round(addr, n uint64) (end uint64, ok bool) {
	end = addr + (n+pageMask)&^pageMask
	return end, n <= s.ceiling && end >= addr && end <= s.ceiling
}
