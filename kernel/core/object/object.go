// Package object keeps memory objects: the bytes of a file of the memory file
// system, of anonymous shared memory, or of a file of the initramfs where it
// lies. Mapping, reading, writing and truncating are views of one object, so
// they agree by construction.
//
// An object finds its frames by page number, in a radix tree of 512 children a
// node; a node is a frame whose count in the allocator is its children, plus
// one. A page that is absent is a hole and reads as zero.
//
// An object over a file of the initramfs begins with pages *in place*: memory
// that the archive occupies and the object does not own. They exist only where
// the file's data is aligned to a page, and only for pages that the file fills.
// The rest of such a file is copied to frames of its own when first needed.
package object

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// MaxSize is the largest size of an object in bytes.
const MaxSize = 1 << 50

const (
	fanout      = 512
	fanoutShift = 9
)

// Link makes a mapping of an object findable from it.
type Link struct {
	Next, Prev *Link
}

// Object is a memory object. The zero value is not usable: call Init.
type Object struct {
	abi.ObjectHead

	// Mappings is the list of what maps the object, kept by Attach and Detach.
	Mappings *Link
	// NextDying chains objects whose pages are still to be freed.
	NextDying *Object

	frames *frames.Allocator
	root   uint64 // physical address of the root node
	height uint64 // levels; 0: no page

	base    uint64 // physical address of data to begin with
	baseLen uint64 // bytes of it that still count
	inPlace uint64 // pages of it that are the object's pages
}

// Init makes o an empty object of size 0 with one reference.
func (o *Object) Init(f *frames.Allocator) {
	o.Mappings, o.NextDying, o.frames = nil, nil, f
	o.root, o.height, o.base, o.baseLen, o.inPlace = 0, 0, 0, 0, 0
	o.Size, o.Pages, o.Writers, o.MaxPages = 0, 0, 0, 0
	o.References = 1
}

// InitInPlace makes o an object with the n bytes of RAM at physical address
// base, which stay where they are and are never freed.
func (o *Object) InitInPlace(f *frames.Allocator, base, n uint64) {
	o.Init(f)
	o.base, o.baseLen, o.Size = base, n, n
	if base&(phys.PageSize-1) == 0 {
		o.inPlace = n >> phys.PageShift
	}
}

// Attach adds l to the object's mappings.
func (o *Object) Attach(l *Link) {
	l.Next, l.Prev = o.Mappings, nil
	if l.Next != nil {
		l.Next.Prev = l
	}
	o.Mappings = l
}

// Detach removes l from the object's mappings.
func (o *Object) Detach(l *Link) {
	if l.Prev == nil {
		o.Mappings = l.Next
	} else {
		l.Prev.Next = l.Next
	}
	if l.Next != nil {
		l.Next.Prev = l.Prev
	}
	l.Next, l.Prev = nil, nil
}

// InPlace returns the physical address of page index where it lies in place,
// and how many pages, from it on, are in place and adjacent; 0, 0 if it is not.
func (o *Object) InPlace(index uint64) (pa, n uint64) {
	if index >= o.inPlace {
		return 0, 0
	}
	return o.base + index<<phys.PageShift, o.inPlace - index
}

// Peek returns the physical address of page index, or 0 where there is none
// yet: a hole, or bytes still to be copied from the initramfs.
func (o *Object) Peek(index uint64) uint64 {
	if index < o.inPlace {
		return o.base + index<<phys.PageShift
	}
	if slot := o.slot(index); slot != nil {
		return *slot
	}
	return 0
}

// Hole reports whether page index reads as zero because nothing was ever
// written to it.
func (o *Object) Hole(index uint64) bool {
	return o.Peek(index) == 0 && index<<phys.PageShift >= o.baseLen
}

// Page returns the physical address of page index, making the page if there is
// none; 0 when no frame can be had or MaxPages is reached.
func (o *Object) Page(index uint64) uint64 {
	if index < o.inPlace {
		return o.base + index<<phys.PageShift
	}
	if slot := o.slot(index); slot != nil && *slot != 0 {
		return *slot
	}
	if index >= MaxSize>>phys.PageShift || o.MaxPages != 0 && o.Pages >= o.MaxPages {
		return 0
	}
	pa := o.frames.AllocUser(0)
	if pa == 0 {
		return 0
	}
	slot := o.grow(index)
	if slot == nil {
		o.frames.Release(pa)
		return 0
	}
	from, n := index<<phys.PageShift, uint64(0)
	if from < o.baseLen {
		n = min(o.baseLen-from, phys.PageSize)
		phys.Copy(phys.Pointer(pa), phys.Pointer(o.base+from), n)
	}
	phys.Clear(unsafe.Add(phys.Pointer(pa), int(n)), phys.PageSize-n)
	*slot = pa
	o.Pages++
	return pa
}

// Resize sets the size in bytes, at most MaxSize. When it shrinks, the rest of
// the new last page is cleared at once; the pages beyond are the caller's to
// take out of mappings and then to free with Drop. It reports false, and
// changes nothing, when that rest cannot be cleared for want of a frame.
func (o *Object) Resize(size uint64) bool {
	if size < o.Size {
		if off := size & (phys.PageSize - 1); off != 0 && !o.Hole(size>>phys.PageShift) {
			pa := o.Page(size >> phys.PageShift)
			if pa == 0 {
				return false
			}
			phys.Clear(phys.Pointer(pa+off), phys.PageSize-off)
		}
		o.inPlace = min(o.inPlace, (size+phys.PageSize-1)>>phys.PageShift)
		o.baseLen = min(o.baseLen, size)
	}
	o.Size = size
	return true
}

// Drop frees at most n of the object's own pages from page first up to, not
// including, page end, and returns where to go on, or end when none is left.
// No mapping may show them.
func (o *Object) Drop(first, end, n uint64) uint64 {
	for ; n > 0; n-- {
		index, slot := o.next(first)
		if slot == nil || index >= end {
			return end
		}
		pa := *slot
		*slot = 0
		o.prune(index)
		o.frames.Put(pa)
		o.Pages--
		first = index + 1
	}
	return first
}

// Next returns the number of the first page at or after index that the object
// holds, in place or of its own or still to be copied; ok is false when there
// is none.
func (o *Object) Next(index uint64) (next uint64, ok bool) {
	if index<<phys.PageShift < o.baseLen || index < o.inPlace {
		return index, true
	}
	next, slot := o.next(index)
	return next, slot != nil
}

// slot returns the entry for page index, nil where no leaf node covers it.
func (o *Object) slot(index uint64) *uint64 {
	if o.height == 0 || index>>(fanoutShift*o.height&63) != 0 {
		return nil
	}
	node := o.root
	for shift := fanoutShift * (o.height - 1); ; shift -= fanoutShift {
		slot := phys.Word(node + index>>(shift&63)&(fanout-1)<<3)
		if shift == 0 {
			return slot
		}
		if node = *slot; node == 0 {
			return nil
		}
	}
}

// grow returns the entry for page index, which is zero, and counts it as used;
// nil when a node cannot be had.
func (o *Object) grow(index uint64) *uint64 {
	for o.height == 0 || index>>(fanoutShift*o.height&63) != 0 {
		node := o.frames.AllocZero()
		if node == 0 {
			return nil
		}
		if o.root != 0 {
			*phys.Word(node) = o.root
			o.frames.Add(node, 1)
		} else { // an empty tree is at once as high as it has to be
			for o.height++; index>>(fanoutShift*o.height&63) != 0; o.height++ {
			}
			o.height--
		}
		o.root = node
		o.height++
	}
	node := o.root
	for shift := fanoutShift * (o.height - 1); ; shift -= fanoutShift {
		slot := phys.Word(node + index>>(shift&63)&(fanout-1)<<3)
		if shift == 0 {
			o.frames.Add(node, 1)
			return slot
		}
		child := *slot
		if child == 0 {
			if child = o.frames.AllocZero(); child == 0 {
				o.sweep(node, index)
				return nil
			}
			*slot = child
			o.frames.Add(node, 1)
		}
		node = child
	}
}

// prune takes the entry for page index, cleared, out of its node's count and
// frees the nodes that are empty then.
func (o *Object) prune(index uint64) {
	node := o.root
	for shift := fanoutShift * (o.height - 1); shift > 0; shift -= fanoutShift {
		node = *phys.Word(node + index>>(shift&63)&(fanout-1)<<3)
	}
	if o.frames.Sub(node, 1) == 1 {
		o.sweep(node, index)
	}
}

// sweep frees node, which lies on index's path, if it is empty, and then the
// nodes above it that become empty.
func (o *Object) sweep(node, index uint64) {
	for o.frames.Count(node) == 1 {
		if node == o.root {
			o.frames.Release(node)
			o.root, o.height = 0, 0
			return
		}
		parent := o.root
		for shift := fanoutShift * (o.height - 1); ; shift -= fanoutShift {
			slot := phys.Word(parent + index>>(shift&63)&(fanout-1)<<3)
			if *slot == node {
				*slot = 0
				break
			}
			parent = *slot
		}
		o.frames.Release(node)
		o.frames.Sub(parent, 1)
		node = parent
	}
}

// next returns the first page at or after index that has an entry, and it.
func (o *Object) next(index uint64) (uint64, *uint64) {
	for o.height != 0 && index>>(fanoutShift*o.height&63) == 0 {
		node := o.root
		for shift := fanoutShift * (o.height - 1); ; shift -= fanoutShift {
			slot := phys.Word(node + index>>(shift&63)&(fanout-1)<<3)
			if *slot == 0 {
				index = (index>>(shift&63) + 1) << (shift & 63) // past what it spans
				break
			}
			if shift == 0 {
				return index, slot
			}
			node = *slot
		}
	}
	return 0, nil
}
