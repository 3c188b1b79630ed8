// Package pipes is the buffer of a pipe(2) without its bytes: which stretches
// of which pages hold data, as Linux counts them, so that programs see the
// same limits: a pipe of n pages takes n writes, whatever their size, except
// that the end of a write that is no whole number of pages goes into the last
// page when it fits there (fs/pipe.c, pipe_write). The caller owns the pages
// and copies.
package pipes

const (
	// PageSize is what one slot holds at most; writes of up to as much are
	// atomic (PIPE_BUF, pipe(7)).
	PageSize = 4096
	// DefaultSlots is the capacity of a new pipe: 64 KiB.
	DefaultSlots = 16
	// MaxSlots is the largest capacity: 1 MiB.
	MaxSlots = 256
)

// Slot is a page with data at [Start, Start+Len).
type Slot struct {
	Page  uint64 // the caller's: an address or a frame
	Start uint16
	Len   uint16
}

// Ring is the queue of slots. Slots is its storage, whose length is a power
// of two and the pipe's capacity in pages.
type Ring struct {
	Slots []Slot
	head  uint32 // of the next slot to fill
	tail  uint32 // of the oldest
	bytes uint32
}

// Bytes is how many can be read (FIONREAD).
func (r *Ring) Bytes() int { return int(r.bytes) }

// Used is the number of slots in use.
func (r *Ring) Used() int { return int(r.head - r.tail) }

// Full tells whether no slot is free: a pipe is writable (POLLOUT) when not.
func (r *Ring) Full() bool { return int(r.head-r.tail) >= len(r.Slots) }

// Empty tells whether nothing is in the pipe.
func (r *Ring) Empty() bool { return r.head == r.tail }

func (r *Ring) slot(i uint32) *Slot { return &r.Slots[i&uint32(len(r.Slots)-1)] }

// Merge is where the first n bytes of a write may be appended to the last
// page, nil when they may not: n is the write's length modulo PageSize.
func (r *Ring) Merge(n int) (s *Slot, offset int) {
	if n == 0 || r.Empty() {
		return nil, 0
	}
	s = r.slot(r.head - 1)
	offset = int(s.Start) + int(s.Len)
	if offset+n > PageSize {
		return nil, 0
	}
	return s, offset
}

// Merged notes that n bytes were appended to the last page.
func (r *Ring) Merged(n int) {
	r.slot(r.head - 1).Len += uint16(n)
	r.bytes += uint32(n)
}

// Push fills a free slot with a page of n bytes; the ring must not be full.
func (r *Ring) Push(page uint64, n int) {
	s := r.slot(r.head)
	s.Page, s.Start, s.Len = page, 0, uint16(n)
	r.head++
	r.bytes += uint32(n)
}

// Oldest is the slot to read from, nil when the ring is empty.
func (r *Ring) Oldest() *Slot {
	if r.Empty() {
		return nil
	}
	return r.slot(r.tail)
}

// Consume takes n bytes from the oldest slot and tells whether it is now
// empty: its page is the caller's again.
func (r *Ring) Consume(n int) (page uint64, done bool) {
	s := r.slot(r.tail)
	s.Start += uint16(n)
	s.Len -= uint16(n)
	r.bytes -= uint32(n)
	if s.Len != 0 {
		return 0, false
	}
	r.tail++
	return s.Page, true
}

// Resize moves what is in the ring to other storage, of a power of two slots;
// false when they are too few (EBUSY). The old storage is returned.
func (r *Ring) Resize(slots []Slot) (old []Slot, ok bool) {
	used := r.head - r.tail
	if int(used) > len(slots) {
		return nil, false
	}
	for i := range used {
		from := r.slot(r.tail + i)
		to := &slots[i]
		to.Page, to.Start, to.Len = from.Page, from.Start, from.Len
	}
	old = r.Slots
	r.Slots, r.tail, r.head = slots, 0, used
	return old, true
}

// Capacity is the number of slots for a size in bytes that F_SETPIPE_SZ asks
// for: the next power of two pages; 0 when that is more than MaxSlots.
func Capacity(bytes uint64) int {
	n := 1
	for ; n <= MaxSlots; n *= 2 {
		if uint64(n)*PageSize >= bytes {
			return n
		}
	}
	return 0
}
