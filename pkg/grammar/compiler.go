package grammar

import (
	"encoding/binary"
	"slices"
)

// A compiler turns schemas into nodes.
//
// A node is the set of values that are valid by several schemas at once (most
// often by one). Its schemas are expanded into alternatives (expand): a choice
// of one branch for each anyOf and oneOf, together with all that allOf and $ref
// bring in. Each alternative is a list of schemas of which only the plain
// keywords count, and is merged into shapes by type (merge). What properties
// and elements must be is again the set by several schemas at once: a node. So
// recursion becomes a cycle among nodes.
type compiler struct {
	opts  Options
	work  work
	ids   int
	nodes []*node
	byKey map[string]*node
	queue []*node
	plain map[*value]bool
	dnf   map[*value][][]*value

	exclusive []exclusion
	seen      map[*value]bool // oneOf already noted

	dfas    map[string]*dfa
	langs   map[string]*stringLang
	numbers map[string]*bytesDFA
}

// An exclusion says that no value may be valid by both of two branches of a
// oneOf.
type exclusion struct {
	at   *value
	i, j int
	both *node
}

// A node is a set of values.
type node struct {
	id      int32
	values  []*value // the schemas that all must hold
	literal *value   // or the one value

	null, yes, no bool
	number        *bytesDFA
	str           *stringLang
	arrays        []*arrayShape
	objects       []*objectShape

	height int // nesting that the flattest value needs; never: there is no value
	size   int // bytes of the shortest among the flattest values

	pendingNumbers []*bytesDFA
	pendingStrings []*stringLang
}

const maxAlternatives = 256

func newCompiler(o Options) *compiler {
	return &compiler{
		opts: o, work: work{o.MaxWork}, byKey: map[string]*node{}, plain: map[*value]bool{},
		dnf: map[*value][][]*value{}, seen: map[*value]bool{},
		dfas: map[string]*dfa{}, langs: map[string]*stringLang{}, numbers: map[string]*bytesDFA{},
	}
}

// node returns the node of the values that are valid by all of schemas.
func (c *compiler) node(schemas []*value) *node {
	schemas = slices.Clone(schemas)
	schemas = slices.DeleteFunc(schemas, func(v *value) bool { return v.kind == 't' })
	slices.SortFunc(schemas, func(a, b *value) int { return a.id - b.id })
	schemas = slices.Compact(schemas)
	for _, v := range schemas {
		if v.kind == 'f' {
			schemas = []*value{v}
			break
		}
	}
	key := []byte{'s'}
	for _, v := range schemas {
		if v.kind == 'f' {
			key = append(key, 'f')
			break
		}
		key = binary.LittleEndian.AppendUint32(key, uint32(v.id))
	}
	return c.nodeByKey(string(key), schemas, nil)
}

// literalNode returns the node of one value.
func (c *compiler) literalNode(v *value) *node {
	key := "l" + canonical(v)
	c.work.left -= len(key) // what is over is noticed by the next step
	return c.nodeByKey(key, nil, v)
}

func (c *compiler) nodeByKey(key string, schemas []*value, literal *value) *node {
	if n := c.byKey[key]; n != nil {
		return n
	}
	n := &node{id: int32(len(c.nodes)), values: schemas, literal: literal, height: never, size: never}
	c.byKey[key] = n
	c.nodes = append(c.nodes, n)
	c.queue = append(c.queue, n)
	return n
}

// fillAll fills the nodes that were asked for, and those that they ask for.
func (c *compiler) fillAll() error {
	for len(c.queue) > 0 {
		n := c.queue[0]
		c.queue = c.queue[1:]
		if err := c.fill(n); err != nil {
			return err
		}
		if len(c.queue) == 0 {
			c.noteExclusions()
		}
	}
	return nil
}

// place returns a schema of a node, for errors.
func (n *node) place() *value {
	if n.literal != nil {
		return n.literal
	}
	if len(n.values) > 0 {
		return n.values[0]
	}
	return nil
}

func (c *compiler) fill(n *node) error {
	if err := c.work.spend(32); err != nil {
		return c.wrapNode(n, err)
	}
	if n.literal != nil {
		if err := c.addLiterals(n, []*value{n.literal}); err != nil {
			return err
		}
	} else {
		alternatives := [][]*value{{}}
		for _, v := range n.values {
			more, err := c.expand(v, nil)
			if err != nil {
				return err
			}
			if alternatives, err = c.cross(v, alternatives, more); err != nil {
				return err
			}
		}
		for _, a := range alternatives {
			if err := c.merge(n, a); err != nil {
				return err
			}
		}
	}
	var err error
	if len(n.pendingNumbers) > 0 {
		if n.number, err = uniteBytes(n.pendingNumbers, numberBytes, &c.work); err != nil {
			return c.wrapNode(n, err)
		}
	}
	if n.str, err = uniteStrings(n.pendingStrings, &c.work); err != nil {
		return c.wrapNode(n, err)
	}
	n.pendingNumbers, n.pendingStrings = nil, nil
	return nil
}

func (c *compiler) wrapNode(n *node, err error) error {
	if v := n.place(); v != nil {
		return v.wrap("", err)
	}
	return &SchemaError{Pointer: "#", Detail: err.Error(), Err: ErrLimit}
}

// expand returns the alternatives of a schema: lists of schemas whose plain
// keywords must all hold.
func (c *compiler) expand(v *value, active []*value) ([][]*value, error) {
	switch v.kind {
	case 't':
		return [][]*value{{}}, nil
	case 'f':
		return nil, nil
	case '{':
	default:
		return nil, v.fail("", ErrSchema, "expected a schema: an object or a boolean")
	}
	if out, ok := c.dnf[v]; ok {
		return out, nil
	}
	if slices.Contains(active, v) {
		return nil, v.fail("$ref", ErrUnsupported, "it leads back to itself without a property or an element between")
	}
	if len(active) > maxSchemaDepth {
		return nil, v.fail("", ErrLimit, "references and branches nest deeper than %d", maxSchemaDepth)
	}
	active = append(active, v)
	plain, err := c.checkKeywords(v)
	if err != nil {
		return nil, err
	}
	out := [][]*value{{}}
	if plain {
		out[0] = []*value{v}
	}
	if ref := v.get("$ref"); ref != nil {
		target, err := v.resolve(ref.text)
		if err != nil {
			return nil, err
		}
		more, err := c.expand(target, active)
		if err != nil {
			return nil, err
		}
		if out, err = c.cross(v, out, more); err != nil {
			return nil, err
		}
	}
	if all := v.get("allOf"); all != nil {
		for _, branch := range all.list {
			more, err := c.expand(branch, active)
			if err != nil {
				return nil, err
			}
			if out, err = c.cross(v, out, more); err != nil {
				return nil, err
			}
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		choice := v.get(keyword)
		if choice == nil {
			continue
		}
		var union [][]*value
		for _, branch := range choice.list {
			more, err := c.expand(branch, active)
			if err != nil {
				return nil, err
			}
			union = append(union, more...)
		}
		if out, err = c.cross(v, out, union); err != nil {
			return nil, err
		}
	}
	if v.get("oneOf") != nil && !c.seen[v] {
		c.seen[v] = true
		c.exclusive = append(c.exclusive, exclusion{at: v, i: -1})
	}
	c.dnf[v] = out
	return out, nil
}

// cross joins every alternative of a with every one of b.
func (c *compiler) cross(v *value, a, b [][]*value) ([][]*value, error) {
	if len(a)*len(b) > maxAlternatives {
		return nil, v.fail("", ErrLimit, "the choices of anyOf and oneOf multiply to %d alternatives, more than %d", len(a)*len(b), maxAlternatives)
	}
	var out [][]*value
	for _, x := range a {
		for _, y := range b {
			if err := c.work.spend(8 + 8*(len(x)+len(y))); err != nil {
				return nil, v.wrap("", err)
			}
			z := append(slices.Clone(x), y...)
			slices.SortStableFunc(z, func(a, b *value) int { return a.id - b.id })
			out = append(out, slices.Compact(z))
		}
	}
	return out, nil
}

// noteExclusions makes a node for each pair of branches of each oneOf that was
// met: the values that are valid by both, of which there must be none.
func (c *compiler) noteExclusions() {
	for k := range c.exclusive {
		e := &c.exclusive[k]
		if e.i >= 0 || e.both != nil {
			continue
		}
		branches := e.at.get("oneOf").list
		rest := c.without(e.at, "oneOf")
		e.i = 0
		for j := 1; j < len(branches); j++ {
			for i := range j {
				both := c.node([]*value{rest, branches[i], branches[j]})
				c.exclusive = append(c.exclusive, exclusion{e.at, i, j, both})
			}
		}
	}
}

// without returns a schema less one keyword.
func (c *compiler) without(v *value, keyword string) *value {
	out := &value{kind: '{', doc: v.doc, parent: v.parent, name: v.name, id: c.ids, shared: v}
	c.ids++
	for i, k := range v.keys {
		if k != keyword {
			out.keys = append(out.keys, k)
			out.list = append(out.list, v.list[i])
		}
	}
	return out
}

// settle finds how deep and how long each node's least value is, and whether
// there is one, and checks the oneOfs.
func (c *compiler) settle() error {
	for changed := true; changed; {
		changed = false
		for _, n := range c.nodes {
			if err := c.work.spend(4); err != nil {
				return c.wrapNode(n, err)
			}
			if n.settleHeight() {
				changed = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, n := range c.nodes {
			if err := c.work.spend(4); err != nil {
				return c.wrapNode(n, err)
			}
			if n.settleSize(&c.opts) {
				changed = true
			}
		}
	}
	for _, e := range c.exclusive {
		if e.both != nil && e.both.height < never {
			return e.at.fail("oneOf", ErrUnsupported, "a value can be valid by branches %d and %d, or that cannot be excluded", e.i, e.j)
		}
	}
	return nil
}

func (n *node) scalar() bool {
	return n.null || n.yes || n.no || n.number != nil || n.str != nil
}

func (n *node) settleHeight() (changed bool) {
	height := never
	if n.scalar() {
		height = 0
	}
	for _, a := range n.arrays {
		a.height = a.leastHeight()
		height = min(height, a.height)
	}
	for _, o := range n.objects {
		o.height = o.leastHeight()
		height = min(height, o.height)
	}
	changed = height != n.height
	n.height = height
	return changed
}

func (n *node) settleSize(o *Options) (changed bool) {
	size := never
	if n.height == 0 {
		switch {
		case n.null || n.yes:
			size = 4
		case n.no:
			size = 5
		}
		if n.number != nil {
			size = min(size, int(n.number.left[0]))
		}
		if n.str != nil {
			size = min(size, 1+n.str.leastBytes())
		}
	}
	for _, a := range n.arrays {
		a.size = a.leastSize(o)
		if a.height == n.height {
			size = min(size, a.size)
		}
	}
	for _, s := range n.objects {
		s.size = s.leastSize(o)
		if s.height == n.height {
			size = min(size, s.size)
		}
	}
	changed = size != n.size
	n.size = size
	return changed
}

// plus adds distances.
func plus(a, b int) int {
	if a >= never || b >= never || a+b >= never {
		return never
	}
	return a + b
}
