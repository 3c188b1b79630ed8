package vfs

import (
	"golang.org/x/sys/unix"
)

// CheckRename refuses flags that renameat2(2) does not know together.
func CheckRename(flags uint32) Errno {
	if flags&^uint32(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE|unix.RENAME_WHITEOUT) != 0 ||
		flags&unix.RENAME_EXCHANGE != 0 && flags&(unix.RENAME_NOREPLACE|unix.RENAME_WHITEOUT) != 0 {
		return unix.EINVAL
	}
	return 0
}

// Rename moves a name: renameat2(2) with RENAME_NOREPLACE or RENAME_EXCHANGE.
// w and to are two walks of the calling handler. newErr is why newDir is not
// known, which counts after what is wrong with the old path.
func (ns *Namespace) Rename(w, to *Walk, c *Caller, oldDir *Entry, oldPath []byte, newDir *Entry, newErr Errno, newPath []byte, flags uint32) Errno {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if e := w.toParent(ns, c, oldDir, oldPath); e != 0 {
		return e
	}
	if newErr != 0 {
		return newErr
	}
	if e := to.toParent(ns, c, newDir, newPath); e != 0 {
		return e
	}
	if w.at.inode.FS != to.at.inode.FS {
		return unix.EXDEV
	}
	if w.kind != lastNormal {
		return unix.EBUSY
	}
	if to.kind != lastNormal {
		if flags&unix.RENAME_NOREPLACE != 0 {
			return unix.EEXIST
		}
		return unix.EBUSY
	}
	if w.at.inode.FS.Flags&unix.MS_RDONLY != 0 {
		return unix.EROFS
	}
	return ns.renameLocked(w, to, c, flags)
}

func (ns *Namespace) renameLocked(w, to *Walk, c *Caller, flags uint32) Errno {
	from, into := w.at, to.at
	exchange := flags&unix.RENAME_EXCHANGE != 0
	old, e := from.child(c, w.last)
	if e != 0 {
		return e
	}
	target, e := into.child(c, to.last)
	if e != 0 && e != unix.ENOENT {
		return e
	}
	if target != nil && flags&unix.RENAME_NOREPLACE != 0 {
		return unix.EEXIST
	}
	if exchange {
		if target == nil {
			return unix.ENOENT
		}
		if !target.inode.IsDir() && to.slash {
			return unix.ENOTDIR
		}
	}
	isDir := old.inode.IsDir()
	if !isDir && (w.slash || !exchange && to.slash) {
		return unix.ENOTDIR
	}
	if from != into {
		// The source must not hold the target, nor the target the source.
		if isDir && into.within(old) {
			return unix.EINVAL
		}
		if target != nil && from.within(target) {
			if exchange {
				return unix.EINVAL
			}
			return unix.ENOTEMPTY
		}
	}
	if target != nil && target.inode == old.inode {
		return 0
	}
	if e := mayDelete(c, from, old, isDir); e != 0 {
		return e
	}
	if target == nil {
		e = mayCreate(c, into, unix.EPERM)
	} else {
		wantDir := isDir
		if exchange {
			wantDir = target.inode.IsDir()
		}
		e = mayDelete(c, into, target, wantDir)
	}
	if e != 0 {
		return e
	}
	if from.inode.FS.Fixed || from.inode.dir == nil || into.inode.dir == nil || flags&unix.RENAME_WHITEOUT != 0 {
		return unix.EPERM
	}
	if from != into {
		if isDir {
			if e := c.Cred.May(old.inode, MayWrite); e != 0 {
				return e
			}
		}
		if exchange && target.inode.IsDir() {
			if e := c.Cred.May(target.inode, MayWrite); e != 0 {
				return e
			}
		}
	}
	if old.mounted != nil || target != nil && target.mounted != nil {
		return unix.EBUSY
	}
	now := ns.Now()
	if exchange {
		ns.exchange(from, into, old, target, now)
		return 0
	}
	if target != nil && isDir && (target.inode.dir == nil || len(target.inode.dir.byName) != 0) {
		return unix.ENOTEMPTY
	}
	ns.move(from, into, old, target, string(to.last), now)
	return 0
}

func (ns *Namespace) move(from, into, old, target *Entry, name string, now int64) {
	from.inode.dir.remove(old)
	if target != nil {
		into.inode.dir.remove(target)
		ns.drop(into, target, now)
	}
	old.name, old.parent = name, into
	into.inode.dir.add(old)
	if from != into && old.inode.IsDir() {
		from.inode.setLinks(-1, now)
		into.inode.setLinks(1, now)
	}
	from.inode.Touch(now, Modified|Changed)
	into.inode.Touch(now, Modified|Changed)
	old.inode.Touch(now, Changed)
}

func (ns *Namespace) exchange(from, into, a, b *Entry, now int64) {
	aName, bName := a.name, b.name
	from.inode.dir.remove(a)
	into.inode.dir.remove(b)
	a.name, a.parent = bName, into
	b.name, b.parent = aName, from
	into.inode.dir.add(a)
	from.inode.dir.add(b)
	if from != into {
		n := 0
		if a.inode.IsDir() {
			n++
		}
		if b.inode.IsDir() {
			n--
		}
		from.inode.setLinks(-n, now)
		into.inode.setLinks(n, now)
	}
	from.inode.Touch(now, Modified|Changed)
	into.inode.Touch(now, Modified|Changed)
	a.inode.Touch(now, Changed)
	b.inode.Touch(now, Changed)
}
