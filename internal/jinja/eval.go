package jinja

import "fmt"

// A control says how a list of statements ended.
type control uint8

const (
	ranThrough control = iota
	brokeLoop
	continuedLoop
)

func (m *machine) run(body []node) control {
	defer m.enter()()
	for i := range body {
		if c := m.exec(&body[i]); c != ranThrough {
			return c
		}
	}
	return ranThrough
}

func (m *machine) exec(n *node) control {
	defer located(n.line)
	m.use(stepCost)
	switch s := n.stmt.(type) {
	case *dataNode:
		m.out.write(m, s.text)
	case *outNode:
		m.out.join(m, m.str(m.eval(s.x)))
	case *ifNode:
		for _, b := range s.branches {
			if truth(m.eval(b.cond)) {
				return m.run(b.body)
			}
		}
		return m.run(s.orElse)
	case *forNode:
		return m.execFor(s)
	case *setNode:
		m.assign(&s.target, m.eval(s.value))
	case *setBlockNode:
		var t text
		m.inside(m.scope, func() { t = m.capture(func() { m.run(s.body) }) })
		m.assign(&s.target, m.pipe(t, s.filters))
	case *withNode:
		m.inside(m.scope, func() {
			inner := m.scope
			values := make([]Value, len(s.values))
			m.scope = inner.outer
			for i, x := range s.values {
				values[i] = m.eval(x)
			}
			m.scope = inner
			for i := range s.targets {
				m.assign(&s.targets[i], values[i])
			}
			m.run(s.body)
		})
	case *macroNode:
		m.scope.set(s.macro.name, m.closure(s.macro))
	case *callNode:
		fn := m.eval(s.call.fn)
		a := m.args(&s.call.args)
		a.kwargs = append(a.kwargs, kwarg{"caller", m.closure(s.caller)})
		m.out.join(m, m.str(m.call(fn, a)))
	case *filterNode:
		var t text
		m.inside(m.scope, func() { t = m.capture(func() { m.run(s.body) }) })
		m.out.join(m, m.str(m.pipe(t, s.filters)))
	case *scopeNode:
		m.inside(m.scope, func() { m.run(s.body) })
	case *breakNode:
		return brokeLoop
	case *continueNode:
		return continuedLoop
	default:
		fail("unknown statement %T", n.stmt)
	}
	return ranThrough
}

// pipe passes a value through the filters of a block.
func (m *machine) pipe(v Value, filters []*filterExpr) Value {
	for _, f := range filters {
		v = m.filter(f, v)
	}
	return v
}

func (m *machine) execFor(s *forNode) control {
	items := m.items(m.eval(s.iter))
	if s.cond != nil {
		var kept []Value
		for _, item := range items {
			m.use(stepCost)
			m.inside(m.scope, func() {
				m.assign(&s.target, item)
				if truth(m.eval(s.cond)) {
					kept = append(kept, item)
				}
			})
		}
		items = kept
	}
	if len(items) == 0 {
		return m.run(s.orElse)
	}
	l := &loop{items: items}
	outer := m.scope
	for l.i = range items {
		m.use(stepCost)
		c := ranThrough
		m.inside(outer, func() {
			m.assign(&s.target, items[l.i])
			m.scope.set("loop", l)
			c = m.run(s.body)
		})
		if c == brokeLoop {
			break
		}
	}
	return ranThrough
}

// assign sets a target in the current scope.
func (m *machine) assign(t *target, v Value) {
	switch {
	case t.tuple != nil:
		items := m.items(v)
		if len(items) != len(t.tuple) {
			fail("cannot unpack %d values into %d names", len(items), len(t.tuple))
		}
		for i := range t.tuple {
			m.assign(&t.tuple[i], items[i])
		}
	case t.attr != "":
		ns, ok := m.lookup(t.name).(*namespace)
		if !ok {
			fail("cannot assign attribute %q: %s is no namespace", t.attr, t.name)
		}
		ns.d.Set(t.attr, v)
	default:
		m.use(len(t.name) + 48)
		m.scope.set(t.name, v)
	}
}

// lookup returns a variable.
func (m *machine) lookup(name string) Value {
	for s := m.scope; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return &undefined{fmt.Sprintf("%q is undefined", name)}
}

// closure makes a macro a value, which sees the scope in which it was defined.
func (m *machine) closure(mac *macro) *callable {
	defined := m.scope
	return &callable{mac.name, func(m *machine, a *args) Value {
		defer m.enter()()
		var t text
		m.inside(defined, func() {
			m.bind(mac, a)
			t = m.capture(func() { m.run(mac.body) })
		})
		return t
	}}
}

// bind sets the parameters of a macro from arguments.
func (m *machine) bind(mac *macro, a *args) {
	positional := a.list
	required := len(mac.params) - len(mac.defaults)
	for i, name := range mac.params {
		v, named := a.takeNamed(name)
		switch {
		case len(positional) > 0:
			if named {
				fail("macro %q: two values for %q", mac.name, name)
			}
			v, positional = positional[0], positional[1:]
		case named:
		case i >= required:
			v = m.eval(mac.defaults[i-required])
		default:
			v = &undefined{fmt.Sprintf("parameter %q was not provided", name)}
		}
		m.scope.set(name, v)
	}
	caller, hasCaller := a.takeNamed("caller")
	if mac.caller {
		if !hasCaller {
			caller = &undefined{"no caller defined"}
		}
		m.scope.set("caller", caller)
	} else if hasCaller {
		fail("macro %q takes no caller", mac.name)
	}
	if mac.varargs {
		m.scope.set("varargs", &list{items: positional, tuple: true})
	} else if len(positional) > 0 {
		fail("macro %q takes not more than %d arguments", mac.name, len(mac.params))
	}
	if mac.kwargs {
		d := NewDict()
		for _, kw := range a.kwargs {
			d.Set(kw.name, kw.v)
		}
		m.scope.set("kwargs", d)
	} else if len(a.kwargs) > 0 {
		fail("macro %q takes no argument %q", mac.name, a.kwargs[0].name)
	}
}

// A loop is the variable of that name.
type loop struct {
	items []Value
	i     int
	last  []Value // arguments of the last call of changed
}

// loopAttr returns an attribute of a loop, or nil.
func loopAttr(l *loop, name string) Value {
	n := len(l.items)
	neighbour := func(i int, why string) Value {
		if i < 0 || i >= n {
			return &undefined{why}
		}
		return l.items[i]
	}
	switch name {
	case "index":
		return int64(l.i + 1)
	case "index0":
		return int64(l.i)
	case "revindex":
		return int64(n - l.i)
	case "revindex0":
		return int64(n - l.i - 1)
	case "first":
		return l.i == 0
	case "last":
		return l.i == n-1
	case "length":
		return int64(n)
	case "depth":
		return int64(1) // more only in recursive loops
	case "depth0":
		return int64(0)
	case "previtem":
		return neighbour(l.i-1, "there is no previous item")
	case "nextitem":
		return neighbour(l.i+1, "there is no next item")
	case "cycle":
		return &callable{"loop.cycle", func(m *machine, a *args) Value {
			if len(a.list) == 0 {
				fail("loop.cycle: no items")
			}
			return a.list[l.i%len(a.list)]
		}}
	case "changed":
		return &callable{"loop.changed", func(m *machine, a *args) Value {
			same := l.last != nil && m.equal(&list{items: l.last}, &list{items: a.list})
			l.last = append([]Value{}, a.list...)
			return !same
		}}
	}
	return nil
}
