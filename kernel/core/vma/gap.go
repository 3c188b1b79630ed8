package vma

// page is the unit of addresses, and of the least alignment.
const page = 4096

// GapDown returns the highest address in [low, high) at which n bytes are free
// and that has the given offset within align bytes (a power of two; 1 means
// any page). ok is false when there is none, or none that O(log n) steps find:
// with an alignment only gaps are considered in which every place would do.
func (t *Tree) GapDown(low, high, n, align, offset uint64) (addr uint64, ok bool) {
	align = max(align, page)
	need := n + align - page
	if n == 0 || need < n || high <= low {
		return 0, false
	}
	offset &= align - 1
	place := func(from, to uint64) (uint64, bool) {
		from, to = max(from, low), min(to, high)
		if from >= to || to-from < n {
			return 0, false
		}
		at := to - n
		back := (at - offset) & (align - 1)
		if at < back || at-back < from {
			return 0, false
		}
		return at - back, true
	}
	a := t.Find(high - 1)
	if a == nil {
		var from uint64
		if t.last != nil {
			from = t.last.End
		}
		if addr, ok = place(from, high); ok {
			return addr, true
		}
		if a = t.last; a == nil {
			return 0, false
		}
		if a.gap < need {
			a = prevGap(a, need)
		}
	}
	for a != nil {
		var from uint64
		if a.Prev != nil {
			from = a.Prev.End
		}
		if addr, ok = place(from, a.floor()); ok {
			return addr, true
		}
		if from <= low {
			break
		}
		a = prevGap(a, need)
	}
	return 0, false
}

// GapUp is GapDown for the lowest such address.
func (t *Tree) GapUp(low, high, n, align, offset uint64) (addr uint64, ok bool) {
	align = max(align, page)
	need := n + align - page
	if n == 0 || need < n || high <= low {
		return 0, false
	}
	offset &= align - 1
	place := func(from, to uint64) (uint64, bool) {
		from, to = max(from, low), min(to, high)
		at := from + (offset-from)&(align-1)
		if from >= to || at < from || at >= to || to-at < n {
			return 0, false
		}
		return at, true
	}
	for a := t.Find(low); a != nil; a = nextGap(a, need) {
		var from uint64
		if a.Prev != nil {
			from = a.Prev.End
		}
		if addr, ok = place(from, a.floor()); ok {
			return addr, true
		}
		if a.Start >= high {
			return 0, false
		}
	}
	var from uint64
	if t.last != nil {
		from = t.last.End
	}
	return place(from, high)
}

// prevGap returns the last area before a with a gap of at least n in front.
func prevGap(a *Area, n uint64) *Area {
	if l := a.left; l != nil && l.max >= n {
		return rightmost(l, n)
	}
	for x, p := a, a.parent; p != nil; x, p = p, p.parent {
		if x != p.right {
			continue
		}
		if p.gap >= n {
			return p
		}
		if l := p.left; l != nil && l.max >= n {
			return rightmost(l, n)
		}
	}
	return nil
}

func rightmost(a *Area, n uint64) *Area {
	for {
		if r := a.right; r != nil && r.max >= n {
			a = r
		} else if a.gap >= n {
			return a
		} else {
			a = a.left
		}
	}
}

// nextGap returns the first area after a with a gap of at least n in front.
func nextGap(a *Area, n uint64) *Area {
	if r := a.right; r != nil && r.max >= n {
		return leftmost(r, n)
	}
	for x, p := a, a.parent; p != nil; x, p = p, p.parent {
		if x != p.left {
			continue
		}
		if p.gap >= n {
			return p
		}
		if r := p.right; r != nil && r.max >= n {
			return leftmost(r, n)
		}
	}
	return nil
}

func leftmost(a *Area, n uint64) *Area {
	for {
		if l := a.left; l != nil && l.max >= n {
			a = l
		} else if a.gap >= n {
			return a
		} else {
			a = a.right
		}
	}
}
