package jinja

import (
	"fmt"
	"strings"
)

// globals are the functions of every template.
var globals = map[string]Value{
	"range":           &callable{"range", rangeOf},
	"dict":            &callable{"dict", makeDict},
	"namespace":       &callable{"namespace", makeNamespace},
	"cycler":          &callable{"cycler", makeCycler},
	"joiner":          &callable{"joiner", makeJoiner},
	"raise_exception": &callable{"raise_exception", raise},
	"strftime_now":    &callable{"strftime_now", strftimeNow},
}

// raise ends the rendering: the template refuses what it was given.
func raise(m *machine, a *args) Value {
	p := m.params("raise_exception", a, 1, "message")
	panic(&failure{fmt.Errorf("%w: %s", ErrRaised, m.str(p.vals[0]).s)})
}

func rangeOf(m *machine, a *args) Value {
	if len(a.kwargs) > 0 {
		fail("range takes no argument %q", a.kwargs[0].name)
	}
	p := m.params("range", a, 1, "start", "stop", "step")
	start, stop, step := p.int(0, 0), p.int(1, 0), p.int(2, 1)
	if !p.has[1] {
		start, stop = 0, start
	}
	if step == 0 {
		fail("range: step is zero")
	}
	// The number of elements, without overflow: the distance fits an uint64.
	n := uint64(0)
	switch {
	case step > 0 && start < stop:
		n = (uint64(stop)-uint64(start)-1)/uint64(step) + 1
	case step < 0 && start > stop:
		n = (uint64(start)-uint64(stop)-1)/-uint64(step) + 1
	}
	if n > maxRange {
		panic(&failure{fmt.Errorf("%w: a range of %d elements, at most %d", ErrLimit, n, maxRange)})
	}
	m.use(32 * int(n))
	l := &list{items: make([]Value, 0, n)}
	for i := start; n > 0; n-- {
		l.items = append(l.items, i)
		i += step
	}
	return l
}

func makeDict(m *machine, a *args) Value {
	d := NewDict()
	if len(a.list) > 1 {
		fail("dict takes at most 1 argument, found %d", len(a.list))
	}
	for _, v := range a.list {
		if from, ok := v.(*Dict); ok {
			m.use(128 * len(from.keys))
			for i, k := range from.keys {
				d.put(k, from.values[i])
			}
			continue
		}
		for _, pair := range m.items(v) {
			items := m.items(pair)
			if len(items) != 2 {
				fail("dict: want pairs, found %d values", len(items))
			}
			m.use(128)
			d.put(m.key(items[0]), items[1])
		}
	}
	for _, kw := range a.kwargs {
		d.Set(kw.name, kw.v)
	}
	return d
}

func makeNamespace(m *machine, a *args) Value { return &namespace{makeDict(m, a).(*Dict)} }

func makeCycler(m *machine, a *args) Value {
	if len(a.list) == 0 {
		fail("cycler: no items")
	}
	i, items := 0, a.list
	d := NewDict()
	d.Set("next", &callable{"cycler.next", func(*machine, *args) Value {
		v := items[i]
		i = (i + 1) % len(items)
		d.Set("current", items[i])
		return v
	}})
	d.Set("reset", &callable{"cycler.reset", func(*machine, *args) Value {
		i = 0
		d.Set("current", items[0])
		return nil
	}})
	d.Set("current", items[0])
	return &namespace{d}
}

func makeJoiner(m *machine, a *args) Value {
	sep := m.params("joiner", a, 0, "sep").text(0, ", ")
	used := false
	return &callable{"joiner", func(*machine, *args) Value {
		if !used {
			used = true
			return text{}
		}
		return sep
	}}
}

// strftimeNow formats the time by the directives of C's strftime.
func strftimeNow(m *machine, a *args) Value {
	format := m.params("strftime_now", a, 1, "format").text(0, "")
	now := m.now()
	hour12 := (now.Hour()+11)%12 + 1
	var b strings.Builder
	m.use(32 * len(format.s))
	for i := 0; i < len(format.s); i++ {
		if format.s[i] != '%' || i+1 == len(format.s) {
			b.WriteByte(format.s[i])
			continue
		}
		i++
		pad := "0"
		if format.s[i] == '-' && i+1 < len(format.s) { // glibc: without padding
			pad = ""
			i++
		}
		two := func(n int) { fmt.Fprintf(&b, "%"+pad+map[string]string{"0": "2", "": ""}[pad]+"d", n) }
		switch format.s[i] {
		case 'Y':
			b.WriteString(now.Format("2006"))
		case 'y':
			two(now.Year() % 100)
		case 'm':
			two(int(now.Month()))
		case 'd':
			two(now.Day())
		case 'e':
			fmt.Fprintf(&b, "%2d", now.Day())
		case 'H':
			two(now.Hour())
		case 'I':
			two(hour12)
		case 'M':
			two(now.Minute())
		case 'S':
			two(now.Second())
		case 'f':
			b.WriteString(now.Format("000000"))
		case 'B':
			b.WriteString(now.Format("January"))
		case 'b', 'h':
			b.WriteString(now.Format("Jan"))
		case 'A':
			b.WriteString(now.Format("Monday"))
		case 'a':
			b.WriteString(now.Format("Mon"))
		case 'p':
			b.WriteString(now.Format("PM"))
		case 'j':
			fmt.Fprintf(&b, "%03d", now.YearDay())
		case 'u':
			fmt.Fprintf(&b, "%d", (int(now.Weekday())+6)%7+1)
		case 'w':
			fmt.Fprintf(&b, "%d", now.Weekday())
		case 'Z':
			// datetime.now() knows no zone.
		case 'z':
		case 'F':
			b.WriteString(now.Format("2006-01-02"))
		case 'T', 'X':
			b.WriteString(now.Format("15:04:05"))
		case 'D', 'x':
			b.WriteString(now.Format("01/02/06"))
		case 'R':
			b.WriteString(now.Format("15:04"))
		case 'c':
			b.WriteString(now.Format("Mon Jan _2 15:04:05 2006"))
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '%':
			b.WriteByte('%')
		default:
			fail("strftime_now: directive %%%c is not supported", format.s[i])
		}
	}
	return format.like(b.String())
}
