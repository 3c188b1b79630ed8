package vfs

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/object"
)

// A FileSystem is a tree of inodes with a root, mounted at one place at most.
type FileSystem struct {
	Type    string // "tmpfs", "proc", …
	Source  string
	Options string // as /proc/mounts shows them
	Dev     uint64 // st_dev
	Magic   int64  // f_type of statfs(2)
	ID      uint64 // of the mount
	Root    *Entry
	Flags   uint64 // MS_RDONLY, MS_NODEV, MS_NOEXEC, MS_NOSUID

	// Store makes the contents of regular files; nil: none can be made.
	Store object.Store
	// MaxInodes bounds how many inodes there may be; 0 is no bound. What is
	// beyond is ENOSPC.
	MaxInodes int64
	// Space tells the bytes that are there in all and free; may be nil.
	Space func() (total, free int64)
	// Fixed refuses new names: EPERM for all, as in /proc.
	Fixed bool

	at     *Entry // the directory that it is mounted on, or nil
	ino    atomic.Uint64
	inodes atomic.Int64
}

// Inodes is how many inodes there are.
func (fs *FileSystem) Inodes() int64 { return fs.inodes.Load() }

// NextIno gives out inode numbers.
func (fs *FileSystem) NextIno() uint64 { return fs.ino.Add(1) }

// A Namespace is the tree of all mounts.
type Namespace struct {
	// Now is the time of day in ns since 1970.
	Now func() int64
	// Unlocked, if not nil, is told when a lock may have become free.
	Unlocked func()
	// Devices finds what serves a device. ENXIO.
	Devices interface {
		Find(mode uint32, rdev uint64) (Opener, Errno)
	}

	mu     sync.RWMutex
	root   *Entry
	mounts []*FileSystem
	nextID uint64
}

// NewNamespace makes a tree with fs at its root.
func NewNamespace(fs *FileSystem, now func() int64) *Namespace {
	ns := &Namespace{Now: now, nextID: 20}
	ns.enter(fs)
	ns.root = fs.Root
	return ns
}

func (ns *Namespace) enter(fs *FileSystem) {
	ns.nextID++
	fs.ID = ns.nextID
	ns.mounts = append(ns.mounts, fs)
}

// Root is the entry at "/".
func (ns *Namespace) Root() *Entry { return ns.root }

// NewFileSystem makes a file system with an empty root directory.
func NewFileSystem(kind string, dev uint64, magic int64, store object.Store, now int64) *FileSystem {
	fs := &FileSystem{Type: kind, Source: kind, Dev: dev, Magic: magic, Store: store, Options: "rw,noatime"}
	i := fs.Make(unix.S_IFDIR|0o755, 0, 0, now)
	i.nlink = 2
	fs.Root = NewEntry(nil, "", i)
	return fs
}

// Make makes an inode that no entry names yet, but for a regular file's data.
func (fs *FileSystem) Make(mode, uid, gid uint32, now int64) *Inode {
	fs.inodes.Add(1)
	i := &Inode{FS: fs, Ino: fs.NextIno(), mode: mode, uid: uid, gid: gid, Btime: now, times: [3]int64{now, now, now}}
	if mode&unix.S_IFMT == unix.S_IFDIR {
		i.dir = newDirectory()
	}
	return i
}

// MakeNode makes an inode with behaviour and a number of its own choice
// (0: the next); it is not counted, and a Lister may make one a lookup.
func (fs *FileSystem) MakeNode(mode uint32, ino uint64, node Node, now int64) *Inode {
	if ino == 0 {
		ino = fs.NextIno()
	}
	n := uint32(1)
	if mode&unix.S_IFMT == unix.S_IFDIR {
		n = 2
	}
	return &Inode{FS: fs, Ino: ino, mode: mode, nlink: n, Node: node, Btime: now, times: [3]int64{now, now, now}}
}

// Add enters an inode into a directory while a file system is made, before
// anybody can reach it.
func (fs *FileSystem) Add(dir *Entry, name string, i *Inode) *Entry {
	e := NewEntry(dir, name, i)
	if dir.inode.dir == nil {
		dir.inode.dir = newDirectory()
	}
	dir.inode.dir.add(e)
	if i.IsDir() {
		i.nlink = 2
		dir.inode.nlink++
	} else if i.Node == nil || i.nlink == 0 {
		i.nlink++
	}
	i.publish()
	return e
}

// Mount lays fs over a directory. ENOTDIR; EBUSY when something is mounted
// there or fs is in use.
func (ns *Namespace) Mount(fs *FileSystem, at *Entry) Errno {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if !at.inode.IsDir() {
		return unix.ENOTDIR
	}
	if at.mounted != nil || fs.at != nil || at.removed {
		return unix.EBUSY
	}
	ns.enter(fs)
	at.mounted, fs.at = fs, at
	return 0
}

// Unmount takes away what is mounted with its root at e. EINVAL when e is no
// such root; EBUSY when mounts lie on it.
func (ns *Namespace) Unmount(e *Entry) Errno {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	fs := e.inode.FS
	if fs.Root != e || fs.at == nil {
		return unix.EINVAL
	}
	for _, m := range ns.mounts {
		if m.at != nil && m.at.inode.FS == fs {
			return unix.EBUSY
		}
	}
	for i, m := range ns.mounts {
		if m == fs {
			ns.mounts = append(ns.mounts[:i:i], ns.mounts[i+1:]...)
			break
		}
	}
	fs.at.mounted, fs.at = nil, nil
	return 0
}

// A MountPoint is a line of /proc/mounts.
type MountPoint struct {
	FS     *FileSystem
	Path   string
	Parent uint64 // mount that it lies on
}

// Mounts lists what is mounted, oldest first.
func (ns *Namespace) Mounts() []MountPoint {
	ns.mu.RLock()
	defer ns.mu.RUnlock()
	var list []MountPoint
	for _, fs := range ns.mounts {
		m := MountPoint{FS: fs, Path: string(ns.appendPath(nil, fs.Root, nil)), Parent: fs.ID}
		if fs.at != nil {
			m.Parent = fs.at.inode.FS.ID
		}
		list = append(list, m)
	}
	return list
}

// up is the parent of a directory, across mounts; the namespace's root is its
// own.
func (e *Entry) up() *Entry {
	for e.isRoot() {
		if e.inode.FS == nil || e.inode.FS.at == nil || e.inode.FS.Root != e {
			return e
		}
		e = e.inode.FS.at
	}
	return e.parent
}

// down goes to what is mounted on e.
func (e *Entry) down() *Entry {
	for e.mounted != nil {
		e = e.mounted.Root
	}
	return e
}

// Seed sets what an archive says of an inode while a file system is made.
func (i *Inode) Seed(mode, uid, gid uint32, mtime int64) {
	i.mode = i.mode&unix.S_IFMT | mode&0o7777
	if i.mode&unix.S_IFMT == 0 {
		i.mode |= mode & unix.S_IFMT
	}
	i.uid, i.gid = uid, gid
	for n := range 3 {
		*i.time(n) = mtime
	}
	i.publish()
}

// SetTarget makes an inode a symbolic link's.
func (i *Inode) SetTarget(text []byte) { i.target = append([]byte(nil), text...) }

// Child is an entry that vfs keeps, or nil, while a file system is made.
func (e *Entry) Child(name string) *Entry {
	if e.inode.dir == nil {
		return nil
	}
	return e.inode.dir.byName[name]
}

// Forget takes an entry away while a file system is made.
func (e *Entry) Forget(k *Entry) { e.inode.dir.remove(k) }
