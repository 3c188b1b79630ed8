package native

import "slices"

// A loss is a measure in which another engine is ahead of our best form of the
// same class, whatever mode.
type loss struct {
	measure measure
	class   class
	ours    *result
	theirs  *result
	ratio   float64 // how many times better theirs is
}

// losses returns where others are ahead, the worst first. One that does not
// keep the reference's tokens counts too; the table says so.
func (b *board) losses() []loss {
	var list []loss
	for _, m := range measures {
		for _, t := range b.threads {
			for _, c := range classes {
				best := b.bestOfOurs(m, c, t)
				if best == nil {
					continue
				}
				mine := best.spread(m.key).Median
				for _, r := range b.all {
					s := r.spread(m.key)
					if r.Engine == ours || r.Engine == machine || r.Class != c || r.Threads != t || s.N == 0 {
						continue
					}
					ratio := s.Median / mine
					if m.less {
						ratio = mine / s.Median
					}
					if ratio > 1 {
						list = append(list, loss{m, c, best, r, ratio})
					}
				}
			}
		}
	}
	slices.SortStableFunc(list, func(x, y loss) int {
		switch {
		case x.ratio > y.ratio:
			return -1
		case x.ratio < y.ratio:
			return 1
		}
		return 0
	})
	return list
}

// bestOfOurs returns our best result in a class, or nil. Forms that lose the
// tokens do not count.
func (b *board) bestOfOurs(m measure, c class, threads int) *result {
	var best *result
	for _, r := range b.all {
		if r.Engine != ours || r.Class != c || r.Threads != threads || r.ISA != "" || !r.Agreement.Keeps {
			continue
		}
		s := r.spread(m.key)
		if s.N == 0 {
			continue
		}
		if best == nil || m.less && s.Median < best.spread(m.key).Median || !m.less && s.Median > best.spread(m.key).Median {
			best = r
		}
	}
	return best
}
