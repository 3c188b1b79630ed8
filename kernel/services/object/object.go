// Package object is the contents of files as services see them: memory
// objects. Core owns the real ones (Store is then made of hypercalls, in
// package hyper); Heap keeps them in Go's own memory, for tests and for a
// kernel whose core has none.
package object

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/usermem"
)

// Errno is 0 for success.
type Errno = usermem.Errno

// PageSize is the unit in which objects hold memory, in bytes.
const PageSize = 4096

// MaxSize is the largest size of an object in bytes: MAX_LFS_FILESIZE.
const MaxSize = 1<<63 - 1

// An Object is a sparse array of bytes. Its methods may be called by several
// handlers at once.
type Object interface {
	// Head is the part that core and services share: size, times, owner.
	Head() *abi.ObjectHead
	// Handle names the object in hypercalls; 0 when core has none.
	Handle() uint64
	// Read copies up to n bytes at off to user memory, and returns 0 at the
	// end. EFAULT when the first byte faults.
	Read(off int64, m usermem.Memory, addr uint64, n int) (int, Errno)
	// Write copies up to n bytes from user memory and grows the object.
	// EFAULT; ENOSPC.
	Write(off int64, m usermem.Memory, addr uint64, n int) (int, Errno)
	// ReadAt and WriteAt do the same with services' own memory.
	ReadAt(p []byte, off int64) (int, Errno)
	WriteAt(p []byte, off int64) (int, Errno)
	// Resize cuts, or grows with a hole.
	Resize(size int64) Errno
	// Punch makes a hole of n bytes at off; the size stays.
	Punch(off, n int64) Errno
	// Allocate finds memory for a range; the size stays. ENOSPC.
	Allocate(off, n int64) Errno
	// Find finds data (unix.SEEK_DATA) or a hole (unix.SEEK_HOLE) at or
	// after off. ENXIO when off is not below the size, or no data follows.
	Find(off int64, whence int) (int64, Errno)
	// Release drops services' reference: the object is gone unless it is
	// mapped or open elsewhere.
	Release()
}

// A Store makes objects.
type Store interface {
	// Create makes an empty object for inode ino. ENOMEM.
	Create(ino uint64) (Object, Errno)
	// InPlace makes an object whose bytes are data, which never moves; what
	// is written goes elsewhere. ENOMEM.
	InPlace(data []byte, ino uint64) (Object, Errno)
}
