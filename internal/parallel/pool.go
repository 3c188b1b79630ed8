// Package parallel runs short pieces of work on several processors: a fork-join
// of a few microseconds, hundreds of times a token.
//
// Workers spin for a moment after a job, since the next one follows at once
// while a token is computed, and then park, so that an idle or crowded machine
// loses nothing to them. Pieces are claimed one by one: where a worker gets no
// processor the others do its share. Whoever waits for a worker that lost its
// processor in the middle of a piece parks too, and so leaves it its own.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// spins is how often a waiting worker looks for a job before it parks, and
// yields how often in between it lets other goroutines run.
const (
	spins  = 1 << 14
	yields = 1 << 10
)

// patience is how long Run waits for the last pieces before it parks: longer than
// a piece takes, shorter than another program keeps a processor.
const patience = 200 * time.Microsecond

// The fields of Pool.state: 20 bits of job number, twice pieceBits.
const (
	pieceBits = 22
	pieceMask = 1<<pieceBits - 1
)

// MaxPieces is the largest number of pieces of a job.
const MaxPieces = pieceMask

func jobOf(state uint64) uint64 { return state >> (2 * pieceBits) }

// A Pool is a fixed set of workers, of which the caller of Run is one.
// Run must not be called concurrently.
type Pool struct {
	size int
	job  func(worker, piece int)
	// state is the job's number, its count of pieces and the next piece to
	// claim, in one word so that nobody claims a piece of a job that has ended.
	state   atomic.Uint64
	done    atomic.Uint32
	waiting atomic.Bool   // Run is parked
	joined  chan struct{} // wakes it
	parked  []atomic.Bool
	wake    []chan struct{}
	closing atomic.Bool
	workers sync.WaitGroup
}

// NewPool returns a pool of size workers (at least 1), the caller included.
func NewPool(size int) *Pool {
	size = max(size, 1)
	p := &Pool{size: size, parked: make([]atomic.Bool, size), wake: make([]chan struct{}, size), joined: make(chan struct{}, 1)}
	for w := 1; w < size; w++ {
		p.wake[w] = make(chan struct{}, 1)
		p.workers.Add(1)
		go p.work(w)
	}
	return p
}

// Size returns the number of workers.
func (p *Pool) Size() int { return p.size }

// Run calls f(worker, piece) once for every piece from 0 to n−1 and returns
// when all calls have returned. worker (0 … Size−1) is unique among the calls
// that run at the same time. Run allocates nothing; neither does a caller that
// passes the same func value each time. n is at most MaxPieces.
func (p *Pool) Run(n int, f func(worker, piece int)) {
	if p.size == 1 || n <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	if n > MaxPieces {
		panic("parallel: too many pieces")
	}
	p.job = f
	p.done.Store(0)
	job := jobOf(p.state.Load()) + 1
	p.state.Store(job<<(2*pieceBits) | uint64(n)<<pieceBits) // publishes job and done
	job = jobOf(p.state.Load())
	for w := 1; w < min(p.size, n); w++ {
		if p.parked[w].Load() && p.parked[w].CompareAndSwap(true, false) {
			p.wake[w] <- struct{}{}
		}
	}
	p.claim(0, job)
	p.join(uint32(n))
}

// join returns when n pieces are done.
func (p *Pool) join(n uint32) {
	var since time.Time
	for i := 1; p.done.Load() != n; i++ {
		if i%yields != 0 {
			continue
		}
		runtime.Gosched()
		switch {
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > patience:
			p.waiting.Store(true)
			// The last piece may have ended before the flag was seen.
			if p.done.Load() != n || !p.waiting.CompareAndSwap(true, false) {
				<-p.joined
			}
		}
	}
}

// claim runs pieces of the job until none is left.
func (p *Pool) claim(worker int, job uint64) {
	for {
		s := p.state.Load()
		next := s & pieceMask
		if jobOf(s) != job || next >= s>>pieceBits&pieceMask {
			return
		}
		if p.state.CompareAndSwap(s, s+1) {
			// The job cannot end before this piece does, so p.job is its own.
			p.job(worker, int(next))
			n := uint32(s >> pieceBits & pieceMask)
			if p.done.Add(1) == n && worker != 0 && p.waiting.CompareAndSwap(true, false) {
				p.joined <- struct{}{}
			}
		}
	}
}

func (p *Pool) work(worker int) {
	defer p.workers.Done()
	var last uint64
	for {
		job, ok := p.await(worker, last)
		if !ok {
			return
		}
		p.claim(worker, job)
		last = job
	}
}

// await waits for a job after the last one, first spinning, then parked.
func (p *Pool) await(worker int, last uint64) (job uint64, ok bool) {
	for i := 1; ; i++ {
		if job = jobOf(p.state.Load()); job != last {
			return job, true
		}
		if p.closing.Load() {
			return 0, false
		}
		switch {
		case i%spins == 0:
			p.parked[worker].Store(true)
			// A job or Close that came before the flag was seen sends no wake-up.
			if jobOf(p.state.Load()) == last && !p.closing.Load() || !p.parked[worker].CompareAndSwap(true, false) {
				<-p.wake[worker]
			}
		case i%yields == 0:
			runtime.Gosched()
		}
	}
}

// Close ends the workers. The pool must not be used afterwards.
func (p *Pool) Close() {
	p.closing.Store(true)
	for w := 1; w < p.size; w++ {
		if p.parked[w].CompareAndSwap(true, false) {
			p.wake[w] <- struct{}{}
		}
	}
	p.workers.Wait()
}
