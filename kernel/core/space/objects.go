package space

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// NewObject returns an empty memory object with one reference, or nil.
func (m *Memory) NewObject() *object.Object {
	o := m.Objects.Get()
	if o != nil {
		o.Init(m.Frames)
	}
	return o
}

// ReleaseObject gives up a reference. The last one frees the object; its pages
// are freed by and by where there are many.
func (m *Memory) ReleaseObject(o *object.Object) {
	if o.References--; o.References != 0 {
		return
	}
	o.NextDying = m.dying
	m.dying = o
	m.Reap()
}

// Reap frees a step's worth of pages of released objects, and reports whether
// there are more. Whoever has time calls it, and whoever lacks memory.
func (m *Memory) Reap() bool {
	o := m.dying
	if o == nil {
		return false
	}
	if o.Drop(0, object.MaxSize>>pageShift, Step) == object.MaxSize>>pageShift {
		m.dying = o.NextDying
		m.Objects.Put(o)
	}
	return m.dying != nil
}

// Resize sets the size of an object in bytes. When it shrinks, what lies beyond
// is taken out of all mappings, private copies too, as Linux does it, and then
// freed. Again: a step is done. ENOMEM: the last page cannot be had. EFBIG.
func (m *Memory) Resize(l *Local, o *object.Object, size uint64) unix.Errno {
	if size > object.MaxSize {
		return unix.EFBIG
	}
	if !o.Resize(size) {
		return unix.ENOMEM
	}
	return m.clear(l, o, (size+pageMask)>>pageShift, object.MaxSize>>pageShift, true)
}

// Punch takes the whole pages of [first, end) out of mappings and frees them.
// Pages in place are cleared. Private copies stay. Again: a step is done.
func (m *Memory) Punch(l *Local, o *object.Object, first, end uint64) unix.Errno {
	return m.clear(l, o, first, end, false)
}

// clear makes pages first to end of o a hole, in mappings too; copies says that
// private copies of them go as well.
func (m *Memory) clear(l *Local, o *object.Object, first, end uint64, copies bool) unix.Errno {
	for link := o.Mappings; link != nil; link = link.Next {
		a := areaOf(link)
		s := of(a)
		from, to := a.Offset>>pageShift, (a.Offset+a.End-a.Start)>>pageShift
		from, to = max(from, first), min(to, end)
		if from >= to {
			continue
		}
		start := a.Start + from<<pageShift - a.Offset
		stop := a.Start + to<<pageShift - a.Offset
		next, errno := s.zapSome(l, start, stop, copies)
		if errno != 0 {
			return errno
		}
		if next < stop {
			return Again
		}
	}
	if next := o.Drop(first, end, Step); next < end {
		return Again
	}
	return 0
}

// anonymousObject makes the object of a shared anonymous mapping.
func (m *Memory) anonymousObject(size uint64) *object.Object {
	o := m.NewObject()
	if o != nil {
		o.Size = size
	}
	return o
}

// FutexKey returns what names the word at addr for processes that share it: the
// object and the offset in it, or nil and 0 where the memory is private.
func (s *Space) FutexKey(addr uint64) (o *object.Object, offset uint64) {
	a := s.find(addr)
	if a == nil || a.Object == nil || a.Flags&vma.Shared == 0 {
		return nil, 0
	}
	return a.Object, a.Offset + (addr - a.Start)
}
