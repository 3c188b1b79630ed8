// Package vma keeps the mappings of an address space: areas that do not
// overlap, in an AVL tree by address, threaded to a list. Every node also knows
// the largest gap in front of an area of its subtree, so that free address
// space is found in O(log n).
//
// The areas are the caller's; the tree only links them. The caller changes an
// area's bounds through Move, so that the gaps stay right.
package vma

import "github.com/leveret-os/leveret/kernel/core/object"

// Protection bits of an area, as mmap(2) numbers them.
const (
	Read  = 1
	Write = 2
	Exec  = 4
)

// Flags of an area.
const (
	Shared    = 1 << iota // MAP_SHARED
	GrowsDown             // MAP_GROWSDOWN
	Locked                // MAP_LOCKED, mlock
	NoReserve             // MAP_NORESERVE
	Huge                  // MADV_HUGEPAGE
	NoHuge                // MADV_NOHUGEPAGE
	Stack                 // the main thread's stack
	Heap                  // what brk makes
	OnFault               // mlock2(MLOCK_ONFAULT): with Locked
	Kernel                // code of the kernel shown to a program: vDSO, vvar
)

// Guard is the distance in bytes that is kept free below an area that grows
// down (stack_guard_gap of 256 pages, as Linux has it).
const Guard = 256 << 12

// Area is a mapping: [Start, End) in bytes, page aligned.
type Area struct {
	Start, End uint64
	Prot       uint32
	MaxProt    uint32 // what mprotect may set
	Flags      uint32

	// Object is what is mapped, from Offset bytes on; nil: anonymous memory.
	Object *object.Object
	Offset uint64

	// Link is in Object's list of mappings, Owner the address space.
	Link  object.Link
	Owner *Tree

	Next, Prev *Area

	left, right, parent *Area
	gap, max            uint64 // in front of this area; the largest in its subtree
	height              int32
}

// Tree is a set of areas. The zero value is empty.
type Tree struct {
	root        *Area
	first, last *Area
	count       uint64
}

// Len returns the number of areas.
func (t *Tree) Len() uint64 { return t.count }

// First returns the area with the lowest address, or nil.
func (t *Tree) First() *Area { return t.first }

// Last returns the area with the highest address, or nil.
func (t *Tree) Last() *Area { return t.last }

// Find returns the first area that ends above addr, or nil. It need not hold
// addr.
func (t *Tree) Find(addr uint64) *Area {
	var found *Area
	for x := t.root; x != nil; {
		if x.End > addr {
			found = x
			if x.Start <= addr {
				return x
			}
			x = x.left
		} else {
			x = x.right
		}
	}
	return found
}

// Insert adds a, which overlaps no area of the tree.
func (t *Tree) Insert(a *Area) {
	a.left, a.right, a.parent, a.height = nil, nil, nil, 1
	a.Owner = t
	t.count++
	var prev, next *Area
	if t.root == nil {
		t.root = a
	} else {
		for x := t.root; ; {
			if a.Start < x.Start {
				next = x
				if x.left == nil {
					x.left, a.parent = a, x
					break
				}
				x = x.left
			} else {
				prev = x
				if x.right == nil {
					x.right, a.parent = a, x
					break
				}
				x = x.right
			}
		}
	}
	a.Prev, a.Next = prev, next
	if prev == nil {
		t.first = a
	} else {
		prev.Next = a
	}
	if next == nil {
		t.last = a
	} else {
		next.Prev = a
	}
	a.gap = gapBefore(a)
	a.max = a.gap
	t.rebalance(a.parent)
	if next != nil {
		t.regap(next)
	}
}

// Remove takes a out of the tree.
func (t *Tree) Remove(a *Area) {
	t.count--
	prev, next := a.Prev, a.Next
	if prev == nil {
		t.first = next
	} else {
		prev.Next = next
	}
	if next == nil {
		t.last = prev
	} else {
		next.Prev = prev
	}
	var from *Area
	switch {
	case a.left == nil:
		t.replace(a, a.right)
		from = a.parent
	case a.right == nil:
		t.replace(a, a.left)
		from = a.parent
	default:
		s := next // the leftmost of the right subtree
		from = s
		if s.parent != a {
			from = s.parent
			t.replace(s, s.right)
			s.right = a.right
			s.right.parent = s
		}
		t.replace(a, s)
		s.left = a.left
		s.left.parent = s
	}
	t.rebalance(from)
	if next != nil {
		t.regap(next)
	}
	a.Next, a.Prev, a.left, a.right, a.parent, a.Owner = nil, nil, nil, nil, nil, nil
}

// Move gives a, which is in the tree, new bounds. It must not pass, nor overlap,
// a neighbour.
func (t *Tree) Move(a *Area, start, end uint64) {
	a.Start, a.End = start, end
	t.regap(a)
	if a.Next != nil {
		t.regap(a.Next)
	}
}

// gapBefore returns the free bytes in front of a.
func gapBefore(a *Area) uint64 {
	var low uint64
	if a.Prev != nil {
		low = a.Prev.End
	}
	gap := a.Start - low
	if a.Flags&GrowsDown != 0 {
		if gap < Guard {
			return 0
		}
		gap -= Guard
	}
	return gap
}

// floor returns where the gap in front of a ends.
func (a *Area) floor() uint64 {
	if a.Flags&GrowsDown == 0 {
		return a.Start
	}
	return a.Start - min(a.Start, Guard)
}

// regap computes a's gap anew and tells the nodes above it.
func (t *Tree) regap(a *Area) {
	a.gap = gapBefore(a)
	for x := a; x != nil; x = x.parent {
		max := x.largest()
		if max == x.max && x != a {
			return
		}
		x.max = max
	}
}

func (a *Area) largest() uint64 {
	max := a.gap
	if l := a.left; l != nil && l.max > max {
		max = l.max
	}
	if r := a.right; r != nil && r.max > max {
		max = r.max
	}
	return max
}

// replace puts b, which may be nil, in the place of a under a's parent.
func (t *Tree) replace(a, b *Area) {
	p := a.parent
	switch {
	case p == nil:
		t.root = b
	case p.left == a:
		p.left = b
	default:
		p.right = b
	}
	if b != nil {
		b.parent = p
	}
}

func heightOf(a *Area) int32 {
	if a == nil {
		return 0
	}
	return a.height
}

func (a *Area) update() {
	l, r := heightOf(a.left), heightOf(a.right)
	if l < r {
		l = r
	}
	a.height = l + 1
	a.max = a.largest()
}

// rebalance restores the AVL property from a up to the root.
func (t *Tree) rebalance(a *Area) {
	for a != nil {
		switch d := heightOf(a.left) - heightOf(a.right); {
		case d > 1:
			if heightOf(a.left.left) < heightOf(a.left.right) {
				t.rotateLeft(a.left)
			}
			a = t.rotateRight(a)
		case d < -1:
			if heightOf(a.right.right) < heightOf(a.right.left) {
				t.rotateRight(a.right)
			}
			a = t.rotateLeft(a)
		default:
			a.update()
		}
		a = a.parent
	}
}

func (t *Tree) rotateLeft(a *Area) *Area {
	b := a.right
	t.replace(a, b)
	a.right = b.left
	if a.right != nil {
		a.right.parent = a
	}
	b.left, a.parent = a, b
	a.update()
	b.update()
	return b
}

func (t *Tree) rotateRight(a *Area) *Area {
	b := a.left
	t.replace(a, b)
	a.left = b.right
	if a.left != nil {
		a.left.parent = a
	}
	b.right, a.parent = a, b
	a.update()
	b.update()
	return b
}
