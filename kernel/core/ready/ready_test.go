package ready

import "testing"

func drain(ch *Chain) (n int) {
	for ch.Next() != nil {
		n++
	}
	return n
}

func TestPostWakesWhoWantsIt(t *testing.T) {
	var o Object
	var in, out, hup Waiter
	var ch Chain
	o.Add(&in, In, false)
	o.Add(&out, Out, false)
	o.Add(&hup, 0, false)
	o.Post(In, 0, &ch)
	if ch.Next() != &in || ch.Next() != nil || in.Waiting() || !out.Waiting() {
		t.Error("In woke another than who waits for In")
	}
	o.Post(Hup, In, &ch)
	if n := drain(&ch); n != 2 || o.Bits != Hup {
		t.Errorf("Hup woke %d, bits %#x", n, o.Bits)
	}
	in.Remove() // on no list
}

func TestExclusiveWakesOne(t *testing.T) {
	var o Object
	var w [4]Waiter
	var ch Chain
	for i := range w {
		o.Add(&w[i], In, i != 1)
	}
	o.Post(In, 0, &ch)
	if ch.Next() != &w[0] || ch.Next() != &w[1] || ch.Next() != nil {
		t.Error("not the first exclusive one and the one that is not")
	}
	o.Post(In, 0, &ch)
	if ch.Next() != &w[2] || ch.Next() != nil {
		t.Error("not the next exclusive one")
	}
}

// harvest is epoll_wait of at most n events.
func harvest(s *Set, n int) (data []uint64, bits []uint32) {
	for left := s.Ready(); left > 0 && len(data) < n; left-- {
		it, b := s.Pop()
		if it == nil {
			break
		}
		if b != 0 {
			data, bits = append(data, it.Data), append(bits, b)
			s.Report(it)
		}
	}
	return data, bits
}

func TestLevelEdgeOneShot(t *testing.T) {
	var s Set
	s.Init()
	var o Object
	var ch Chain
	level, edge, once := Item{File: 1, Events: In, Data: 1}, Item{File: 1, Events: In | Edge, Data: 2}, Item{File: 1, Events: In | OneShot, Data: 3}
	s.Add(&level, 10, &o, &ch)
	s.Add(&edge, 11, &o, &ch)
	s.Add(&once, 12, &o, &ch)
	step := func(name string, want ...uint64) {
		t.Helper()
		got, _ := harvest(&s, 10)
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	}
	step("nothing is ready")
	o.Post(In, 0, &ch)
	step("first event", 1, 2, 3)
	step("again: level only", 1)
	o.Post(In, 0, &ch)
	step("a second event while ready: level and edge", 1, 2)
	s.Modify(&once, In|OneShot, 33, &ch)
	step("one-shot armed again", 1, 33)
	o.Post(0, In, &ch)
	step("not ready any more")
	o.Post(Hup, 0, &ch)
	step("Hup is always told, to a disabled one-shot not", 1, 2)
	s.Delete(&level)
	s.Delete(&edge)
	s.Delete(&once)
	o.Post(In, 0, &ch)
	if s.Len() != 0 || s.Ready() != 0 || s.Object.Bits != 0 || o.first != nil {
		t.Error("something is left after Delete")
	}
}

func TestWaitersOfSet(t *testing.T) {
	var s Set
	s.Init()
	var o Object
	var ch Chain
	var w Waiter
	it := Item{File: 1, Events: Out}
	s.Add(&it, 3, &o, &ch)
	s.Object.Add(&w, In, true)
	o.Post(In, 0, &ch)
	if ch.Next() != nil {
		t.Error("woken by a bit that no item wants")
	}
	o.Post(Out, 0, &ch)
	if ch.Next() != &w {
		t.Error("not woken")
	}
	if s.Find(3, 1) != &it || s.Find(3, 2) != nil || s.Find(4, 1) != nil {
		t.Error("Find")
	}
	same := Item{File: 2, Events: Out} // same descriptor, another file
	s.Add(&same, 3, &o, &ch)
	if s.Find(3, 2) != &same || s.Find(3, 1) != &it {
		t.Error("Find of two files under one descriptor")
	}
}

func TestNestedSets(t *testing.T) {
	var ch Chain
	var o Object
	var sets [MaxDepth + 2]Set
	var items [MaxDepth + 2]Item
	for i := range sets {
		sets[i].Init()
		items[i] = Item{Events: In, Data: uint64(i)}
	}
	sets[0].Add(&items[0], 1, &o, &ch)
	for i := 1; i < MaxDepth; i++ {
		if sets[i-1].Reaches(&sets[i], sets[i].Depth()) {
			t.Fatalf("depth %d is refused", i)
		}
		sets[i].Add(&items[i], 1, &sets[i-1].Object, &ch)
	}
	if !sets[MaxDepth-1].Reaches(&sets[MaxDepth], 1) {
		t.Error("nesting too deep is not refused")
	}
	if !sets[2].Reaches(&sets[0], 0) || !sets[1].Reaches(&sets[1], 0) {
		t.Error("a loop is not seen")
	}
	if sets[0].Depth() != MaxDepth-1 {
		t.Errorf("Depth %d", sets[0].Depth())
	}
	var w Waiter
	sets[MaxDepth-1].Object.Add(&w, In, false)
	o.Post(In, 0, &ch)
	if ch.Next() != &w {
		t.Error("the outermost set's waiter is not woken")
	}
	if got, bits := harvest(&sets[2], 1); len(got) != 1 || got[0] != 2 || bits[0] != In {
		t.Errorf("harvest of a nested set: %v %v", got, bits)
	}
	o.Post(0, In, &ch)
	if sets[MaxDepth-1].Object.Current() != 0 {
		t.Error("a set of nothing ready is ready")
	}
}

func TestFullBufferKeepsTurn(t *testing.T) {
	var s Set
	s.Init()
	var ch Chain
	var o [3]Object
	var it [3]Item
	for i := range o {
		it[i] = Item{Events: In, Data: uint64(i)}
		s.Add(&it[i], uint64(i), &o[i], &ch)
		o[i].Post(In, 0, &ch)
	}
	for i := range 6 { // one event a call: every descriptor in turn
		if got, _ := harvest(&s, 1); got[0] != uint64(i%3) {
			t.Fatalf("call %d told of %d", i, got[0])
		}
	}
}

func TestEachItem(t *testing.T) {
	var s Set
	s.Init()
	var ch Chain
	var o Object
	var w Waiter
	a, b := Item{File: 1}, Item{File: 2}
	s.Add(&a, 1, &o, &ch)
	o.Add(&w, In, false)
	s.Add(&b, 2, &o, &ch)
	it, at := o.EachItem(nil)
	if it != &a {
		t.Fatal("first")
	}
	if it, at = o.EachItem(at); it != &b {
		t.Fatal("second")
	}
	if it, _ = o.EachItem(at); it != nil {
		t.Fatal("third")
	}
}
