// Package frames is the allocator of physical memory: a binary buddy system
// over the frames of 4 KiB that the boot memory map says are usable.
//
// Blocks are powers of two, from one frame to 32 MiB (order 0 to MaxOrder),
// aligned to their own size. The metadata, four bytes a frame, is carved out of
// the memory that it describes, and a section of 32 MiB gets its metadata, and
// becomes allocatable, when it is first needed: a guest of 64 GiB starts as
// fast, and touches as little memory, as one of 64 MiB.
//
// The four bytes hold the state of the frame, the order of the block that it
// heads, and a count: the number of owners of an allocated block, or whatever
// its owner counts there (package pagetable: the entries of a table in use).
// The lists of free blocks are linked through the free blocks themselves.
//
// Nothing here allocates from the Go heap or locks; the caller serialises.
package frames

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/phys"
)

const (
	// MaxOrder is the largest order: 2^13 frames, 32 MiB.
	MaxOrder = 13
	// HugeOrder is the order of a 2 MiB block.
	HugeOrder = 9

	sectionShift  = phys.PageShift + MaxOrder
	sectionSize   = 1 << sectionShift
	sectionFrames = 1 << MaxOrder

	// MaxRegions is how many separate usable regions Init accepts.
	MaxRegions = 16
)

// The metadata word of a frame: state in bits 29 to 31, order in bits 24 to 28,
// count in bits 0 to 23. A frame that does not head a block is zero.
const (
	stateShift = 29
	orderShift = 24
	countMask  = 1<<orderShift - 1

	stateFree = 1
	stateUsed = 2
)

// Region is a range of usable physical memory, [Start, End) in bytes.
type Region struct{ Start, End uint64 }

// Allocator is a buddy allocator. Its zero value owns no memory; Init gives it
// some.
type Allocator struct {
	meta    unsafe.Pointer // the metadata word of physical frame 0
	lists   [MaxOrder + 1]uint64
	free    uint64 // frames on the lists
	closed  uint64 // frames of sections that are not open yet
	total   uint64 // frames given by Init, less the metadata
	reserve uint64

	regions [MaxRegions]Region // what is not open yet, of each
	first   [MaxRegions]uint64 // where each began, for Check
	count   uint64             // regions in use
	section uint64             // the section opened last, plus one
}

// Init gives the allocator the regions, which must be in ascending order and
// not overlap. Their metadata is carved from the start of the first region that
// is large enough. It reports false when no region can hold it.
//
// Of the memory, only what the first allocations need is touched.
func (a *Allocator) Init(regions *[MaxRegions]Region, n int) bool {
	*a = Allocator{}
	var top uint64
	for i := 0; i < n && i < MaxRegions; i++ {
		r := Region{(regions[i].Start + phys.PageSize - 1) &^ (phys.PageSize - 1), regions[i].End &^ (phys.PageSize - 1)}
		if r.Start == 0 {
			r.Start = phys.PageSize // address 0 stands for "none"
		}
		if r.End <= r.Start {
			continue
		}
		a.regions[a.count&(MaxRegions-1)] = r
		a.count++
		if r.End > top {
			top = r.End
		}
	}
	top = (top + sectionSize - 1) &^ (sectionSize - 1)
	size := top >> (phys.PageShift - 2) // four bytes a frame
	for i := range a.regions {
		r := &a.regions[i]
		if a.meta == nil && r.End-r.Start > size {
			a.meta = phys.Pointer(r.Start)
			r.Start += size
		}
		a.first[i] = r.Start
		a.closed += (r.End - r.Start) >> phys.PageShift
	}
	a.total = a.closed
	return a.meta != nil
}

// SetReserve keeps n frames from AllocUser, for the kernel's own needs.
func (a *Allocator) SetReserve(n uint64) { a.reserve = n }

// Free returns the number of frames that are not allocated.
func (a *Allocator) Free() uint64 { return a.free + a.closed }

// Total returns the number of frames that the allocator manages, the metadata
// not counted.
func (a *Allocator) Total() uint64 { return a.total }

func (a *Allocator) word(pa uint64) *uint32 {
	return (*uint32)(unsafe.Add(a.meta, int(pa>>(phys.PageShift-2))))
}

// open makes the next section's memory allocatable; false if there is none.
func (a *Allocator) open() bool {
	for i := range a.regions {
		r := &a.regions[i]
		if r.Start >= r.End {
			continue
		}
		section := r.Start >> sectionShift
		if a.section != section+1 {
			a.section = section + 1
			meta := a.word(section << sectionShift)
			phys.Clear(unsafe.Pointer(meta), sectionFrames*4)
		}
		start, end := r.Start, (section+1)<<sectionShift
		if end > r.End {
			end = r.End
		}
		r.Start = end
		a.closed -= (end - start) >> phys.PageShift
		for pa := start; pa < end; {
			o := uint64(0)
			for o < MaxOrder && pa&(phys.PageSize<<o) == 0 && pa+phys.PageSize<<(o+1) <= end {
				o++
			}
			a.push(pa, o)
			a.free += 1 << o
			pa += phys.PageSize << o
		}
		return true
	}
	return false
}

// A free block's first two words are the links of its list.
func (a *Allocator) push(pa, order uint64) {
	head := &a.lists[order]
	next := *head
	*phys.Word(pa) = next
	*phys.Word(pa + 8) = 0
	if next != 0 {
		*phys.Word(next + 8) = pa
	}
	*head = pa
	*a.word(pa) = uint32(stateFree<<stateShift | order<<orderShift)
}

func (a *Allocator) remove(pa, order uint64) {
	next, prev := *phys.Word(pa), *phys.Word(pa + 8)
	if prev == 0 {
		a.lists[order] = next
	} else {
		*phys.Word(prev) = next
	}
	if next != 0 {
		*phys.Word(next + 8) = prev
	}
	*a.word(pa) = 0
}

// take returns a block of the order that is on no list any more, 0 if there is
// none. Its metadata word is still to be written.
func (a *Allocator) take(order uint64) uint64 {
	if order > MaxOrder {
		return 0
	}
	o := order
	for a.lists[o] == 0 {
		if o++; o > MaxOrder {
			if !a.open() {
				return 0
			}
			o = order
		}
	}
	pa := a.lists[o]
	next := *phys.Word(pa)
	a.lists[o] = next
	if next != 0 {
		*phys.Word(next + 8) = 0
	}
	for o > order {
		o--
		a.push(pa+phys.PageSize<<o, o)
	}
	a.free -= 1 << order
	return pa
}

// Alloc returns the physical address of a block of 2^order frames with a count
// of 1, or 0 if there is none. Its contents are arbitrary.
func (a *Allocator) Alloc(order uint64) uint64 {
	pa := a.take(order)
	if pa != 0 {
		*a.word(pa) = uint32(stateUsed<<stateShift | order<<orderShift | 1)
	}
	return pa
}

// AllocUser is Alloc for memory that a program asked for: it fails while fewer
// frames than the reserve would be left.
func (a *Allocator) AllocUser(order uint64) uint64 {
	if a.free+a.closed < a.reserve+1<<order {
		return 0
	}
	return a.Alloc(order)
}

// AllocZero is Alloc of one frame, cleared.
func (a *Allocator) AllocZero() uint64 {
	pa := a.Alloc(0)
	if pa != 0 {
		phys.ZeroPage(pa)
	}
	return pa
}

// AllocRun returns 2^order adjacent frames that are allocated one by one, each
// with a count of 1 and to be freed by itself, or 0. Like AllocUser it leaves
// the reserve alone.
func (a *Allocator) AllocRun(order uint64) uint64 {
	if a.free+a.closed < a.reserve+1<<order {
		return 0
	}
	pa := a.take(order)
	if pa != 0 {
		a.single(pa, order)
	}
	return pa
}

func (a *Allocator) single(pa, order uint64) {
	for w, n := unsafe.Pointer(a.word(pa)), uint64(1)<<order; n > 0; n-- {
		*(*uint32)(w) = stateUsed<<stateShift | 1
		w = unsafe.Add(w, 4)
	}
}

// Split turns the allocated block at pa, whose count must be 1, into single
// frames, each allocated with a count of 1.
func (a *Allocator) Split(pa uint64) {
	w := *a.word(pa)
	if w>>stateShift != stateUsed || w&countMask != 1 {
		panic("frames: split of a block that is free or shared")
	}
	a.single(pa, uint64(w>>orderShift&31))
}

// Release frees the block at pa whatever its count is.
func (a *Allocator) Release(pa uint64) {
	w := *a.word(pa)
	if w>>stateShift != stateUsed {
		panic("frames: free of a block that is not allocated")
	}
	*a.word(pa) = 0
	a.insert(pa, uint64(w>>orderShift&31))
}

// insert adds a block whose metadata is clear to the free ones.
func (a *Allocator) insert(pa, order uint64) {
	a.free += 1 << order
	for order < MaxOrder {
		buddy := pa ^ phys.PageSize<<order
		if *a.word(buddy) != uint32(stateFree<<stateShift|order<<orderShift) {
			break
		}
		a.remove(buddy, order)
		pa &= buddy
		order++
	}
	a.push(pa, order)
}

// Count returns the count of the allocated block at pa.
func (a *Allocator) Count(pa uint64) uint64 { return uint64(*a.word(pa) & countMask) }

// Owns reports whether the frame at pa heads a block that is allocated. It is
// false for RAM that was never given to the allocator, such as the kernel's
// image; of addresses that are no RAM it must not be asked.
func (a *Allocator) Owns(pa uint64) bool {
	return pa>>sectionShift < a.section && *a.word(pa)>>stateShift == stateUsed
}

// Order returns the order of the allocated block at pa.
func (a *Allocator) Order(pa uint64) uint64 { return uint64(*a.word(pa) >> orderShift & 31) }

// Add adds n to the count of the block at pa. A count that reaches its largest
// value stays there, so that a block shared that often is never freed.
func (a *Allocator) Add(pa, n uint64) {
	w := a.word(pa)
	if c := uint64(*w & countMask); c+n < countMask {
		*w += uint32(n)
	} else {
		*w |= countMask
	}
}

// Sub takes n from the count of the block at pa and returns what is left.
func (a *Allocator) Sub(pa, n uint64) uint64 {
	w := a.word(pa)
	c := uint64(*w & countMask)
	if c == countMask {
		return c
	}
	if c < n {
		panic("frames: a count below zero")
	}
	*w -= uint32(n)
	return c - n
}

// PutRun frees the 2^order adjacent frames from pa on as one block, if pa is
// aligned to it and each is allocated by itself with a count of 1; else it
// reports false and does nothing. It is what many calls of Put would do, faster.
func (a *Allocator) PutRun(pa, order uint64) bool {
	if pa&(phys.PageSize<<order-1) != 0 {
		return false
	}
	w, n := unsafe.Pointer(a.word(pa)), uint64(1)<<order
	for i := n; i > 0; i-- {
		if *(*uint32)(w) != stateUsed<<stateShift|1 {
			return false
		}
		w = unsafe.Add(w, 4)
	}
	for w = unsafe.Pointer(a.word(pa)); n > 0; n -= 2 {
		*(*uint64)(w) = 0
		w = unsafe.Add(w, 8)
	}
	a.insert(pa, order)
	return true
}

// Put gives up one owner's share of the block at pa and frees the block when
// that was the last.
func (a *Allocator) Put(pa uint64) {
	w := *a.word(pa)
	if w&countMask == 1 && w>>stateShift == stateUsed {
		a.Release(pa)
		return
	}
	if a.Sub(pa, 1) == 0 {
		a.Release(pa)
	}
}
