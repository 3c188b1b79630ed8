//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/pipes"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"github.com/leveret-os/leveret/kernel/core/slab"
	"golang.org/x/sys/unix"
)

// Pipe is a pipe(2): its buffer, and readiness of the two ends.
type Pipe struct {
	ring              pipes.Ring
	slots             [pipes.DefaultSlots]pipes.Slot
	readEnd, writeEnd ready.Object
	readers, writers  uint32
	spare             uint64 // a page that was emptied, for the next write
}

var pipeSlab slab.Pool[Pipe]

// newPipe makes a pipe and the files of its ends; nil when there is no
// memory.
func newPipe(flags uint32) (r, w *File) {
	p := pipeSlab.Get()
	r, w = newFile(abi.KindPipe, flags&^unix.O_ACCMODE|unix.O_RDONLY), newFile(abi.KindPipe, flags&^unix.O_ACCMODE|unix.O_WRONLY)
	if p == nil || r == nil || w == nil {
		if p != nil {
			pipeSlab.Put(p)
		}
		if r != nil {
			fileSlab.Put(r)
		}
		if w != nil {
			fileSlab.Put(w)
		}
		return nil, nil
	}
	p.ring.Slots = p.slots[:]
	p.readers, p.writers = 1, 1
	p.writeEnd.Bits = ready.Out
	r.pipe, w.pipe = p, p
	r.ready, w.ready = &p.readEnd, &p.writeEnd
	return r, w
}

// closePipe closes one end.
func closePipe(c *CPU, x *File) {
	p := x.pipe
	if x.canRead() {
		p.readers--
		if p.readers == 0 {
			post(c, &p.writeEnd, ready.Err|ready.Out, 0)
		}
	}
	if x.canWrite() { // a FIFO's end can be both
		p.writers--
		if p.writers == 0 {
			post(c, &p.readEnd, ready.Hup, 0)
		}
	}
	if p.readers|p.writers != 0 {
		return
	}
	for s := p.ring.Oldest(); s != nil; s = p.ring.Oldest() {
		page, _ := p.ring.Consume(int(s.Len))
		freePage(ptr(page))
	}
	if p.spare != 0 {
		freePage(ptr(p.spare))
	}
	if len(p.ring.Slots) != pipes.DefaultSlots {
		freePage(unsafe.Pointer(unsafe.SliceData(p.ring.Slots)))
	}
	pipeSlab.Put(p)
}

// takeFromPipe moves up to n bytes to addr; EFAULT when not even the first
// slot could be.
func takeFromPipe(c *CPU, p *Pipe, addr, n uint64) uint64 {
	moved := uint64(0)
	wasFull := p.ring.Full()
	for moved < n {
		s := p.ring.Oldest()
		if s == nil {
			break
		}
		k := min(uint64(s.Len), n-moved)
		if !copyOut(c, addr+moved, ptr(s.Page+uint64(s.Start)), k) {
			if moved == 0 {
				return eFAULT
			}
			break
		}
		moved += k
		if page, done := p.ring.Consume(int(k)); done {
			if p.spare == 0 {
				p.spare = page
			} else {
				freePage(ptr(page))
			}
		}
	}
	if p.ring.Empty() {
		p.readEnd.Bits &^= ready.In
	}
	if wasFull && !p.ring.Full() {
		post(c, &p.writeEnd, ready.Out, 0)
	}
	return moved
}

// readPipe is read(2) of a pipe.
func readPipe(c *CPU, t *Thread, x *File, addr, n uint64) {
	p := x.pipe
	switch {
	case n == 0:
		t.AX = 0
	case !p.ring.Empty():
		t.AX = takeFromPipe(c, p, addr, n)
	case p.writers == 0:
		t.AX = 0
	case x.nonblock():
		t.AX = eAGAIN
	default:
		waitReady(c, t, &p.readEnd, ready.In, 0, eRESTARTSYS)
	}
}

// giveToPipe moves up to n bytes from addr, as far as there is room; EFAULT
// when nothing could be moved, ENOMEM when there is no page for it.
func giveToPipe(c *CPU, p *Pipe, addr, n uint64) uint64 {
	moved := uint64(0)
	if tail := n & (pipes.PageSize - 1); tail != 0 {
		if s, off := p.ring.Merge(int(tail)); s != nil {
			if !copyIn(c, ptr(s.Page+uint64(off)), addr, tail) {
				return eFAULT
			}
			p.ring.Merged(int(tail))
			moved = tail
		}
	}
	for moved < n && !p.ring.Full() {
		page := p.spare
		p.spare = 0
		if page == 0 {
			f := allocPage()
			if f == nil {
				if moved == 0 {
					return eNOMEM
				}
				break
			}
			page = uint64(uintptr(f))
		}
		k := min(uint64(pipes.PageSize), n-moved)
		if !copyIn(c, ptr(page), addr+moved, k) {
			p.spare = page
			if moved == 0 {
				return eFAULT
			}
			break
		}
		p.ring.Push(page, int(k))
		moved += k
	}
	if p.ring.Full() {
		p.writeEnd.Bits &^= ready.Out
	}
	if moved != 0 {
		post(c, &p.readEnd, ready.In, 0)
	}
	return moved
}

// writePipe is write(2) to a pipe. A write that must wait has t.progress
// bytes behind it.
func writePipe(c *CPU, t *Thread, x *File, addr, n uint64) {
	p := x.pipe
	done := uint64(0)
	if t.retry {
		done = t.progress
	}
	if p.readers == 0 {
		t.AX = ePIPE
		if done != 0 {
			t.AX = done
			return
		}
		sendAsUser(c, t, t.process, t, uint64(unix.SIGPIPE), siUser)
		return
	}
	if n == 0 {
		t.AX = 0
		return
	}
	r := giveToPipe(c, p, addr+done, n-done)
	if failed(r) {
		t.AX = r
		if done != 0 {
			t.AX = done
		}
		return
	}
	done += r
	if done == n || x.nonblock() {
		t.AX = done
		if done == 0 {
			t.AX = eAGAIN
		}
		return
	}
	if !p.ring.Full() { // a bad address behind the first bytes
		t.AX = done
		return
	}
	t.progress = done
	interrupted := eRESTARTSYS
	if done != 0 {
		interrupted = done
	}
	waitReady(c, t, &p.writeEnd, ready.Out, 0, interrupted)
}

// controlPipe is fcntl(2) and ioctl(2) of a pipe.
func controlPipe(p *Pipe, command, arg uint64) uint64 {
	switch command {
	case unix.TIOCINQ:
		return uint64(p.ring.Bytes())
	case unix.F_GETPIPE_SZ:
		return uint64(len(p.ring.Slots)) * pageSize
	case unix.F_SETPIPE_SZ:
		n := pipes.Capacity(arg)
		if n == 0 {
			return ePERM
		}
		if n == len(p.ring.Slots) {
			return uint64(n) * pageSize
		}
		slots := p.slots[:]
		var page unsafe.Pointer
		if n != pipes.DefaultSlots {
			if page = allocPage(); page == nil {
				return eNOMEM
			}
			slots = unsafe.Slice((*pipes.Slot)(page), n)
		}
		old, ok := p.ring.Resize(slots)
		if !ok {
			if page != nil {
				freePage(page)
			}
			return eBUSY
		}
		if unsafe.SliceData(old) != &p.slots[0] {
			freePage(unsafe.Pointer(unsafe.SliceData(old)))
		}
		if p.ring.Full() {
			p.writeEnd.Bits &^= ready.Out
		} else {
			p.writeEnd.Bits |= ready.Out
		}
		return uint64(n) * pageSize
	}
	return eINVAL
}

// sysPipe2: pipe2(2).
func sysPipe2(c *CPU, t *Thread) {
	if !t.ring0() {
		forward(c, t)
		return
	}
	r, w := newPipe(uint32(t.SI))
	if r == nil {
		t.AX = eNOMEM
		return
	}
	fd, ok := t.process.files.add(c, r)
	fd2, ok2 := t.process.files.add(c, w)
	if !ok || !ok2 || !write32(c, t.DI, uint32(fd)) || !write32(c, t.DI+4, uint32(fd2)) {
		t.AX = eMFILE
		return
	}
	t.AX = 0
}
