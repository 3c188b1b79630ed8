package grammar

// An arrayShape is a set of arrays: element i is of prefix[i], or of items.
type arrayShape struct {
	id       int32
	prefix   []*node
	items    *node // nil: nothing beyond prefix
	min, max int   // max -1: no bound

	height, size int
}

// element returns the node of element i, or nil.
func (a *arrayShape) element(i int) *node {
	if i < len(a.prefix) {
		return a.prefix[i]
	}
	return a.items
}

// mayHave reports whether there may be an element i at all.
func (a *arrayShape) mayHave(i int) bool {
	if a.max >= 0 && i >= a.max {
		return false
	}
	// One that can have no value ends the array for good.
	for k := 0; k <= min(i, len(a.prefix)); k++ {
		if e := a.element(k); e == nil || e.height >= never {
			return false
		}
	}
	return true
}

func (a *arrayShape) leastHeight() int {
	height := 0
	if a.min > 0 && !a.mayHave(a.min-1) {
		return never
	}
	for i := range min(a.min, len(a.prefix)+1) {
		height = max(height, a.element(i).height)
	}
	return plus(height, 1)
}

func (a *arrayShape) leastSize(o *Options) int {
	return plus(1, a.rest(0, o))
}

// rest returns the bytes of the shortest way on after n elements.
func (a *arrayShape) rest(n int, o *Options) int {
	size := 1
	comma := 1
	if o.Spaced {
		comma = 2
	}
	for i := n; i < a.min; i++ {
		e := a.element(i)
		if e == nil {
			return never
		}
		one := e.size
		if i > 0 {
			one = plus(one, comma)
		}
		if i >= len(a.prefix) && i > 0 {
			// All further ones are alike.
			if left := a.min - i; one < never && left <= never/max(one, 1) {
				return plus(size, one*left)
			}
			return never
		}
		size = plus(size, one)
	}
	return size
}

// mergeArrays adds the arrays that all atoms allow.
func (c *compiler) mergeArrays(n *node, atoms []*value) error {
	a := &arrayShape{max: -1}
	prefix := 0
	for _, v := range atoms {
		a.min = max(a.min, v.count("minItems", 0))
		if v.get("maxItems") != nil {
			if m := v.count("maxItems", 0); a.max < 0 || m < a.max {
				a.max = m
			}
		}
		listed, _ := v.elements()
		prefix = max(prefix, len(listed))
	}
	if a.max >= 0 && a.min > a.max {
		return nil
	}
	if a.max >= 0 {
		prefix = min(prefix, a.max)
	}
	for i := range prefix + 1 {
		if err := c.work.spend(8 * (1 + len(atoms))); err != nil {
			return c.wrapNode(n, err)
		}
		var all []*value
		for _, v := range atoms {
			listed, rest := v.elements()
			if i < len(listed) {
				all = append(all, listed[i])
			} else if rest != nil {
				all = append(all, rest)
			}
		}
		if e := c.node(all); i < prefix {
			a.prefix = append(a.prefix, e)
		} else if a.max < 0 || a.max > prefix {
			a.items = e
		}
	}
	n.arrays = append(n.arrays, a)
	return nil
}

// elements returns the schemas of the first elements, and of those after them
// (nil where nothing is said).
func (v *value) elements() (listed []*value, rest *value) {
	items := v.get("items")
	if v.doc.draft == draft7 {
		if items != nil && items.kind == '[' {
			return items.list, v.get("additionalItems")
		}
		return nil, items
	}
	if p := v.get("prefixItems"); p != nil {
		listed = p.list
	}
	return listed, items
}
