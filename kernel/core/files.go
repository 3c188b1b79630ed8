//go:build amd64

package main

import (
	"math/bits"
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"github.com/leveret-os/leveret/kernel/core/slab"
	"golang.org/x/sys/unix"
)

// File is what core keeps of an open file description: the head, which
// services see, and what the kind needs.
type File struct {
	abi.FileHead

	ready *ready.Object // what poll and epoll look at, nil: always ready
	own   ready.Object  // of an eventfd or timerfd
	pipe  *Pipe
	count uint64 // of an eventfd; expirations of a timerfd
	timer Timer  // of a timerfd
	every uint64
	clock int32
	set   ready.Set // of an epoll instance
}

// kindConsole is the kind of services' own descriptors 0 to 2.
const kindConsole = 100

var fileSlab slab.Pool[File]

// Files is a table of descriptors: a page of pages of files.
type Files struct {
	references uint64
	highest    uint64 // descriptor ever
	pages      [510]*filePage
}

type filePage [512]*File

const (
	_ = uint(pageSize - unsafe.Sizeof(Files{}))

	maxFD = 510 * 512
)

func newFiles() *Files {
	f := (*Files)(allocPage())
	if f != nil {
		f.references = 1
	}
	return f
}

// capacity is how many descriptors a table of Linux would have room for, which
// select(2) lets programs see: 64, then powers of two from 128 on.
func (f *Files) capacity() uint64 {
	if f.highest < 64 {
		return 64
	}
	return 128 << bits.Len64(f.highest/128)
}

// get is the file of a descriptor, nil when there is none.
func (f *Files) get(fd uint64) *File {
	if fd < maxFD {
		if p := f.pages[fd>>9]; p != nil {
			return p[fd&511]
		}
	}
	return nil
}

// file is get for the current thread's system call, whose descriptors are
// ints.
func (t *Thread) file(fd uint64) *File { return t.process.files.get(uint64(uint32(fd))) }

// install makes fd name f; false when there is no memory for it.
func (f *Files) install(c *CPU, fd uint64, x *File) bool {
	if fd >= maxFD {
		return false
	}
	p := f.pages[fd>>9]
	if p == nil {
		if p = (*filePage)(allocPage()); p == nil {
			return false
		}
		f.pages[fd>>9] = p
	}
	f.highest = max(f.highest, fd)
	old := p[fd&511]
	x.References++
	p[fd&511] = x
	if old != nil {
		releaseFile(c, old)
	}
	return true
}

// remove takes fd out; false when it names nothing.
func (f *Files) remove(c *CPU, fd uint64) bool {
	x := f.get(fd)
	if x == nil {
		return false
	}
	f.pages[fd>>9][fd&511] = nil
	releaseFile(c, x)
	return true
}

// add gives x the lowest free descriptor; false when there is none. Only
// services' own runtime uses it: programs' numbers are given by services.
func (f *Files) add(c *CPU, x *File) (uint64, bool) {
	for fd := uint64(0); fd < 512; fd++ {
		if f.get(fd) == nil {
			return fd, f.install(c, fd, x)
		}
	}
	return 0, false
}

// releaseFiles drops a table and all that is in it.
func releaseFiles(c *CPU, f *Files) {
	f.references--
	if f.references != 0 {
		return
	}
	for i := range f.pages {
		p := f.pages[i]
		if p == nil {
			continue
		}
		for j := range p {
			if p[j] != nil {
				releaseFile(c, p[j])
			}
		}
		freePage(unsafe.Pointer(p))
	}
	freePage(unsafe.Pointer(f))
}

// newFile makes a file with no reference; nil when there is no memory.
func newFile(kind, flags uint32) *File {
	x := fileSlab.Get()
	if x != nil {
		x.Kind, x.Flags = kind, flags
	}
	return x
}

// releaseFile drops a reference to x, and closes it with the last one.
func releaseFile(c *CPU, x *File) {
	x.References--
	if x.References != 0 {
		return
	}
	if x.ready != nil {
		forgetItems(x)
	}
	switch x.Kind {
	case abi.KindPipe:
		closePipe(c, x)
	case abi.KindTimerfd:
		delTimer(&x.timer)
	case abi.KindEpoll:
		for it := x.set.First(); it != nil; it = x.set.First() {
			x.set.Delete(it)
			epollItems.Put(it)
		}
	}
	fileSlab.Put(x)
}

// forgetItems takes x out of all epoll sets.
func forgetItems(x *File) {
	it, at := x.ready.EachItem(nil)
	for it != nil {
		next, nextAt := x.ready.EachItem(at)
		if it.File == uintptr(unsafe.Pointer(x)) {
			it.Set().Delete(it)
			epollItems.Put(it)
		}
		it, at = next, nextAt
	}
}

// canRead and canWrite look at how x was opened.
func (x *File) canRead() bool {
	return x.Flags&unix.O_ACCMODE != unix.O_WRONLY && x.Kind != abi.KindPath
}
func (x *File) canWrite() bool {
	return x.Flags&unix.O_ACCMODE != unix.O_RDONLY && x.Kind != abi.KindPath
}

func (x *File) nonblock() bool { return x.Flags&unix.O_NONBLOCK != 0 }

// maxRW is the most bytes that one read or write moves (read(2)).
const maxRW = 0x7ffff000

// sysRead: read(2).
func sysRead(c *CPU, t *Thread) {
	x := t.file(t.DI)
	if x == nil {
		forwardFile(c, t, x)
		return
	}
	if !x.canRead() {
		t.AX = eBADF
		return
	}
	n := t.DX
	if badRange(t, t.SI, n) {
		t.AX = eFAULT
		return
	}
	n = min(n, maxRW)
	switch x.Kind {
	case abi.KindObject:
		if x.NoFast == 0 && readFast(c, t, x, uint64(x.Offset), n, true) {
			return
		}
		forward(c, t)
	case abi.KindPipe:
		readPipe(c, t, x, t.SI, n)
	case abi.KindEventfd:
		readEventfd(c, t, x, t.SI, n)
	case abi.KindTimerfd:
		readTimerfd(c, t, x, t.SI, n)
	case abi.KindEpoll:
		t.AX = eINVAL
	case kindConsole:
		t.AX = 0
	default:
		forward(c, t)
	}
}

// sysWrite: write(2).
func sysWrite(c *CPU, t *Thread) {
	x := t.file(t.DI)
	if x == nil {
		forwardFile(c, t, x)
		return
	}
	if !x.canWrite() {
		t.AX = eBADF
		return
	}
	n := t.DX
	if badRange(t, t.SI, n) {
		t.AX = eFAULT
		return
	}
	n = min(n, maxRW)
	switch x.Kind {
	case abi.KindObject:
		if x.NoFast == 0 && x.Flags&(unix.O_APPEND|unix.O_SYNC|unix.O_DIRECT) == 0 && writeFast(c, t, x, uint64(x.Offset), n, true) {
			return
		}
		forward(c, t)
	case abi.KindPipe:
		writePipe(c, t, x, t.SI, n)
	case abi.KindEventfd:
		writeEventfd(c, t, x, t.SI, n)
	case abi.KindTimerfd, abi.KindEpoll:
		t.AX = eINVAL
	case kindConsole:
		writeConsole(c, t, t.SI, n)
	default:
		forward(c, t)
	}
}

// badRange tells whether [addr, addr+n) leaves user space.
func badRange(t *Thread, addr, n uint64) bool {
	return !t.ring0() && (addr > userTop || n > userTop-addr)
}

// writeConsole prints what services' own runtime writes to 1 and 2.
func writeConsole(c *CPU, t *Thread, addr, n uint64) {
	for i := range n {
		var b byte
		if !copyIn(c, unsafe.Pointer(&b), addr+i, 1) {
			t.AX = eFAULT
			return
		}
		if b == '\n' {
			putc('\r')
		}
		putc(b)
	}
	t.AX = n
}

// sysPread64: pread64(2).
func sysPread64(c *CPU, t *Thread) {
	x := t.file(t.DI)
	if x == nil || x.Kind != abi.KindObject || x.NoFast != 0 || !x.canRead() || int64(t.R10) < 0 || int64(t.DX) < 0 || badRange(t, t.SI, t.DX) ||
		!readFast(c, t, x, t.R10, min(t.DX, maxRW), false) {
		forwardFile(c, t, x)
	}
}

// sysPwrite64: pwrite64(2).
func sysPwrite64(c *CPU, t *Thread) {
	x := t.file(t.DI)
	if x == nil || x.Kind != abi.KindObject || x.NoFast != 0 || !x.canWrite() || int64(t.R10) < 0 || int64(t.DX) < 0 || badRange(t, t.SI, t.DX) ||
		x.Flags&(unix.O_APPEND|unix.O_SYNC|unix.O_DIRECT) != 0 || !writeFast(c, t, x, t.R10, min(t.DX, maxRW), false) {
		forwardFile(c, t, x)
	}
}

// forwardFile forwards a call on x, which may be nil: services say what they
// think of it.
func forwardFile(c *CPU, t *Thread, x *File) {
	if t.ring0() {
		t.AX = eBADF
		return
	}
	forward(c, t)
}

// sysLseek: lseek(2). Only SEEK_SET and SEEK_CUR on a memory object are
// served here.
func sysLseek(c *CPU, t *Thread) {
	x := t.file(t.DI)
	if x == nil {
		forwardFile(c, t, x)
		return
	}
	switch x.Kind {
	case abi.KindPipe:
		t.AX = eSPIPE
		return
	case abi.KindObject:
		off, ok := int64(t.SI), false
		switch uint32(t.DX) {
		case unix.SEEK_SET:
			ok = true
		case unix.SEEK_CUR:
			off, ok = off+x.Offset, off < 1<<62 && off > -1<<62
		}
		if ok && x.NoFast == 0 {
			if off < 0 {
				t.AX = eINVAL
				return
			}
			x.Offset = off
			t.AX = uint64(off)
			return
		}
	}
	forward(c, t)
}

// stat is struct stat of x86_64.
type stat struct {
	dev, ino, nlink       uint64
	mode, uid, gid, pad   uint32
	rdev                  uint64
	size, blksize, blocks uint64
	times                 [6]uint64
	unused                [3]uint64
}

var statScratch stat

// sysFstat: fstat(2).
func sysFstat(c *CPU, t *Thread) {
	x := t.file(t.DI)
	if x == nil || x.Kind != abi.KindObject || x.Object == 0 {
		forwardFile(c, t, x)
		return
	}
	o := (*abi.ObjectHead)(ptr(x.Object))
	s := &statScratch
	s.dev, s.ino, s.nlink = o.Dev, o.Ino, o.Nlink
	s.mode, s.uid, s.gid = o.Mode, o.UID, o.GID
	s.size, s.blksize, s.blocks = o.Size, pageSize, o.Pages*8
	split(&s.times[0], &s.times[1], o.Atime)
	split(&s.times[2], &s.times[3], o.Mtime)
	split(&s.times[4], &s.times[5], o.Ctime)
	t.AX = 0
	if !copyOut(c, t.SI, unsafe.Pointer(s), 144) {
		t.AX = eFAULT
	}
}

func split(sec, nsec *uint64, ns int64) {
	*sec = uint64(ns) / second
	*nsec = uint64(ns) % second
}

// sysClose: close(2). Services' own runtime closes in core, programs in
// services, who take the descriptor out by a hypercall.
func sysClose(c *CPU, t *Thread) {
	if !t.ring0() {
		forward(c, t)
		return
	}
	t.AX = 0
	if !t.process.files.remove(c, uint64(uint32(t.DI))) {
		t.AX = eBADF
	}
}

// sysFcntl: fcntl(2).
func sysFcntl(c *CPU, t *Thread) {
	if !t.ring0() {
		forward(c, t)
		return
	}
	x := t.file(t.DI)
	if x == nil {
		t.AX = eBADF
		return
	}
	switch t.SI {
	case unix.F_GETFL:
		t.AX = uint64(x.Flags)
	case unix.F_SETFL:
		x.Flags = x.Flags&^unix.O_NONBLOCK | uint32(t.DX)&unix.O_NONBLOCK
		t.AX = 0
	case unix.F_GETFD, unix.F_SETFD:
		t.AX = 0
	default:
		t.AX = eINVAL
	}
}

// ownFile answers a call by services' own runtime that made a file.
func ownFile(c *CPU, t *Thread, x *File) {
	if x == nil {
		t.AX = eNOMEM
		return
	}
	fd, ok := t.process.files.add(c, x)
	if !ok {
		t.AX = eMFILE
		return
	}
	t.AX = fd
}

// initFiles gives services' own runtime its descriptors 0 to 2.
func initFiles(c *CPU, f *Files) {
	x := newFile(kindConsole, unix.O_RDWR)
	for fd := range uint64(3) {
		f.install(c, fd, x)
	}
}

// sysIoctl: ioctl(2). FIONREAD of a pipe is answered here.
func sysIoctl(c *CPU, t *Thread) {
	x := t.file(t.DI)
	if x == nil || x.Kind != abi.KindPipe || uint32(t.SI) != unix.TIOCINQ {
		forwardFile(c, t, x)
		return
	}
	t.AX = 0
	if !write32(c, t.DX, uint32(x.pipe.ring.Bytes())) {
		t.AX = eFAULT
	}
}
