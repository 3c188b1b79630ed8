package vfs

import (
	"sort"

	"golang.org/x/sys/unix"
)

// NameMax is the longest name of an entry, in bytes.
const NameMax = 255

// An Entry is a name in a directory: where a path leads. Its fields change
// only under Namespace.mu.
type Entry struct {
	name    string
	parent  *Entry // itself for the root of a file system
	inode   *Inode
	mounted *FileSystem // lies over the directory, or nil
	cookie  int64
	removed bool
}

// Inode is what the entry names.
func (e *Entry) Inode() *Inode { return e.inode }

func (e *Entry) isRoot() bool { return e.parent == e }

// NewEntry makes an entry that no directory lists: of an anonymous file (a
// pipe, a memfd) or for the inode that a Lister made.
func NewEntry(parent *Entry, name string, i *Inode) *Entry {
	e := &Entry{name: name, parent: parent, inode: i}
	if parent == nil {
		e.parent = e
	}
	return e
}

// directory is the contents of a directory that vfs keeps: the entries by
// name, and in the order of their cookies, which an entry keeps for life, so
// that getdents64 neither repeats nor skips one when others come and go.
type directory struct {
	byName map[string]*Entry
	order  []slot
	holes  int
	next   int64
}

type slot struct {
	cookie int64
	entry  *Entry // nil: removed
}

// firstCookie comes after what positions 0 to 2 mean.
const firstCookie = 3

func newDirectory() *directory {
	return &directory{byName: map[string]*Entry{}, next: firstCookie}
}

// size is what tmpfs shows of a directory: 20 bytes an entry (BOGO_DIRENT_SIZE).
func (d *directory) size() int64 { return int64(2+len(d.byName)) * 20 }

func (d *directory) find(cookie int64) int {
	return sort.Search(len(d.order), func(i int) bool { return d.order[i].cookie >= cookie })
}

// older is the index of the last entry below i, -1 for none.
func (d *directory) older(i int) int {
	for i--; i >= 0 && d.order[i].entry == nil; i-- {
	}
	return i
}

func (d *directory) add(e *Entry) {
	e.cookie, e.removed = d.next, false
	if d.next++; d.next == dirEnd {
		d.next++
	}
	d.byName[e.name] = e
	d.order = append(d.order, slot{e.cookie, e})
}

func (d *directory) remove(e *Entry) {
	delete(d.byName, e.name)
	if i := d.find(e.cookie); i < len(d.order) && d.order[i].entry == e {
		d.order[i].entry = nil
		d.holes++
	}
	if d.holes > 16 && d.holes > len(d.order)/2 {
		kept := make([]slot, 0, len(d.order)-d.holes)
		for _, s := range d.order {
			if s.entry != nil {
				kept = append(kept, s)
			}
		}
		d.order, d.holes = kept, 0
	}
}

// child looks a name up in a directory. The namespace is locked.
func (e *Entry) child(c *Caller, name []byte) (*Entry, Errno) {
	if e.removed {
		return nil, unix.ENOENT
	}
	if len(name) > NameMax {
		return nil, unix.ENAMETOOLONG
	}
	i := e.inode
	if i.dir != nil {
		if k := i.dir.byName[string(name)]; k != nil {
			return k, 0
		}
		if i.Node == nil {
			return nil, unix.ENOENT
		}
	}
	l, ok := i.Node.(Lister)
	if !ok {
		return nil, unix.ENOENT
	}
	k, errno := l.Child(c, i, name)
	if errno != 0 {
		return nil, errno
	}
	return NewEntry(e, string(name), k), 0
}

// within reports whether e is dir or lies under it, in one file system.
func (e *Entry) within(dir *Entry) bool {
	for {
		if e == dir {
			return true
		}
		if e.isRoot() {
			return false
		}
		e = e.parent
	}
}
