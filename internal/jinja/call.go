package jinja

import "slices"

// args are the arguments of a call.
type args struct {
	list   []Value
	kwargs []kwarg
}

type kwarg struct {
	name string
	v    Value
}

// args evaluates arguments.
func (m *machine) args(x *callArgs) *args {
	a := &args{}
	for _, arg := range x.args {
		a.list = append(a.list, m.eval(arg))
	}
	if x.star != nil {
		items := m.items(m.eval(x.star))
		m.use(16 * len(items))
		a.list = append(a.list, items...)
	}
	add := func(name string, v Value) {
		if slices.ContainsFunc(a.kwargs, func(kw kwarg) bool { return kw.name == name }) {
			fail("argument %q is given twice", name)
		}
		a.kwargs = append(a.kwargs, kwarg{name, v})
	}
	for _, kw := range x.kwargs {
		add(kw.name, m.eval(kw.x))
	}
	if x.starStar != nil {
		d, ok := m.eval(x.starStar).(*Dict)
		if !ok {
			fail("** needs a dict")
		}
		if len(d.keys) > 64 {
			fail("** with more than 64 members")
		}
		for i, k := range d.keys {
			name, ok := k.(text)
			if !ok {
				fail("names of arguments must be strings")
			}
			add(name.s, d.values[i])
		}
	}
	return a
}

func (m *machine) call(fn Value, a *args) Value {
	switch fn := fn.(type) {
	case *callable:
		return fn.call(m, a)
	case *undefined:
		failUndefined(fn)
	}
	fail("a %s is not callable", typeName(fn))
	return nil
}

// takeNamed removes a keyword argument.
func (a *args) takeNamed(name string) (Value, bool) {
	for i, kw := range a.kwargs {
		if kw.name == name {
			a.kwargs = slices.Delete(slices.Clone(a.kwargs), i, i+1)
			return kw.v, true
		}
	}
	return nil, false
}

// params are the arguments of a built-in function by its parameters.
type params struct {
	m    *machine
	fn   string
	vals []Value
	has  []bool
}

// params matches arguments with names, of which the first required must be
// there.
func (m *machine) params(fn string, a *args, required int, names ...string) *params {
	p := &params{m, fn, make([]Value, len(names)), make([]bool, len(names))}
	if len(a.list) > len(names) {
		fail("%s takes at most %d arguments, found %d", fn, len(names), len(a.list))
	}
	for i, v := range a.list {
		p.vals[i], p.has[i] = v, true
	}
	for _, kw := range a.kwargs {
		i := slices.Index(names, kw.name)
		if i < 0 {
			fail("%s takes no argument %q", fn, kw.name)
		}
		if p.has[i] {
			fail("%s: argument %q is given twice", fn, kw.name)
		}
		p.vals[i], p.has[i] = kw.v, true
	}
	for i := range required {
		if !p.has[i] {
			fail("%s: argument %q is missing", fn, names[i])
		}
	}
	return p
}

// text returns a string argument; absent, or none where that is the default, it
// is def.
func (p *params) text(i int, def string) text {
	if !p.has[i] || p.vals[i] == nil {
		return written(def)
	}
	t, ok := p.vals[i].(text)
	if !ok {
		fail("%s: want a string, found %s", p.fn, typeName(p.vals[i]))
	}
	return t
}

func (p *params) int(i int, def int64) int64 {
	if !p.has[i] || p.vals[i] == nil {
		return def
	}
	_, n, isInt, _ := number(p.vals[i])
	if !isInt {
		fail("%s: want an integer, found %s", p.fn, typeName(p.vals[i]))
	}
	return n
}

func (p *params) bool(i int, def bool) bool {
	if !p.has[i] {
		return def
	}
	return truth(p.vals[i])
}
