package vfs

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/usermem"
)

// Ops serves an open file whose bytes vfs does not keep itself. The offset is
// -1 for a file without positions (a terminal, a pipe).
type Ops interface {
	Read(f *File, v *usermem.Vector, off int64) (int64, Errno)
	Write(f *File, v *usermem.Vector, off int64) (int64, Errno)
}

// Further methods that Ops may have.
type (
	// A Stream has no positions: lseek and pread are ESPIPE.
	Stream interface{ IsStream() }
	// A Pollable blocks: Read or Write return EAGAIN, and a call that may
	// wait does so until the readiness object has the bits. A handle of 0 is
	// always ready.
	Pollable interface {
		Ready(f *File, write bool) (handle uint64, bits uint32)
	}
	// A Controller serves ioctl(2). It returns a value, or ENOTTY.
	Controller interface {
		Control(c *Caller, f *File, m usermem.Memory, request uint32, arg uint64) (int64, Errno)
	}
	// A Closer learns that the open file is gone.
	Closer interface{ CloseFile(f *File) }
	// A Seekable finds positions its own way.
	Seekable interface {
		SeekFile(f *File, off int64, whence int) (int64, Errno)
	}
)

// A File is an open file description: what descriptors refer to.
type File struct {
	NS    *Namespace
	Entry *Entry
	Inode *Inode
	Ops   Ops // nil: the inode's object, or a directory
	Owner *Caller

	// Kernel is core's half: its head, and the handle that descriptors are
	// installed with. Head is never nil.
	Head   *abi.FileHead
	Handle uint64
	// Detach is called when the file closes, to release Handle.
	Detach func(*File)

	// Private is Ops' own.
	Private any

	refs  atomic.Int32
	mu    sync.Mutex // held while the position is used
	flags atomic.Uint32
	// OwnerPID and Signal are what F_SETOWN and F_SETSIG keep.
	OwnerPID atomic.Int32
	Signal   atomic.Int32
}

// statusFlags are those that fcntl(F_SETFL) changes.
const statusFlags = unix.O_APPEND | unix.O_NONBLOCK | unix.O_ASYNC | unix.O_DIRECT | unix.O_NOATIME

// newFile opens an inode with one reference.
func newFile(ns *Namespace, c *Caller, e *Entry, flags uint32) (*File, Errno) {
	i := e.inode
	if !i.Acquire() {
		return nil, unix.ENOENT
	}
	f := &File{NS: ns, Entry: e, Inode: i, Head: new(abi.FileHead)}
	f.refs.Store(1)
	keep := flags &^ uint32(unix.O_CREAT|unix.O_EXCL|unix.O_NOCTTY|unix.O_TRUNC|unix.O_CLOEXEC)
	if flags&unix.O_PATH == 0 {
		keep |= 0x8000 // O_LARGEFILE, as fcntl(F_GETFL) shows it
	}
	f.flags.Store(keep)
	f.Head.Flags = keep
	if flags&unix.O_PATH != 0 {
		f.Head.Kind = abi.KindPath
		return f, 0
	}
	o, ok := i.Node.(Opener)
	if t := i.Type(); !ok && ns.Devices != nil && (t == unix.S_IFCHR || t == unix.S_IFBLK) {
		var errno Errno
		if o, errno = ns.Devices.Find(i.Mode(), i.Rdev); errno != 0 {
			i.Release()
			return nil, errno
		}
		ok = true
	}
	if ok {
		ops, errno := o.OpenNode(c, i, keep)
		if errno != 0 {
			i.Release()
			return nil, errno
		}
		f.Ops = ops
		return f, 0
	}
	switch i.Type() {
	case unix.S_IFREG:
		if i.Data != nil {
			f.Head.Kind = abi.KindObject
			f.Head.Object = i.Data.Handle()
			return f, 0
		}
	case unix.S_IFDIR, unix.S_IFIFO: // a FIFO's Ops come from who opens it
		return f, 0
	}
	i.Release()
	return nil, unix.ENXIO
}

// NewFile opens an entry with Ops of its own: a pipe's end, a memfd.
func NewFile(ns *Namespace, e *Entry, flags uint32, ops Ops) *File {
	f := &File{NS: ns, Entry: e, Inode: e.inode, Ops: ops, Head: new(abi.FileHead)}
	e.inode.Acquire()
	f.refs.Store(1)
	f.flags.Store(flags)
	f.Head.Flags = flags
	if ops == nil && e.inode.Data != nil {
		f.Head.Kind = abi.KindObject
		f.Head.Object = e.inode.Data.Handle()
	}
	return f
}

// Attach gives the file the head that core keeps.
func (f *File) Attach(h *abi.FileHead, handle uint64) {
	h.Flags = f.flags.Load()
	f.Head, f.Handle = h, handle
}

// Retain adds a reference.
func (f *File) Retain() *File {
	f.refs.Add(1)
	return f
}

// Close drops a reference; the last closes the file.
func (f *File) Close() {
	if f.refs.Add(-1) != 0 {
		return
	}
	if f.Inode.locks.dropFile(f) && f.NS.Unlocked != nil {
		f.NS.Unlocked()
	}
	if c, ok := f.Ops.(Closer); ok {
		c.CloseFile(f)
	}
	if f.Detach != nil {
		f.Detach(f)
	}
	f.Inode.Release()
}

// Flags are open(2)'s, as fcntl(F_GETFL) shows them.
func (f *File) Flags() uint32 { return f.flags.Load() }

// SetFlags changes the status flags.
func (f *File) SetFlags(flags uint32) {
	for {
		old := f.flags.Load()
		now := old&^uint32(statusFlags) | flags&statusFlags
		if f.flags.CompareAndSwap(old, now) {
			atomic.StoreUint32(&f.Head.Flags, now)
			return
		}
	}
}

// IsPath reports whether the file was opened with O_PATH.
func (f *File) IsPath() bool { return f.Flags()&unix.O_PATH != 0 }

// Readable and Writable report the access mode.
func (f *File) Readable() bool {
	return f.Flags()&unix.O_PATH == 0 && (f.Flags()+1)&1 != 0
}

// Writable is Readable's counterpart.
func (f *File) Writable() bool {
	return f.Flags()&unix.O_PATH == 0 && (f.Flags()+1)&2 != 0
}

// Nonblocking reports O_NONBLOCK.
func (f *File) Nonblocking() bool { return f.Flags()&unix.O_NONBLOCK != 0 }

// IsStream reports that the file has no positions.
func (f *File) IsStream() bool {
	_, ok := f.Ops.(Stream)
	return ok
}

// LockPosition takes the lock of the position, for calls that use it.
func (f *File) LockPosition() { f.mu.Lock() }

// UnlockPosition undoes LockPosition.
func (f *File) UnlockPosition() { f.mu.Unlock() }

// Position reads the position, in bytes.
func (f *File) Position() int64 { return atomic.LoadInt64(&f.Head.Offset) }

// SetPosition stores it.
func (f *File) SetPosition(off int64) { atomic.StoreInt64(&f.Head.Offset, off) }
