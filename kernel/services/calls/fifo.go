package calls

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// A FIFO is a pipe with a name (fifo(7)): its ends are files of core on one
// pipe, which is there while any is open.
//
// An open that has to wait for the other side comes back every renew ns, and
// counts as an end that is there for a good while longer (on a busy machine): so a call
// that a signal ended meanwhile is forgotten by itself. Who arrives moves
// arrivals on, by which a waiting open sees that its other side was there,
// even if it is gone again.
type fifo struct {
	mu       sync.Mutex
	open     [2]int    // ends, by side
	until    [2]int64  // opens wait, by side: monotonic ns
	arrivals [2]uint64 // opens, by side
	promise  [2]Object // ends made for opens that wait
	promises uint64    // how many were made
	end      *vfs.File // any end that is open
	ends     map[*vfs.File]bool
}

const (
	readSide = iota
	writeSide
	// An open that waits looks again every renew ns, and counts for linger.
	renew  = 40_000_000
	linger = 50 * renew
)

// openFIFO gives a file of a FIFO its pipe. wait: the other side is not there
// yet, and the file was given up.
func (c *Call) openFIFO(f *vfs.File) (wait bool, e Errno) {
	v, _ := c.K.fifos.LoadOrStore(f.Inode, &fifo{ends: map[*vfs.File]bool{}})
	p := v.(*fifo)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := c.K.Machine.Monotonic()
	here := [2]bool{f.Readable(), f.Writable()}
	there := func(side int) bool { return p.open[side] > 0 || p.until[side] > now }
	switch {
	case here[readSide] && here[writeSide], here[readSide] && f.Nonblocking():
	case here[writeSide] && f.Nonblocking():
		if !there(readSide) {
			return false, unix.ENXIO
		}
	default:
		side := readSide
		if here[writeSide] {
			side = writeSide
		}
		other := 1 - side
		if c.State[0] == 0 { // the first try
			c.State[0], c.State[1] = 1, p.arrivals[other]
			p.arrivals[side]++
			c.K.unlocked() // who waits there looks again
		}
		if p.promise[side].Handle == 0 && !there(other) && p.arrivals[other] == c.State[1] {
			p.until[side] = now + linger
			return true, 0
		}
	}
	return false, c.attachFIFO(p, f, here, now)
}

// attachFIFO makes an end on the FIFO's pipe, or the pipe with it.
func (c *Call) attachFIFO(p *fifo, f *vfs.File, here [2]bool, now int64) Errno {
	flags := f.Flags()
	side := readSide
	if here[writeSide] {
		side = writeSide
	}
	both := here[readSide] && here[writeSide]
	var o Object
	var e Errno
	switch {
	case !both && p.promise[side].Handle != 0:
		o, p.promise[side] = p.promise[side], Object{}
	case p.end != nil:
		o, e = c.K.Machine.PipeEnd(p.end.Handle, flags)
	default:
		o, e = c.newPipe(p, side, both, flags, now)
	}
	if e != 0 {
		return e
	}
	f.Ops = c.K.core
	f.Attach(o.Head, o.Handle)
	f.Detach = c.K.leaveFIFO
	for side, on := range here {
		if on {
			p.open[side]++
			p.arrivals[side]++
			p.until[side] = 0
		}
	}
	p.end = f
	p.ends[f] = true
	c.K.unlocked()
	return 0
}

// newPipe makes the FIFO's pipe and returns the end for one side. The other
// side's end is kept for an open that waits, so that what the first end does
// before that open goes on is no end of file and no broken pipe.
func (c *Call) newPipe(p *fifo, side int, both bool, flags uint32, now int64) (Object, Errno) {
	m := c.K.Machine
	r, w, e := m.Pipe(flags & unix.O_NONBLOCK)
	if e != 0 {
		return r, e
	}
	ends := [2]Object{readSide: r, writeSide: w}
	o, other := ends[side], 1-side
	if both {
		o, e = m.PipeEnd(o.Handle, flags)
		m.Release(ends[side].Handle)
	}
	if both || p.until[other] <= now {
		m.Release(ends[other].Handle)
		return o, e
	}
	p.promise[other] = ends[other]
	p.promises++
	n := p.promises
	time.AfterFunc(2*linger, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.promises == n && p.promise[other].Handle != 0 {
			m.Release(p.promise[other].Handle)
			p.promise[other] = Object{}
		}
	})
	return o, e
}

// detachFIFO is the Detach of a FIFO's ends.
func (k *Kernel) detachFIFO(f *vfs.File) {
	if v, ok := k.fifos.Load(f.Inode); ok {
		p := v.(*fifo)
		p.mu.Lock()
		delete(p.ends, f)
		if f.Readable() {
			p.open[readSide]--
		}
		if f.Writable() {
			p.open[writeSide]--
		}
		p.end = nil
		for other := range p.ends {
			p.end = other
			break
		}
		if p.end == nil && p.until[readSide]|p.until[writeSide] == 0 {
			k.fifos.Delete(f.Inode)
		}
		// The pipe's end goes while the lock is held: an open that comes now
		// must not take it for the one to begin from.
		k.detach(f)
		p.mu.Unlock()
		return
	}
	k.detach(f)
}
