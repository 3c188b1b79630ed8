package frames

import "github.com/leveret-os/leveret/kernel/core/phys"

// Fault is what Check found wrong first.
type Fault uint64

const (
	// Sound means that nothing is wrong.
	Sound Fault = iota
	// BadOrder: a block has an order above MaxOrder, is not aligned to its
	// size, or reaches beyond its region.
	BadOrder
	// BadInner: a frame inside a block has metadata of its own.
	BadInner
	// BadState: a frame belongs to no block.
	BadState
	// BadLink: the links of a free block do not agree with its neighbours'.
	BadLink
	// NotMerged: two free buddies of the same order were not joined.
	NotMerged
	// BadCount: the lists and the metadata disagree on the number of free
	// blocks or frames.
	BadCount
)

// Shape is the number of blocks of each order, as an independent walk over the
// metadata finds them.
type Shape struct {
	Free [MaxOrder + 1]uint64
	Used [MaxOrder + 1]uint64
	Sum  uint64 // of all metadata words, each times its place
}

// Check walks the metadata of all open memory and the lists, with none of the
// allocator's own code, and returns the first fault that it finds and the
// physical address of the block concerned.
func (a *Allocator) Check(s *Shape) (Fault, uint64) {
	*s = Shape{}
	var free uint64
	for i := range a.regions {
		for pa, end := a.first[i], a.regions[i].Start; pa < end; {
			w := *a.word(pa)
			s.Sum += uint64(w) * (pa>>phys.PageShift | 1)
			order, size := uint64(w>>orderShift&31), uint64(phys.PageSize)
			if order > MaxOrder {
				return BadOrder, pa
			}
			size <<= order
			if pa&(size-1) != 0 || pa+size > end {
				return BadOrder, pa
			}
			for inner := pa + phys.PageSize; inner < pa+size; inner += phys.PageSize {
				if *a.word(inner) != 0 {
					return BadInner, inner
				}
			}
			switch w >> stateShift {
			case stateUsed:
				s.Used[order]++
			case stateFree:
				s.Free[order]++
				free += 1 << order
				if w&countMask != 0 {
					return BadState, pa
				}
				next, prev := *phys.Word(pa), *phys.Word(pa + 8)
				if prev == 0 && a.lists[order] != pa || prev != 0 && *phys.Word(prev) != pa || next != 0 && *phys.Word(next + 8) != pa {
					return BadLink, pa
				}
				buddy := pa ^ size
				if order < MaxOrder && buddy >= a.first[i] && buddy+size <= end && *a.word(buddy) == w {
					return NotMerged, pa
				}
			default:
				return BadState, pa
			}
			pa += size
		}
	}
	if free != a.free {
		return BadCount, 0
	}
	for order := range a.lists {
		n := uint64(0)
		for pa := a.lists[order]; pa != 0; pa = *phys.Word(pa) {
			if n++; n > s.Free[order] {
				return BadCount, pa
			}
		}
		if n != s.Free[order] {
			return BadCount, a.lists[order]
		}
	}
	return Sound, 0
}

// SelfTestCycles is how many blocks SelfTest allocates and frees.
const SelfTestCycles = 10000

// SelfTest allocates and frees SelfTestCycles blocks of mixed orders, holding
// up to 64 at a time, and reports whether the allocator is then as it was: the
// same free blocks, of the same sizes, at the same places, by Check's walk.
func (a *Allocator) SelfTest() (Fault, uint64) {
	var before, after Shape
	if a.lists[MaxOrder] == 0 {
		a.open() // so that the test itself opens nothing
	}
	if f, pa := a.Check(&before); f != Sound {
		return f, pa
	}
	var held [64]uint64
	seed := uint64(0x9e3779b97f4a7c15)
	for i := 0; i < SelfTestCycles; i++ {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		h := &held[seed>>32&63]
		if *h != 0 {
			a.Release(*h)
		}
		*h = a.Alloc((seed >> 40 & 7) * (seed >> 44 & 7) >> 3)
		if *h != 0 {
			// lands in the links of whatever free block it overlaps
			*phys.Word(*h) = seed
			*phys.Word(*h + 8) = ^seed
		}
	}
	for i := range held {
		if held[i] != 0 {
			a.Release(held[i])
		}
	}
	f, pa := a.Check(&after)
	if f == Sound && after != before {
		f = BadCount
	}
	return f, pa
}
