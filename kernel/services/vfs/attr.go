package vfs

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Chmod sets the permission bits. EPERM unless c owns the file.
func (i *Inode) Chmod(ns *Namespace, c *Caller, mode uint32) Errno {
	if i.FS.Flags&unix.MS_RDONLY != 0 {
		return unix.EROFS
	}
	if i.IsLink() {
		return unix.EOPNOTSUPP
	}
	if !c.Cred.Owns(i) {
		return unix.EPERM
	}
	if i.FS.Fixed {
		return unix.EPERM
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !c.Cred.Privileged() && !c.Cred.InGroup(i.gid) {
		mode &^= unix.S_ISGID
	}
	atomic.StoreUint32(&i.mode, i.mode&unix.S_IFMT|mode&0o7777)
	i.Touch(ns.Now(), Changed)
	i.publish()
	return 0
}

// Keep leaves an owner or group as it is in Chown.
const Keep = ^uint32(0)

// Chown sets owner and group. EPERM where Linux has it.
func (i *Inode) Chown(ns *Namespace, c *Caller, uid, gid uint32) Errno {
	if i.FS.Flags&unix.MS_RDONLY != 0 {
		return unix.EROFS
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !c.Cred.Privileged() {
		if uid != Keep && (c.Cred.FSUID != i.uid || uid != i.uid) ||
			gid != Keep && (c.Cred.FSUID != i.uid || !c.Cred.InGroup(gid) && gid != i.gid) {
			return unix.EPERM
		}
	}
	if i.FS.Fixed {
		return unix.EPERM
	}
	if uid != Keep {
		i.uid = uid
	}
	if gid != Keep {
		i.gid = gid
	}
	m := i.mode
	if m&unix.S_IFMT != unix.S_IFDIR && (uid != Keep || gid != Keep) {
		m &^= unix.S_ISUID
		if m&0o010 != 0 {
			m &^= unix.S_ISGID
		}
	}
	atomic.StoreUint32(&i.mode, m)
	i.Touch(ns.Now(), Changed)
	i.publish()
	return 0
}

// Times of SetTimes beside ns since 1970.
const (
	TimeNow  = -1 << 63   // utimensat(2)'s UTIME_NOW
	TimeKeep = -1<<63 + 1 // UTIME_OMIT
)

// SetTimes sets the access and the modification time. EPERM or EACCES as
// utimensat(2) has them.
func (i *Inode) SetTimes(ns *Namespace, c *Caller, atime, mtime int64) Errno {
	if i.FS.Flags&unix.MS_RDONLY != 0 {
		return unix.EROFS
	}
	if atime == TimeKeep && mtime == TimeKeep {
		return 0
	}
	if !c.Cred.Owns(i) {
		if atime != TimeNow || mtime != TimeNow {
			return unix.EPERM
		}
		if e := c.Cred.May(i, MayWrite); e != 0 {
			return unix.EACCES
		}
	}
	now := ns.Now()
	for n, t := range [2]int64{atime, mtime} {
		switch t {
		case TimeKeep:
		case TimeNow:
			i.Touch(now, 1<<n)
		default:
			atomic.StoreInt64(i.time(n), t)
		}
	}
	i.Touch(now, Changed)
	return 0
}

// Readlink is the text of a symbolic link. EINVAL for anything else.
func (i *Inode) Readlink(c *Caller) ([]byte, Errno) {
	if !i.IsLink() {
		return nil, unix.EINVAL
	}
	if l, ok := i.Node.(Linker); ok {
		return l.Target(c, i)
	}
	return i.target, 0
}
