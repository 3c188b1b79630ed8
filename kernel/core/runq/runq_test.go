package runq

import "testing"

// machine runs a queue by virtual time, one processor, ticks of 1 ms.
type machine struct {
	q       Queue
	running *Entity
}

func (m *machine) tick() {
	if m.running == nil {
		m.running = m.q.Take()
	}
	m.running.Account(ms)
	if m.q.SliceOver(m.running) {
		m.q.PutBack(m.running)
		m.running = m.q.Take()
	}
}

func TestEqualThreadsShare(t *testing.T) {
	var m machine
	all := make([]Entity, 10)
	for i := range all {
		all[i].Init()
		m.q.Start(&all[i])
	}
	for range 10000 {
		m.tick()
	}
	for i := range all {
		if r := all[i].Runtime; r < 950*ms || r > 1050*ms {
			t.Errorf("thread %d ran %d ms of 10000, want a tenth within 5 %%", i, r/ms)
		}
	}
}

func TestNiceWeighsShare(t *testing.T) {
	var m machine
	var a, b Entity
	a.Init()
	b.SetPolicy(Other, 0, 5)
	m.q.Start(&a)
	m.q.Start(&b)
	for range 20000 {
		m.tick()
	}
	want := 1024.0 / 335
	if got := float64(a.Runtime) / float64(b.Runtime); got < want*.97 || got > want*1.03 {
		t.Errorf("nice 0 against 5: %.2f, want %.2f", got, want)
	}
}

func TestRealTimeOrder(t *testing.T) {
	var q Queue
	var e [5]Entity
	e[0].Init()
	e[1].SetPolicy(FIFO, 10, 0)
	e[2].SetPolicy(RR, 70, 0)
	e[3].SetPolicy(FIFO, 10, 0)
	e[4].SetPolicy(FIFO, 99, 0)
	for i := range e {
		q.Wake(&e[i])
	}
	q.Remove(&e[4])
	for i, want := range []int{2, 1, 3, 0} {
		if got := q.Take(); got != &e[want] {
			t.Fatalf("%d: not thread %d", i, want)
		}
	}
	if q.Take() != nil || q.Len() != 0 {
		t.Error("not empty")
	}
	// A preempted FIFO thread stays at the head, one that yields goes behind.
	q.Put(&e[1])
	q.PutBack(&e[3])
	if q.First() != &e[3] {
		t.Error("PutBack is not at the head")
	}
	q.Take()
	q.Put(&e[3])
	if q.First() != &e[1] {
		t.Error("Put is not at the end")
	}
}

func TestRoundRobinSlice(t *testing.T) {
	var m machine
	var a, b Entity
	a.SetPolicy(RR, 5, 0)
	b.SetPolicy(RR, 5, 0)
	m.q.Put(&a)
	m.q.Put(&b)
	for range 1000 {
		m.tick()
	}
	if a.Runtime != 500*ms || b.Runtime != 500*ms {
		t.Errorf("%d and %d ms", a.Runtime/ms, b.Runtime/ms)
	}
}

func TestPreemption(t *testing.T) {
	var q Queue
	var hog, sleeper, fifo, fifoLow, idle, batch Entity
	hog.Init()
	sleeper.Init()
	fifo.SetPolicy(FIFO, 20, 0)
	fifoLow.SetPolicy(FIFO, 10, 0)
	idle.SetPolicy(Idle, 0, 0)
	batch.SetPolicy(Batch, 0, 0)
	q.Start(&hog)
	q.Take()
	hog.Account(50 * ms)
	q.Put(&hog)
	q.Take()
	q.Wake(&sleeper)
	for _, c := range []struct {
		name       string
		e, running *Entity
		want       bool
	}{
		{"a sleeper beside a hog", &sleeper, &hog, true},
		{"the hog beside a sleeper", &hog, &sleeper, false},
		{"FIFO over fair", &fifo, &hog, true},
		{"fair over FIFO", &sleeper, &fifo, false},
		{"FIFO over lower FIFO", &fifo, &fifoLow, true},
		{"FIFO over equal FIFO", &fifo, &fifo, false},
		{"fair over idle policy", &hog, &idle, true},
		{"batch over fair", &batch, &hog, false},
		{"batch over idle policy", &batch, &idle, true},
		{"anything over nothing", &idle, nil, true},
	} {
		if got := q.Preempts(c.e, c.running); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestSleeperCreditIsBounded(t *testing.T) {
	var m machine
	var hog, sleeper Entity
	hog.Init()
	sleeper.Init()
	m.q.Start(&hog)
	for range 1000 {
		m.tick()
	}
	m.q.Put(m.running)
	m.running = m.q.Take()
	m.q.Wake(&sleeper) // slept for a second
	for range 100 {
		m.tick()
	}
	if sleeper.Runtime > 60*ms {
		t.Errorf("a thread that slept for a second got %d of the next 100 ms", sleeper.Runtime/ms)
	}
}

func TestYieldGoesBehindNext(t *testing.T) {
	var q Queue
	var a, b Entity
	a.Init()
	b.Init()
	q.Start(&a)
	q.Start(&b)
	x := q.Take()
	q.Yield(x)
	q.Put(x)
	if q.First() == x {
		t.Error("still first after Yield")
	}
}

func TestMigrateKeepsLag(t *testing.T) {
	var from, to Queue
	from.min, to.min = 100, 1000
	e := Entity{VRuntime: 150}
	Migrate(&e, &from, &to)
	if e.VRuntime != 1050 {
		t.Errorf("VRuntime %d, want 1050", e.VRuntime)
	}
	e.VRuntime = 10
	Migrate(&e, &to, &from)
	if e.VRuntime != 0 {
		t.Errorf("VRuntime %d, want 0", e.VRuntime)
	}
}
