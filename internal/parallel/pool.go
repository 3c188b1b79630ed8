// Package parallel runs short pieces of work on several processors: a fork-join
// of a few microseconds, hundreds of times a token.
//
// Workers spin for a moment after a job, since the next one follows at once
// while a token is computed, and then park, so that an idle or crowded machine
// loses nothing to them. Each worker has a run of neighbouring pieces, so that it
// reads memory in one stream, and claims them one by one; who has done his own
// goes on with the others': where a worker gets no processor they do its
// share. Whoever waits for a worker that lost its
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

// The fields of share.claims: 20 bits of job number, twice pieceBits.
const (
	pieceBits = 22
	pieceMask = 1<<pieceBits - 1
)

// MaxPieces is the largest number of pieces of a job.
const MaxPieces = pieceMask

// A share is what a worker does of a job. It fills a cache line, which goes from
// Run to the worker and back, and that is all that is exchanged if nobody takes
// another's pieces.
type share struct {
	// claims is the job's number, the end of the worker's pieces and the first of
	// them that is not claimed, in one word so that nobody claims a piece of a job
	// that has ended.
	claims atomic.Uint64
	done   atomic.Uint32 // pieces that the worker has done, whosever they were
	parked atomic.Bool
	job    func(worker, piece int) // written before claims
	_      [40]byte
}

func jobOf(s uint64) uint64 { return s >> (2 * pieceBits) }

func packShare(job uint64, end, next int) uint64 {
	return job<<(2*pieceBits) | uint64(end)<<pieceBits | uint64(next)
}

// A Pool is a fixed set of workers, of which the caller of Run is one.
// Run must not be called concurrently.
type Pool struct {
	size    int
	shares  []share
	waiting atomic.Bool   // Run is parked
	joined  chan struct{} // wakes it
	wake    []chan struct{}
	closing atomic.Bool
	workers sync.WaitGroup
}

// NewPool returns a pool of size workers (at least 1), the caller included.
func NewPool(size int) *Pool {
	size = max(size, 1)
	p := &Pool{size: size, shares: make([]share, size), wake: make([]chan struct{}, size), joined: make(chan struct{}, 1)}
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
	job := jobOf(packShare(jobOf(p.shares[0].claims.Load())+1, 0, 0))
	for w := p.size - 1; w >= 0; w-- {
		s := &p.shares[w]
		first, end := (w*n+p.size-1)/p.size, ((w+1)*n+p.size-1)/p.size
		s.job = f
		s.done.Store(0)
		s.claims.Store(packShare(job, end, first)) // publishes job and done
		if w > 0 && first < end && s.parked.Load() && s.parked.CompareAndSwap(true, false) {
			p.wake[w] <- struct{}{}
		}
	}
	p.claim(0, job)
	p.join(n)
}

// join returns when n pieces are done.
func (p *Pool) join(n int) {
	var since time.Time
	for i := 1; !p.joins(n); i++ {
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
			if !p.joins(n) || !p.waiting.CompareAndSwap(true, false) {
				<-p.joined
			}
		}
	}
}

// joins reports whether n pieces are done.
func (p *Pool) joins(n int) bool {
	for w := range p.shares {
		n -= int(p.shares[w].done.Load())
	}
	return n == 0
}

// claim runs pieces of the job until none is left: the worker's own, then the
// others'.
func (p *Pool) claim(worker int, job uint64) {
	own := &p.shares[worker]
	for i := range p.size {
		s := &p.shares[(worker+i)%p.size]
		for {
			v := s.claims.Load()
			end, next := int(v>>pieceBits&pieceMask), int(v&pieceMask)
			if jobOf(v) != job || next >= end {
				break
			}
			if s.claims.CompareAndSwap(v, v+1) {
				// The job cannot end before this piece does, so own.job is its own.
				own.job(worker, next)
				own.done.Add(1)
				if worker != 0 && p.waiting.Load() && p.waiting.CompareAndSwap(true, false) {
					p.joined <- struct{}{}
				}
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
		if job = jobOf(p.shares[worker].claims.Load()); job != last {
			return job, true
		}
		if p.closing.Load() {
			return 0, false
		}
		switch {
		case i%spins == 0:
			p.shares[worker].parked.Store(true)
			// A job or Close that came before the flag was seen sends no wake-up.
			if jobOf(p.shares[worker].claims.Load()) == last && !p.closing.Load() || !p.shares[worker].parked.CompareAndSwap(true, false) {
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
		if p.shares[w].parked.CompareAndSwap(true, false) {
			p.wake[w] <- struct{}{}
		}
	}
	p.workers.Wait()
}
