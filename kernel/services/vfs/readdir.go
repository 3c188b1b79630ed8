package vfs

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// ReadDir appends entries in the form of getdents64(2) (or getdents(2), when
// old is set) to buf, as far as its capacity goes, and moves the position.
// ENOTDIR; ENOENT when the directory was removed; EINVAL when not one entry
// fits. The position is locked.
func (f *File) ReadDir(c *Caller, buf []byte, old bool) ([]byte, Errno) {
	if !f.Inode.IsDir() {
		return nil, unix.ENOTDIR
	}
	f.NS.mu.RLock()
	defer f.NS.mu.RUnlock()
	if f.Entry.removed {
		return nil, unix.ENOENT
	}
	d := dirWriter{buf: buf[:0], old: old, pos: f.Position()}
	f.list(c, &d)
	if len(d.buf) == 0 && d.full {
		return nil, unix.EINVAL
	}
	f.SetPosition(d.pos)
	return d.buf, 0
}

// Positions in a directory: 0 is ".", 1 is "..", then come the entries that
// vfs keeps, the newest first, so that a program which renames what it reads
// comes to an end (libfs' offset_readdir of Linux does the same): newest
// starts with them, a cookie goes on with that entry or an older one, dirEnd
// is behind the last. Those of a Lister come after listed.
const (
	newest = 2
	listed = 1 << 40
	dirEnd = 1<<31 - 1
)

func (f *File) list(c *Caller, d *dirWriter) {
	i := f.Inode
	if d.pos == 0 && !d.put(".", i.Ino, unix.S_IFDIR, 1) {
		return
	}
	if d.pos == 1 && !d.put("..", f.Entry.up().inode.Ino, unix.S_IFDIR, newest) {
		return
	}
	l, _ := i.Node.(Lister)
	if d.pos == dirEnd {
		return
	}
	if d.pos < listed {
		end := int64(dirEnd)
		if l != nil {
			end = listed
		}
		if i.dir != nil && !f.listKept(i.dir, d, end) {
			return
		}
		d.pos = end
	}
	if l != nil {
		l.List(c, i, d.pos-listed, func(name string, ino uint64, mode uint32, next int64) bool {
			return d.put(name, ino, mode, listed+next)
		})
	}
}

// listKept lists the entries that vfs keeps; false when the room is used up.
func (f *File) listKept(dir *directory, d *dirWriter, end int64) bool {
	at := len(dir.order)
	if d.pos != newest {
		at = dir.find(d.pos + 1)
	}
	at = dir.older(at)
	for at >= 0 {
		s, next := dir.order[at], end
		at = dir.older(at)
		if at >= 0 {
			next = dir.order[at].cookie
		}
		if !d.put(s.entry.name, s.entry.inode.Ino, s.entry.inode.Mode(), next) {
			return false
		}
	}
	return true
}

// dirWriter lays out directory entries.
type dirWriter struct {
	buf  []byte
	pos  int64
	old  bool
	full bool
}

// put appends an entry; next is the position after it.
func (d *dirWriter) put(name string, ino uint64, mode uint32, next int64) bool {
	at := len(d.buf)
	size := (19 + len(name) + 1 + 7) &^ 7
	if d.old {
		size = (18 + len(name) + 2 + 7) &^ 7
	}
	if at+size > cap(d.buf) {
		d.full = true
		return false
	}
	d.buf = d.buf[:at+size]
	b := d.buf[at:]
	clear(b)
	binary.LittleEndian.PutUint64(b, ino)
	binary.LittleEndian.PutUint64(b[8:], uint64(next))
	binary.LittleEndian.PutUint16(b[16:], uint16(size))
	kind := byte(mode >> 12 & 15)
	if d.old {
		copy(b[18:], name)
		b[size-1] = kind
	} else {
		b[18] = kind
		copy(b[19:], name)
	}
	d.pos = next
	return true
}
