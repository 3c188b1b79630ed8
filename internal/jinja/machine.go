package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// DefaultFuel is the budget of a rendering whose options name none. A step of
	// the evaluator takes stepCost of it, a byte of intermediate text one; real
	// templates take some thousands of steps for a conversation.
	DefaultFuel = 64 << 20
	// fuelPerByte is added for each byte of input.
	fuelPerByte = 64
	stepCost    = 32
	// scanCost and walkCost are how many bytes are read for one unit of fuel.
	scanCost, walkCost = 16, 2
	// elementCost is taken for each element of a value that is looked at.
	elementCost = 8
	// maxStack bounds the depth of the evaluator, over all open macros.
	maxStack = 2000
	// maxRange is the longest range, as in Jinja2's sandbox.
	maxRange = 100000
)

// Options of a rendering. The zero value, and nil, are usable.
type Options struct {
	// Fuel is the budget; 0 means DefaultFuel and some more for large inputs.
	Fuel int
	// Now is the clock of strftime_now; nil means time.Now.
	Now func() time.Time
}

// A Rendering is what a template made of its variables.
type Rendering struct {
	Text string
	// Data are the parts of Text that came from given values, in ascending order.
	Data []Span
}

// A machine renders once.
type machine struct {
	fuel  int
	limit int
	depth int
	now   func() time.Time
	scope *scope
	out   *builder
}

// use takes from the budget; it must be called before memory of that size is
// allocated.
func (m *machine) use(n int) {
	if n < 0 || n > m.fuel {
		panic(&failure{fmt.Errorf("%w: more than %d units of work", ErrLimit, m.limit)})
	}
	m.fuel -= n
}

// scan pays for reading n bytes at the speed of memory.
func (m *machine) scan(n int) { m.use(1 + n/scanCost) }

// walk pays for reading n bytes character by character.
func (m *machine) walk(n int) { m.use(1 + n/walkCost) }

// enter counts one more level of recursion; defer the function it returns.
func (m *machine) enter() func() {
	if m.depth++; m.depth > maxStack {
		panic(&failure{fmt.Errorf("%w: nested deeper than %d", ErrLimit, maxStack)})
	}
	return m.leave
}

func (m *machine) leave() { m.depth-- }

// A scope holds the variables of a block; outer ones are visible through it.
type scope struct {
	vars  map[string]Value
	outer *scope
}

func (s *scope) set(name string, v Value) {
	if s.vars == nil {
		s.vars = map[string]Value{}
	}
	s.vars[name] = v
}

// inside runs f in a scope within the given one.
func (m *machine) inside(outer *scope, f func()) {
	old := m.scope
	m.scope = &scope{outer: outer}
	f()
	m.scope = old
}

// capture returns what f writes.
func (m *machine) capture(f func()) text {
	old := m.out
	m.out = &builder{}
	f()
	t := m.out.text()
	m.out = old
	return t
}

// Render renders the template with the given variables. Errors wrap ErrRender,
// ErrLimit or ErrRaised and give the line.
func (t *Template) Render(vars map[string]Value, opts *Options) (r *Rendering, err error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &machine{fuel: o.Fuel, now: o.Now, out: &builder{}, scope: &scope{vars: globals}}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *failure:
			r, err = nil, p.err
		default:
			panic(p)
		}
	}()
	if o.Fuel <= 0 {
		size := 0
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			size += inputSize(vars[name], 0)
		}
		m.fuel = DefaultFuel + fuelPerByte*min(size, 1<<30)
	}
	m.limit = m.fuel
	m.scope = &scope{vars: maps.Clone(vars), outer: m.scope}
	m.run(t.body)
	out := m.out.text()
	return &Rendering{Text: out.s, Data: out.data}, nil
}

// inputSize is about how many bytes a value takes.
func inputSize(v Value, depth int) int {
	if depth > maxDepth {
		fail("variables nested deeper than %d", maxDepth)
	}
	n := 16
	switch v := v.(type) {
	case text:
		n += len(v.s)
	case *list:
		for _, item := range v.items {
			n += inputSize(item, depth+1)
		}
	case *Dict:
		for i, k := range v.keys {
			n += inputSize(k, depth+1) + inputSize(v.values[i], depth+1)
		}
	}
	return n
}

// located adds a line to an error of a statement or call that has none yet.
func located(line int) {
	p := recover()
	if p == nil {
		return
	}
	if f, ok := p.(*failure); ok {
		var l *lineError
		if !errors.As(f.err, &l) {
			f.err = &lineError{line, f.err}
		}
	}
	panic(p)
}

type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }
