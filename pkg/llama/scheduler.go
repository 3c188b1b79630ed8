package llama

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// gatherTime is how long a batch waits for the sessions that were in the batch
// before: long enough for each to sample its token, short against a pass.
const gatherTime = 300 * time.Microsecond

// A pass is what one session wants computed next.
type pass struct {
	ctx    context.Context
	rows   []row
	shared int // passes that were computed together, once err is set
	err    error
	done   chan struct{} // holds one value when err is set
}

// A scheduler makes one forward pass of what several sessions want at the same
// time: continuous batching, as in Yu et al., "Orca". There is no goroutine of
// its own: whoever takes the turn computes for all that wait.
type scheduler struct {
	// turn holds one value: who has taken it runs the engine.
	turn   chan struct{}
	engine *engine // nil after close

	mu      sync.Mutex
	waiting []*pass // in the order of their coming

	// Of the one who has the turn.
	taken []*pass
	rows  []row
	last  int // passes in the batch before

	observe func(passes int) // of each batch; for tests
}

func newScheduler(e *engine) *scheduler {
	s := &scheduler{turn: make(chan struct{}, 1), engine: e, rows: make([]row, 0, maxRows)}
	s.turn <- struct{}{}
	return s
}

// acquire waits for the turn and returns the engine; release gives it back.
func (s *scheduler) acquire() (*engine, error) {
	<-s.turn
	if s.engine == nil {
		s.release()
		return nil, ErrClosed
	}
	return s.engine, nil
}

func (s *scheduler) release() { s.turn <- struct{}{} }

// close makes every pass from now on fail with ErrClosed and reports whether it
// was the first to do so. It waits for the pass that is running.
func (s *scheduler) close() bool {
	<-s.turn
	defer s.release()
	if s.engine == nil {
		return false
	}
	s.engine.close()
	s.engine = nil
	return true
}

// compute runs a pass, together with those of other sessions that wait.
func (s *scheduler) compute(p *pass) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	s.waiting = append(s.waiting, p)
	s.mu.Unlock()
	select {
	case <-p.done:
		return p.err
	case <-p.ctx.Done():
		if s.withdraw(p) {
			return p.ctx.Err()
		}
		<-p.done // it is being computed
		return p.err
	case <-s.turn:
	}
	defer s.release()
	// Whoever had the turn before has either computed the pass or left it.
	for {
		select {
		case <-p.done:
			return p.err
		default:
		}
		if s.engine == nil {
			s.withdraw(p)
			return ErrClosed
		}
		s.batch()
	}
}

// withdraw takes a pass that nobody computes yet out of the queue.
func (s *scheduler) withdraw(p *pass) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, q := range s.waiting {
		if q == p {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// batch computes passes from the head of the queue, as many as fit.
func (s *scheduler) batch() {
	s.gather()
	s.take()
	s.last = len(s.taken)
	if s.observe != nil {
		s.observe(s.last)
	}
	s.rows = s.rows[:0]
	ctx := context.Background()
	if len(s.taken) == 1 {
		ctx = s.taken[0].ctx // may end between layers
	}
	for _, p := range s.taken {
		s.rows = append(s.rows, p.rows...)
	}
	err := s.engine.forward(ctx, s.rows)
	clear(s.rows) // a session that is dropped is not held by an old row
	for i, p := range s.taken {
		p.err, p.shared = err, s.last
		p.done <- struct{}{}
		s.taken[i] = nil
	}
}

// gather waits a moment for sessions that were computed together before and are
// about to come back.
func (s *scheduler) gather() {
	if s.last < 2 {
		return
	}
	for begin := time.Now(); time.Since(begin) < gatherTime; runtime.Gosched() {
		s.mu.Lock()
		n := len(s.waiting)
		s.mu.Unlock()
		if n >= s.last {
			return
		}
	}
}

// take moves the first passes that fit in one forward pass from the queue.
func (s *scheduler) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, rows := 0, 0
	for n < len(s.waiting) && (n == 0 || rows+len(s.waiting[n].rows) <= maxRows) {
		rows += len(s.waiting[n].rows)
		n++
	}
	s.taken = append(s.taken[:0], s.waiting[:n]...)
	s.waiting = append(s.waiting[:0], s.waiting[n:]...)
}
