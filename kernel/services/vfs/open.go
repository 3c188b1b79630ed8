package vfs

import (
	"golang.org/x/sys/unix"
)

// How to open: the arguments of openat2(2), checked.
type How struct {
	Flags   uint32 // open(2)'s
	Mode    uint32 // of a new file, before the umask
	Resolve int    // NoXDev, NoMagic, NoLinks, Beneath, InRoot
}

// OTmpfile is O_TMPFILE without the O_DIRECTORY that it includes.
const OTmpfile = unix.O_TMPFILE &^ unix.O_DIRECTORY

// openFlags are those that Linux knows.
const openFlags = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_NOCTTY | unix.O_TRUNC | unix.O_APPEND | unix.O_NONBLOCK | unix.O_SYNC | unix.O_DSYNC |
	unix.O_ASYNC | unix.O_DIRECT | 0x8000 | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NOATIME | unix.O_CLOEXEC | unix.O_PATH | OTmpfile

const pathFlags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_PATH | unix.O_CLOEXEC

// LegacyHow makes How of the arguments of open(2), which ignores what it does
// not know.
func LegacyHow(flags, mode uint32) How {
	h := How{Flags: flags & openFlags, Mode: mode & 0o7777}
	if h.Flags&unix.O_PATH != 0 {
		h.Flags &= pathFlags
	}
	if h.Flags&(unix.O_CREAT|OTmpfile) == 0 {
		h.Mode = 0
	}
	return h
}

// Check refuses combinations as build_open_flags of Linux does.
func (h *How) Check() Errno {
	f := h.Flags
	if f&^uint32(openFlags) != 0 || h.Resolve&Beneath != 0 && h.Resolve&InRoot != 0 {
		return unix.EINVAL
	}
	if f&(unix.O_CREAT|OTmpfile) != 0 {
		if h.Mode&^0o7777 != 0 {
			return unix.EINVAL
		}
	} else if h.Mode != 0 {
		return unix.EINVAL
	}
	if f&unix.O_DIRECTORY != 0 && f&unix.O_CREAT != 0 {
		return unix.EINVAL
	}
	if f&OTmpfile != 0 && (f&unix.O_DIRECTORY == 0 || h.access()&MayWrite == 0) {
		return unix.EINVAL
	}
	if f&unix.O_PATH != 0 && f&^uint32(pathFlags) != 0 {
		return unix.EINVAL
	}
	return 0
}

// access is what the access mode asks for.
func (h *How) access() uint32 {
	if h.Flags&unix.O_PATH != 0 {
		return 0
	}
	return [...]uint32{MayRead, MayWrite, MayRead | MayWrite, MayRead | MayWrite}[h.Flags&unix.O_ACCMODE]
}

// Open opens or makes a file. The caller has a descriptor for it already, so
// that EMFILE comes before what is wrong with the path.
func (ns *Namespace) Open(w *Walk, c *Caller, dir *Entry, path []byte, h How) (*File, Errno) {
	if e := h.Check(); e != 0 {
		return nil, e
	}
	if len(path) == 0 {
		return nil, unix.ENOENT
	}
	if h.Flags&OTmpfile != 0 {
		return ns.openTmpfile(w, c, dir, path, h)
	}
	flags := h.Resolve
	if h.Flags&unix.O_DIRECTORY != 0 {
		flags |= Directory
	}
	if h.Flags&unix.O_NOFOLLOW == 0 && h.Flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL {
		flags |= Follow
	}
	if h.Flags&unix.O_CREAT == 0 {
		e, errno := w.Lookup(ns, c, dir, path, flags)
		if errno != 0 {
			return nil, errno
		}
		return ns.openEntry(c, e, h, w.flags, false)
	}
	e, made, errno := ns.lookupCreate(w, c, dir, path, h, flags)
	if errno != 0 {
		return nil, errno
	}
	return ns.openEntry(c, e, h, w.flags, made)
}

// lookupCreate walks a path whose last component is made when it is not
// there.
func (ns *Namespace) lookupCreate(w *Walk, c *Caller, dir *Entry, path []byte, h How, flags int) (*Entry, bool, Errno) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	path, errno := w.start(ns, c, dir, path, flags)
	if errno != 0 {
		return nil, false, errno
	}
	for {
		if e := w.parent(path); e != 0 {
			return nil, false, e
		}
		if w.kind != lastNormal {
			_, e := w.step(false)
			return w.at, false, e
		}
		if w.slash {
			return nil, false, unix.EISDIR
		}
		parent := w.at
		link, e := w.step(w.flags&Follow != 0)
		if e == unix.ENOENT && w.at == parent {
			// Was it the name itself that is missing, and not the text of a
			// link?
			if _, e := parent.child(c, w.last); e != unix.ENOENT {
				return nil, false, unix.ENOENT
			}
			i, e := ns.create(c, parent, w.last, unix.S_IFREG|h.Mode&0o7777&^c.Umask, 0)
			if e != 0 {
				return nil, false, e
			}
			return i, true, 0
		}
		if e != 0 {
			return nil, false, e
		}
		if link == nil {
			return w.at, false, 0
		}
		path = link
	}
}

// openEntry opens what the walk found (do_open of Linux).
func (ns *Namespace) openEntry(c *Caller, e *Entry, h How, flags int, made bool) (*File, Errno) {
	i := e.inode
	if h.Flags&unix.O_CREAT != 0 {
		if h.Flags&unix.O_EXCL != 0 && !made {
			return nil, unix.EEXIST
		}
		if i.IsDir() {
			return nil, unix.EISDIR
		}
	}
	if flags&Directory != 0 && !i.IsDir() {
		return nil, unix.ENOTDIR
	}
	if h.Flags&unix.O_PATH != 0 {
		return newFile(ns, c, e, h.Flags)
	}
	want := h.access()
	trunc := h.Flags&unix.O_TRUNC != 0
	if trunc {
		want |= MayWrite
	}
	if made {
		want, trunc = 0, false
	}
	switch i.Type() {
	case unix.S_IFLNK:
		return nil, unix.ELOOP
	case unix.S_IFDIR:
		if want&MayWrite != 0 {
			return nil, unix.EISDIR
		}
	case unix.S_IFREG:
		if want&MayWrite != 0 && i.FS.Flags&unix.MS_RDONLY != 0 {
			return nil, unix.EROFS
		}
	default:
		trunc = false
	}
	if errno := c.Cred.May(i, want); want != 0 && errno != 0 {
		return nil, errno
	}
	if h.Flags&unix.O_NOATIME != 0 && !c.Cred.Owns(i) {
		return nil, unix.EPERM
	}
	if want&MayWrite != 0 && i.Runs() {
		return nil, unix.ETXTBSY
	}
	f, errno := newFile(ns, c, e, h.Flags)
	if errno != 0 {
		return nil, errno
	}
	if trunc {
		if errno := f.Truncate(c, 0); errno != 0 {
			f.Close()
			return nil, errno
		}
	}
	return f, 0
}

// openTmpfile makes a file without a name (do_tmpfile of Linux).
func (ns *Namespace) openTmpfile(w *Walk, c *Caller, dir *Entry, path []byte, h How) (*File, Errno) {
	flags := h.Resolve | Directory
	if h.Flags&unix.O_NOFOLLOW == 0 {
		flags |= Follow
	}
	e, errno := w.Lookup(ns, c, dir, path, flags)
	if errno != 0 {
		return nil, errno
	}
	if e.inode.FS.Fixed || e.inode.dir == nil {
		return nil, unix.EOPNOTSUPP
	}
	if errno := c.Cred.May(e.inode, MayWrite|MayExec); errno != 0 {
		return nil, errno
	}
	i, errno := e.inode.FS.makeFile(c, e.inode, unix.S_IFREG|h.Mode&0o7777&^c.Umask, 0, ns.Now())
	if errno != 0 {
		return nil, errno
	}
	i.linkable = h.Flags&unix.O_EXCL == 0
	t := NewEntry(e, "#"+itoa(i.Ino), i)
	t.removed = true
	return newFile(ns, c, t, h.Flags&^uint32(OTmpfile|unix.O_DIRECTORY)|unix.O_TMPFILE)
}

func itoa(n uint64) string {
	var b [20]byte
	at := len(b)
	for {
		at--
		b[at] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[at:])
		}
	}
}
