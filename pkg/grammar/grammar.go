package grammar

import (
	"fmt"
	"sync"
)

// A Grammar is a compiled schema, or set of tools. It may be used by many
// goroutines at once.
type Grammar struct {
	opts  Options
	root  *node
	nodes []*node
	// keyed reports that there are objects whose keys must be remembered.
	keyed bool

	mu      sync.Mutex
	machine *machine
}

// Compile compiles a JSON Schema, of draft 2020-12 unless its $schema says
// draft 7. opts may be nil.
//
// Errors: ErrSchema for what is no schema, ErrUnsupported for what cannot be
// compiled exactly, ErrUnsatisfiable where no value is valid, ErrLimit; all with
// a *SchemaError that names keyword and place.
func Compile(schema []byte, opts *Options) (*Grammar, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(schema) > o.MaxSchema {
		return nil, &SchemaError{Pointer: "#", Detail: fmt.Sprintf("the schema has %d bytes, more than Options.MaxSchema, %d", len(schema), o.MaxSchema), Err: ErrLimit}
	}
	c := newCompiler(o)
	d, err := newDocument(schema, "", &c.ids)
	if err != nil {
		return nil, err
	}
	root := c.node([]*value{d.root})
	if err := c.fillAll(); err != nil {
		return nil, err
	}
	return c.finish(root, nil)
}

// finish checks that the values of musts exist and fit, and returns the grammar.
func (c *compiler) finish(root *node, musts []*node) (*Grammar, error) {
	if err := c.settle(); err != nil {
		return nil, err
	}
	for _, n := range append(musts, root) {
		v := n.place()
		fail := func(cause error, format string, args ...any) error {
			if v != nil && v.doc != nil {
				return v.doc.root.fail("", cause, format, args...)
			}
			return fmt.Errorf("%w: "+format, append([]any{cause}, args...)...)
		}
		height, size := n.height, n.size
		if n != root {
			// Inside of a tool call; its other bytes are few.
			height, size = plus(height, 1), plus(size, 100)
		}
		switch {
		case n.height >= never:
			return nil, fail(ErrUnsatisfiable, "nothing is valid by all its keywords")
		case height > c.opts.MaxDepth:
			return nil, fail(ErrLimit, "the flattest value nests %d deep, more than Options.MaxDepth, %d", height, c.opts.MaxDepth)
		case size > c.opts.MaxBytes:
			return nil, fail(ErrLimit, "a short value takes %d bytes, more than Options.MaxBytes, %d", size, c.opts.MaxBytes)
		}
	}
	g := &Grammar{opts: c.opts, root: root, nodes: c.nodes}
	var arrays, objects int32
	for _, n := range c.nodes {
		for _, a := range n.arrays {
			a.id = arrays
			arrays++
		}
		for _, o := range n.objects {
			o.id = objects
			objects++
			o.indexRequired()
			g.keyed = g.keyed || len(o.free) > 0
		}
	}
	g.machine = newMachine(g)
	return g, nil
}
