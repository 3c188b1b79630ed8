package ready

import "github.com/leveret-os/leveret/kernel/core/order"

// Item is one registration of an epoll set: a descriptor and the open file
// that it named when it was added.
type Item struct {
	node         order.Node // by descriptor; first: an *Item is its node's address
	waiter       Waiter
	set          *Set
	nextR, prevR *Item // ready list
	isReady      bool

	File   uintptr // the open file, opaque here
	Events uint32
	Data   uint64
}

// FD is the descriptor under which the item was added.
func (it *Item) FD() uint64 { return it.node.Key }

// Set is an epoll instance. Object is ready for In while an item may be.
type Set struct {
	Object      Object
	items       order.Tree
	first, last *Item // ready, in the order in which they became so
	ready       int
}

// Init makes the set's object known as one; must be called once.
func (s *Set) Init() { s.Object.set = s }

// Len is the number of items, Ready that of items on the ready list.
func (s *Set) Len() int { return s.items.Len() }

// Ready is the length of the ready list, which may hold items that are not
// ready any more.
func (s *Set) Ready() int { return s.ready }

// Find is the item for a descriptor and an open file, or nil.
func (s *Set) Find(fd uint64, file uintptr) *Item {
	n := s.items.Find(fd)
	for n != nil && n.Key == fd {
		if it := itemOf(n); it.File == file {
			return it
		}
		n = s.items.Next(n)
	}
	return nil
}

// First is any item of the set, nil when it is empty.
func (s *Set) First() *Item {
	if n := s.items.First(); n != nil {
		return itemOf(n)
	}
	return nil
}

// Add registers it, whose File, Events and Data are set, for the object of an
// open file. Who waits for the set and is woken thereby is added to woken.
func (s *Set) Add(it *Item, fd uint64, o *Object, woken *Chain) {
	it.set = s
	s.items.Insert(&it.node, fd)
	it.waiter.item = it
	it.waiter.exclusive = it.Events&Exclusive != 0
	o.link(&it.waiter)
	s.Modify(it, it.Events, it.Data, woken)
}

// Modify changes what an item asks for.
func (s *Set) Modify(it *Item, events uint32, data uint64, woken *Chain) {
	it.Events, it.Data = events, data
	it.waiter.want = want(events)
	if it.waiter.object.Bits&it.waiter.want != 0 {
		s.markReady(it, woken, 0)
	}
}

// want is the bits that concern an item with these events.
func want(events uint32) uint32 { return events&^uint32(flags) | Always }

// Delete removes it from the set and from its object.
func (s *Set) Delete(it *Item) {
	s.unready(it)
	it.waiter.Remove()
	s.items.Remove(&it.node)
	it.set = nil
}

// markReady puts it on the ready list and tells who waits for the set.
func (s *Set) markReady(it *Item, woken *Chain, depth int) {
	if !it.isReady {
		it.isReady = true
		it.nextR, it.prevR = nil, s.last
		if s.last == nil {
			s.first = it
		} else {
			s.last.nextR = it
		}
		s.last = it
		s.ready++
	}
	s.Object.Bits |= In
	if s.Object.first != nil {
		s.Object.tell(In, woken, depth+1)
	}
}

func (s *Set) unready(it *Item) {
	if !it.isReady {
		return
	}
	it.isReady = false
	if it.prevR == nil {
		s.first = it.nextR
	} else {
		it.prevR.nextR = it.nextR
	}
	if it.nextR == nil {
		s.last = it.prevR
	} else {
		it.nextR.prevR = it.prevR
	}
	it.nextR, it.prevR = nil, nil
	s.ready--
	if s.first == nil {
		s.Object.Bits &^= In
	}
}

// Pop takes the next item off the ready list and tells which of its events
// hold now, 0 when none does any more. nil: the list is empty. Who harvests
// calls it at most as often as Ready was before the first call, since Report
// puts level-triggered items back.
func (s *Set) Pop() (*Item, uint32) {
	it := s.first
	if it == nil {
		return nil, 0
	}
	s.unready(it)
	return it, it.waiter.object.current(0) & it.waiter.want
}

// Report is called for an item that was told to the user.
func (s *Set) Report(it *Item) {
	if it.Events&OneShot != 0 { // disabled until it is modified
		it.waiter.want = 0
		return
	}
	if it.Events&Edge == 0 {
		var none Chain
		s.requeue(it, &none)
	}
}

// Keep puts an item back that could not be told to the user.
func (s *Set) Keep(it *Item) {
	var none Chain
	s.requeue(it, &none)
}

// requeue is markReady without telling anyone: the caller is the one who
// waits.
func (s *Set) requeue(it *Item, none *Chain) {
	o := s.Object.first
	s.Object.first = nil
	s.markReady(it, none, 0)
	s.Object.first = o
}

// current is o's bits; those of a set are looked up in its items.
func (o *Object) current(depth int) uint32 {
	if o.set == nil {
		return o.Bits
	}
	if depth <= MaxDepth && o.set.holds(depth) {
		return In
	}
	return 0
}

// Current is o's poll bits. For an epoll set it drops items from the ready
// list that are not ready any more.
func (o *Object) Current() uint32 { return o.current(0) }

// holds tells whether a ready item is truly ready.
func (s *Set) holds(depth int) bool {
	for it := s.first; it != nil; it = s.first {
		if it.waiter.object.current(depth+1)&it.waiter.want != 0 {
			return true
		}
		s.unready(it)
	}
	return false
}

// Reaches tells whether target is s or nested in it, or whether adding a set
// at depth would nest too deep: the cases of ELOOP.
func (s *Set) Reaches(target *Set, depth int) bool {
	if s == target || depth >= MaxDepth {
		return true
	}
	for n := s.items.First(); n != nil; n = s.items.Next(n) {
		if in := itemOf(n).waiter.object.set; in != nil && in.Reaches(target, depth+1) {
			return true
		}
	}
	return false
}

// Depth is how deep sets that hold s are nested above it.
func (s *Set) Depth() int { return s.depth(0) }

func (s *Set) depth(d int) int {
	deepest := 0
	if d > MaxDepth {
		return d
	}
	for w := s.Object.first; w != nil; w = w.next {
		if w.item != nil {
			deepest = max(deepest, 1+w.item.set.depth(d+1))
		}
	}
	return deepest
}

// SetOf is the epoll set whose object o is, or nil.
func (o *Object) SetOf() *Set { return o.set }

// Set is the set that it is in.
func (it *Item) Set() *Set { return it.set }
