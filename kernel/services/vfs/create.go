package vfs

import (
	"golang.org/x/sys/unix"
)

// maxName is how long the text of a symbolic link may be, with its NUL.
const maxName = 4096

// makeFile makes an inode for a directory of fs: with the caller as owner, or
// the directory's group where that is set-group-ID (inode_init_owner of
// Linux). ENOSPC beyond MaxInodes; ENOMEM.
func (fs *FileSystem) makeFile(c *Caller, dir *Inode, mode uint32, rdev uint64, now int64) (*Inode, Errno) {
	if fs.MaxInodes != 0 && fs.inodes.Load() >= fs.MaxInodes {
		return nil, unix.ENOSPC
	}
	gid := c.Cred.FSGID
	if dir != nil && dir.Mode()&unix.S_ISGID != 0 {
		gid = dir.gid
		if mode&unix.S_IFMT == unix.S_IFDIR {
			mode |= unix.S_ISGID
		} else if mode&(unix.S_ISGID|0o010) == unix.S_ISGID|0o010 && !c.Cred.InGroup(gid) && !c.Cred.Privileged() {
			mode &^= unix.S_ISGID
		}
	}
	i := fs.Make(mode, c.Cred.FSUID, gid, now)
	i.Rdev = rdev
	if mode&unix.S_IFMT == unix.S_IFREG {
		if fs.Store == nil {
			fs.inodes.Add(-1)
			return nil, unix.EPERM
		}
		d, e := fs.Store.Create(i.Ino)
		if e != 0 {
			fs.inodes.Add(-1)
			return nil, e
		}
		i.Data = d
		i.Touch(now, Accessed|Modified|Changed)
	}
	i.publish()
	return i, 0
}

// mayCreate checks that a name may be added (may_create of Linux).
func mayCreate(c *Caller, dir *Entry, fixed Errno) Errno {
	if dir.removed {
		return unix.ENOENT
	}
	if e := c.Cred.May(dir.inode, MayWrite|MayExec); e != 0 {
		return e
	}
	if dir.inode.FS.Fixed || dir.inode.dir == nil {
		return fixed
	}
	return 0
}

// mayDelete checks that a name may be taken away (may_delete of Linux).
func mayDelete(c *Caller, dir, e *Entry, wantDir bool) Errno {
	if errno := c.Cred.May(dir.inode, MayWrite|MayExec); errno != 0 {
		return errno
	}
	if dir.inode.Mode()&unix.S_ISVTX != 0 && !c.Cred.Owns(e.inode) && !c.Cred.Owns(dir.inode) {
		return unix.EPERM
	}
	switch {
	case wantDir && !e.inode.IsDir():
		return unix.ENOTDIR
	case wantDir && e.isRoot():
		return unix.EBUSY
	case !wantDir && e.inode.IsDir():
		return unix.EISDIR
	case dir.removed:
		return unix.ENOENT
	}
	return 0
}

// enter makes an inode and names it. The namespace is locked for writing.
func (ns *Namespace) create(c *Caller, dir *Entry, name []byte, mode uint32, rdev uint64) (*Entry, Errno) {
	if dir.inode.FS.Flags&unix.MS_RDONLY != 0 {
		return nil, unix.EROFS
	}
	if e := mayCreate(c, dir, unix.EACCES); e != 0 {
		return nil, e
	}
	now := ns.Now()
	i, e := dir.inode.FS.makeFile(c, dir.inode, mode, rdev, now)
	if e != 0 {
		return nil, e
	}
	return ns.link(dir, string(name), i, now), 0
}

// link enters an inode into a directory.
func (ns *Namespace) link(dir *Entry, name string, i *Inode, now int64) *Entry {
	e := NewEntry(dir, name, i)
	dir.inode.dir.add(e)
	n := 1
	if i.IsDir() {
		n = 2
		dir.inode.setLinks(1, now)
	}
	i.mu.Lock()
	i.nlink += uint32(n)
	i.publish()
	i.mu.Unlock()
	dir.inode.Touch(now, Modified|Changed)
	return e
}

// forCreate walks to where a new name goes (filename_create of Linux): EEXIST
// when it is there.
func (ns *Namespace) forCreate(w *Walk, c *Caller, dir *Entry, path []byte, wantDir bool) (*Entry, Errno) {
	if e := w.toParent(ns, c, dir, path); e != 0 {
		return nil, e
	}
	if w.kind != lastNormal {
		return nil, unix.EEXIST
	}
	switch _, e := w.at.child(c, w.last); e {
	case 0:
		return nil, unix.EEXIST
	case unix.ENOENT:
	default:
		return nil, e
	}
	if w.slash && !wantDir {
		return nil, unix.ENOENT
	}
	if w.at.inode.FS.Flags&unix.MS_RDONLY != 0 {
		return nil, unix.EROFS
	}
	return w.at, 0
}

// Make makes a node of any type: mkdir(2), mknod(2), symlink(2). mode has the
// type and the permissions before the umask; target is a symbolic link's.
func (ns *Namespace) Make(w *Walk, c *Caller, dir *Entry, path []byte, mode uint32, rdev uint64, target []byte) Errno {
	kind := mode & unix.S_IFMT
	switch kind {
	case unix.S_IFLNK:
		if len(target) == 0 {
			return unix.ENOENT
		}
		if len(target) >= maxName {
			return unix.ENAMETOOLONG
		}
		mode |= 0o777
	case unix.S_IFDIR:
		mode &= unix.S_IFMT | unix.S_ISVTX | 0o777
		mode &^= c.Umask
	default:
		mode &^= c.Umask
	}
	ns.mu.Lock()
	defer ns.mu.Unlock()
	at, e := ns.forCreate(w, c, dir, path, kind == unix.S_IFDIR)
	if e != 0 {
		return e
	}
	if e := mayCreate(c, at, unix.EPERM); e != 0 {
		return e
	}
	if (kind == unix.S_IFCHR || kind == unix.S_IFBLK) && c.Cred.EUID != 0 {
		return unix.EPERM
	}
	now := ns.Now()
	i, e := at.inode.FS.makeFile(c, at.inode, mode, rdev, now)
	if e != 0 {
		return e
	}
	if kind == unix.S_IFLNK {
		i.target = append([]byte(nil), target...)
	}
	ns.link(at, string(w.last), i, now)
	return 0
}

// Link gives a file another name. from is what AT_EMPTY_PATH or the walk of
// the old path found.
func (ns *Namespace) Link(w *Walk, c *Caller, from, dir *Entry, path []byte) Errno {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	at, e := ns.forCreate(w, c, dir, path, false)
	if e != 0 {
		return e
	}
	i := from.inode
	if i.FS != at.inode.FS {
		return unix.EXDEV
	}
	if e := mayCreate(c, at, unix.EPERM); e != 0 {
		return e
	}
	if i.IsDir() {
		return unix.EPERM
	}
	i.mu.Lock()
	gone := i.nlink == 0 && !i.linkable || i.dead
	i.mu.Unlock()
	if gone {
		return unix.ENOENT
	}
	now := ns.Now()
	ns.link(at, string(w.last), i, now)
	i.Touch(now, Changed)
	if from.removed && from.parent == at { // a file of O_TMPFILE has a name now
		i.linkable = false
	}
	return 0
}

// Unlink takes a name away: unlink(2), and rmdir(2) when rmdir is set.
func (ns *Namespace) Unlink(w *Walk, c *Caller, dir *Entry, path []byte, rmdir bool) Errno {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if e := w.toParent(ns, c, dir, path); e != 0 {
		return e
	}
	if w.kind != lastNormal {
		if !rmdir {
			return unix.EISDIR
		}
		return [...]Errno{lastDot: unix.EINVAL, lastDotDot: unix.ENOTEMPTY, lastRoot: unix.EBUSY}[w.kind]
	}
	at := w.at
	e, errno := at.child(c, w.last)
	if errno != 0 {
		return errno
	}
	i := e.inode
	if at.inode.FS.Flags&unix.MS_RDONLY != 0 {
		return unix.EROFS
	}
	if !rmdir && w.slash {
		if i.IsDir() {
			return unix.EISDIR
		}
		return unix.ENOTDIR
	}
	if errno := mayDelete(c, at, e, rmdir); errno != 0 {
		return errno
	}
	if at.inode.FS.Fixed || at.inode.dir == nil {
		return unix.EPERM
	}
	if e.mounted != nil {
		return unix.EBUSY
	}
	now := ns.Now()
	if rmdir {
		if i.dir == nil || len(i.dir.byName) != 0 {
			return unix.ENOTEMPTY
		}
	}
	ns.unlink(at, e, now)
	return 0
}

// unlink takes an entry out of its directory.
func (ns *Namespace) unlink(dir, e *Entry, now int64) {
	dir.inode.dir.remove(e)
	ns.drop(dir, e, now)
	dir.inode.Touch(now, Modified|Changed)
}

// drop counts down the links of what is no longer named.
func (ns *Namespace) drop(dir, e *Entry, now int64) {
	e.removed = true
	n := -1
	if e.inode.IsDir() {
		n = -2
		dir.inode.setLinks(-1, now)
	}
	e.inode.setLinks(n, now)
}

// MakeAnonymous makes an inode that no directory will name: of a memfd, a
// pipe, an eventfd.
func (fs *FileSystem) MakeAnonymous(c *Caller, mode uint32, now int64) (*Inode, Errno) {
	return fs.makeFile(c, nil, mode, 0, now)
}

// NewAnonymous is an entry for such an inode; name is its whole path.
func NewAnonymous(name string, i *Inode) *Entry {
	e := NewEntry(nil, name, i)
	e.removed = i.IsRegular()
	return e
}
