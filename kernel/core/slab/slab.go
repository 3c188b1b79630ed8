// Package slab hands out small objects of one type from frames. A slab is one
// frame: a header and as many objects as fit. A slab whose objects are all free
// goes back to the frame allocator.
//
// Objects live in the direct map, so they keep their address, may be linked to
// each other by plain pointers, and are never seen by a garbage collector.
package slab

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// header is at the start of each slab.
type header struct {
	next, prev *header        // in the list of slabs that have a free object
	free       unsafe.Pointer // first free object; its first word is the next
	used       uint64
	pool       *pool
	_          [24]byte
}

const headerSize = unsafe.Sizeof(header{})

// pool is a Pool without its type.
type pool struct {
	frames  *frames.Allocator
	partial *header
	size    uintptr // of an object, rounded up
	fit     uint64  // objects in a slab
	used    uint64
	slabs   uint64
}

// Pool is a source of objects of type T, which takes at most 2,016 bytes. Its
// zero value is not usable: call Init first.
type Pool[T any] struct{ pool }

// Init says where the pool gets its frames.
func (p *Pool[T]) Init(f *frames.Allocator) {
	var v T
	p.pool = pool{frames: f, size: (unsafe.Sizeof(v) + 15) &^ 15}
	p.fit = uint64((phys.PageSize - headerSize) / p.size)
	if p.fit < 2 {
		panic("slab: objects of this type are too large")
	}
}

// Get returns a zeroed object, or nil if no frame can be had.
func (p *Pool[T]) Get() *T { return (*T)(p.get()) }

// Put takes back an object that Get returned.
func (p *Pool[T]) Put(v *T) { p.put(unsafe.Pointer(v)) }

// Used returns the number of objects in use.
func (p *pool) Used() uint64 { return p.used }

// Slabs returns the number of frames that the pool holds.
func (p *pool) Slabs() uint64 { return p.slabs }

func (p *pool) get() unsafe.Pointer {
	h := p.partial
	if h == nil {
		if h = p.grow(); h == nil {
			return nil
		}
	}
	v := h.free
	h.free = *(*unsafe.Pointer)(v)
	h.used++
	p.used++
	if h.free == nil {
		p.unlink(h)
	}
	for q, n := v, p.size; n > 0; n -= 16 {
		*(*[2]uint64)(q) = [2]uint64{}
		q = unsafe.Add(q, 16)
	}
	return v
}

func (p *pool) grow() *header {
	if p.frames == nil {
		panic("slab: Get before Init")
	}
	pa := p.frames.Alloc(0)
	if pa == 0 {
		return nil
	}
	page := phys.Pointer(pa)
	h := (*header)(page)
	h.next, h.prev, h.used, h.pool = nil, nil, 0, p
	v := unsafe.Add(page, headerSize)
	h.free = v
	for i := uint64(1); i < p.fit; i++ {
		next := unsafe.Add(v, p.size)
		*(*unsafe.Pointer)(v) = next
		v = next
	}
	*(*unsafe.Pointer)(v) = nil
	p.partial = h
	p.slabs++
	return h
}

func (p *pool) put(v unsafe.Pointer) {
	h := (*header)(unsafe.Add(v, -int(uintptr(v)&(phys.PageSize-1))))
	if h.pool != p || (uintptr(v)&(phys.PageSize-1)-headerSize)%p.size != 0 || h.used == 0 {
		panic("slab: Put of an object of another pool")
	}
	if h.free == nil {
		h.next, h.prev = p.partial, nil
		if h.next != nil {
			h.next.prev = h
		}
		p.partial = h
	}
	*(*unsafe.Pointer)(v) = h.free
	h.free = v
	h.used--
	p.used--
	// the last partial slab stays, so that one object in and out costs no frame
	if h.used == 0 && (h.next != nil || h.prev != nil) {
		p.unlink(h)
		p.slabs--
		p.frames.Release(phys.Address(unsafe.Pointer(h)))
	}
}

func (p *pool) unlink(h *header) {
	if h.prev == nil {
		p.partial = h.next
	} else {
		h.prev.next = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	}
	h.next, h.prev = nil, nil
}
