package vfs

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/usermem"
)

// Errno is 0 for success, or why a call failed.
type Errno = usermem.Errno

// An Inode is one file of any type.
type Inode struct {
	FS    *FileSystem
	Ino   uint64
	Rdev  uint64 // of a device
	Btime int64  // when it was made, ns since 1970

	// Data holds the contents of a regular file; nil when Node makes them.
	Data object.Object
	// Node gives the inode behaviour; nil for what vfs serves itself.
	Node Node

	target []byte     // of a symbolic link
	dir    *directory // of a directory that vfs keeps

	locks locks
	runs  atomic.Int32 // processes whose program it is

	mu       sync.Mutex
	mode     uint32
	uid, gid uint32
	nlink    uint32
	times    [3]int64 // access, modification, change; of an object in its head
	users    int      // open files and calls that work on Data
	dead     bool     // Data is released
	linkable bool     // made by O_TMPFILE without O_EXCL: link(2) may name it
}

// A Node is behaviour of an inode: one of Opener, Lister, Linker.
type Node interface{}

// An Opener makes what serves an open file.
type Opener interface {
	// OpenNode may refuse (ENXIO, EACCES, …).
	OpenNode(c *Caller, i *Inode, flags uint32) (Ops, Errno)
}

// A Lister is a directory whose entries are made when they are looked up.
type Lister interface {
	// Child returns the inode of a name. ENOENT.
	Child(c *Caller, dir *Inode, name []byte) (*Inode, Errno)
	// List calls yield for the entries at position from and after, until it
	// returns false. Positions count from 0 and are the Lister's own.
	List(c *Caller, dir *Inode, from int64, yield func(name string, ino uint64, mode uint32, next int64) bool)
}

// A Linker is a symbolic link whose target depends on who asks.
type Linker interface {
	// Target is what readlink(2) returns.
	Target(c *Caller, i *Inode) ([]byte, Errno)
	// Jump returns the entry that following the link leads to, whatever the
	// target's text says; nil means: walk the text.
	Jump(c *Caller, i *Inode) (*Entry, Errno)
}

// Mode is the type and the permission bits.
func (i *Inode) Mode() uint32 { return atomic.LoadUint32(&i.mode) }

// Type is the type bits of Mode.
func (i *Inode) Type() uint32 { return i.Mode() & unix.S_IFMT }

// IsDir reports whether i is a directory.
func (i *Inode) IsDir() bool { return i.Type() == unix.S_IFDIR }

// IsRegular reports whether i is a regular file.
func (i *Inode) IsRegular() bool { return i.Type() == unix.S_IFREG }

// IsLink reports whether i is a symbolic link.
func (i *Inode) IsLink() bool { return i.Type() == unix.S_IFLNK }

// Size is what stat(2) shows, in bytes.
func (i *Inode) Size() int64 {
	switch {
	case i.Data != nil:
		return int64(atomic.LoadUint64(&i.Data.Head().Size))
	case i.IsLink():
		return int64(len(i.target))
	case i.dir != nil:
		return i.dir.size()
	}
	return 0
}

// time returns where a time of the inode lies: 0 access, 1 modification,
// 2 change.
func (i *Inode) time(n int) *int64 {
	if i.Data != nil {
		h := i.Data.Head()
		return [...]*int64{&h.Atime, &h.Mtime, &h.Ctime}[n]
	}
	return &i.times[n]
}

// Touch sets times to now: any of Accessed, Modified, Changed.
func (i *Inode) Touch(now int64, what int) {
	for n := range 3 {
		if what>>n&1 != 0 {
			atomic.StoreInt64(i.time(n), now)
		}
	}
}

// What Touch sets.
const (
	Accessed = 1 << iota
	Modified
	Changed
)

// publish copies the attributes into the object's head, where core finds
// them. i.mu is held, or i is not shared yet.
func (i *Inode) publish() {
	if i.Data == nil {
		return
	}
	h := i.Data.Head()
	h.Dev, h.Ino = i.FS.Dev, i.Ino
	atomic.StoreUint64(&h.Nlink, uint64(i.nlink))
	atomic.StoreUint32(&h.Mode, i.mode)
	atomic.StoreUint32(&h.UID, i.uid)
	atomic.StoreUint32(&h.GID, i.gid)
}

// setLinks changes the link count by n and the change time, and releases the
// data when nobody can reach it any more.
func (i *Inode) setLinks(n int, now int64) {
	i.mu.Lock()
	i.nlink = uint32(int(i.nlink) + n)
	i.Touch(now, Changed)
	i.publish()
	i.mu.Unlock()
	i.reap()
}

// Acquire keeps the data of an inode while it is worked on; false when it is
// gone already, because the last name and the last open file are.
func (i *Inode) Acquire() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead && i.Data != nil {
		return false
	}
	i.users++
	return true
}

// Release undoes Acquire.
func (i *Inode) Release() {
	i.mu.Lock()
	i.users--
	i.mu.Unlock()
	i.reap()
}

func (i *Inode) reap() {
	i.mu.Lock()
	last := i.nlink == 0 && i.users == 0 && !i.dead
	i.dead = i.dead || last
	i.mu.Unlock()
	if last {
		if i.FS != nil {
			i.FS.inodes.Add(-1)
		}
		if i.Data != nil {
			i.Data.Release()
		}
	}
}

// Stat is what the stat family tells of an inode.
type Stat struct {
	Dev, Ino                   uint64
	Mode, Nlink                uint32
	UID, GID                   uint32
	Rdev                       uint64
	Size, Blocks               int64 // bytes; blocks of 512
	Atime, Mtime, Ctime, Btime int64 // ns since 1970
	Mount                      uint64
	Root                       bool // of a mount
}

// shortLink is the length from which tmpfs gives a link's text a page.
const shortLink = 128

// Stat reads the attributes.
func (i *Inode) Stat(s *Stat) {
	i.mu.Lock()
	defer i.mu.Unlock()
	*s = Stat{Dev: i.FS.Dev, Ino: i.Ino, Mode: i.mode, Nlink: i.nlink, UID: i.uid, GID: i.gid, Rdev: i.Rdev, Size: i.Size(), Btime: i.Btime, Mount: i.FS.ID,
		Atime: atomic.LoadInt64(i.time(0)), Mtime: atomic.LoadInt64(i.time(1)), Ctime: atomic.LoadInt64(i.time(2))}
	if i.Data != nil {
		s.Blocks = int64(atomic.LoadUint64(&i.Data.Head().Pages)) * (object.PageSize / 512)
	}
	if len(i.target) >= shortLink {
		s.Blocks = object.PageSize / 512
	}
	s.Root = i.FS.Root != nil && i.FS.Root.inode == i
}

// Execute notes that the file is a process's program from now on: nobody
// writes to it any more: ETXTBSY.
func (i *Inode) Execute() { i.runs.Add(1) }

// Runs reports whether the file is a process's program.
func (i *Inode) Runs() bool { return i.runs.Load() > 0 }
