package calls

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

func sysGetdents64(c *Call) int64 { return c.readDir(false) }
func sysGetdents(c *Call) int64   { return c.readDir(true) }

func (c *Call) readDir(old bool) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	size := int(min(uint64(uint32(c.DX)), uint64(len(c.buf))))
	f.LockPosition()
	defer f.UnlockPosition()
	before := f.Position()
	b, e := f.ReadDir(&c.who, c.buf[:size:size], old)
	if e != 0 {
		return fail(e)
	}
	if e := usermem.Out(c.Mem, c.SI, b); e != 0 {
		f.SetPosition(before)
		return fail(e)
	}
	return int64(len(b))
}

func sysGetcwd(c *Call) int64 {
	reached, removed := c.K.NS.Reachable(c.who.Cwd, c.who.Root)
	if removed {
		return fail(unix.ENOENT)
	}
	b := c.buf[:0]
	if !reached {
		b = append(b, "(unreachable)"...)
	}
	b = append(c.K.NS.Path(b, c.who.Cwd, c.who.Root), 0)
	if len(b) > usermem.PathMax {
		return fail(unix.ENAMETOOLONG)
	}
	if uint64(len(b)) > c.SI {
		return fail(unix.ERANGE)
	}
	return result(int64(len(b)), usermem.Out(c.Mem, c.DI, b))
}

func sysChdir(c *Call) int64 {
	e, errno := c.lookup(cwd, c.DI, vfs.Follow|vfs.Directory, 0)
	if errno != 0 {
		return fail(errno)
	}
	return c.enter(e)
}

func sysFchdir(c *Call) int64 {
	f, e := c.file(c.DI, true)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if !f.Inode.IsDir() {
		return fail(unix.ENOTDIR)
	}
	return c.enter(f.Entry)
}

func (c *Call) enter(e *vfs.Entry) int64 {
	if errno := c.who.Cred.May(e.Inode(), vfs.MayExec); errno != 0 {
		return fail(errno)
	}
	c.P.Update(func(who *vfs.Caller) { who.Cwd = e })
	return 0
}

func sysChroot(c *Call) int64 {
	e, errno := c.lookup(cwd, c.DI, vfs.Follow|vfs.Directory, 0)
	if errno != 0 {
		return fail(errno)
	}
	if errno := c.who.Cred.May(e.Inode(), vfs.MayExec); errno != 0 {
		return fail(errno)
	}
	if c.who.Cred.EUID != 0 {
		return fail(unix.EPERM)
	}
	c.P.Update(func(who *vfs.Caller) { who.Root = e })
	return 0
}

func sysMkdir(c *Call) int64   { return c.make(cwd, c.DI, unix.S_IFDIR|uint32(c.SI)&0o7777, 0) }
func sysMkdirat(c *Call) int64 { return c.make(c.DI, c.SI, unix.S_IFDIR|uint32(c.DX)&0o7777, 0) }
func sysMknod(c *Call) int64   { return c.mknod(cwd, c.DI, uint32(c.SI), uint32(c.DX)) }
func sysMknodat(c *Call) int64 { return c.mknod(c.DI, c.SI, uint32(c.DX), uint32(c.R10)) }

// mknod: dev is in the encoding of the 32-bit dev_t, which is Linux's own.
func (c *Call) mknod(dirfd, addr uint64, mode, dev uint32) int64 {
	switch mode & unix.S_IFMT {
	case 0:
		mode |= unix.S_IFREG
	case unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
		dev = 0
	case unix.S_IFCHR, unix.S_IFBLK:
	case unix.S_IFDIR:
		return fail(unix.EPERM)
	default:
		return fail(unix.EINVAL)
	}
	return c.make(dirfd, addr, mode&(unix.S_IFMT|0o7777), uint64(dev))
}

func (c *Call) make(dirfd, addr uint64, mode uint32, dev uint64) int64 {
	path, e := c.name(addr)
	if e != 0 {
		return fail(e)
	}
	dir, e := c.at(dirfd, path)
	if len(path) == 0 {
		e = unix.ENOENT
	}
	if e != 0 {
		return fail(e)
	}
	return fail(c.K.NS.Make(&c.walk, &c.who, dir, path, mode, dev, nil))
}

func sysSymlink(c *Call) int64   { return c.symlink(c.DI, cwd, c.SI) }
func sysSymlinkat(c *Call) int64 { return c.symlink(c.DI, c.SI, c.DX) }

func (c *Call) symlink(target, dirfd, addr uint64) int64 {
	text, e := c.name2(target)
	if e == 0 && len(text) == 0 {
		e = unix.ENOENT
	}
	if e != 0 {
		return fail(e)
	}
	path, e := c.name(addr)
	if e != 0 {
		return fail(e)
	}
	if len(path) == 0 {
		return fail(unix.ENOENT)
	}
	dir, e := c.at(dirfd, path)
	if e != 0 {
		return fail(e)
	}
	return fail(c.K.NS.Make(&c.walk, &c.who, dir, path, unix.S_IFLNK, 0, text))
}

func sysLink(c *Call) int64   { return c.link(cwd, c.DI, cwd, c.SI, 0) }
func sysLinkat(c *Call) int64 { return c.link(c.DI, c.SI, c.DX, c.R10, uint32(c.R8)) }

func (c *Call) link(fromfd, from, dirfd, addr uint64, flags uint32) int64 {
	if flags&^uint32(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return fail(unix.EINVAL)
	}
	path, e := c.name2(addr)
	if e == 0 && len(path) == 0 {
		e = unix.ENOENT
	}
	how := 0
	if flags&unix.AT_SYMLINK_FOLLOW != 0 {
		how = vfs.Follow
	}
	old, errno := c.lookup(fromfd, from, how, flags)
	if errno != 0 {
		return fail(errno)
	}
	if e != 0 {
		return fail(e)
	}
	dir, e := c.at(dirfd, path)
	if e != 0 {
		return fail(e)
	}
	return fail(c.K.NS.Link(&c.to, &c.who, old, dir, path))
}

func sysUnlink(c *Call) int64 { return c.unlink(cwd, c.DI, false) }
func sysRmdir(c *Call) int64  { return c.unlink(cwd, c.DI, true) }

func sysUnlinkat(c *Call) int64 {
	flags := uint32(c.DX)
	if flags&^uint32(unix.AT_REMOVEDIR) != 0 {
		return fail(unix.EINVAL)
	}
	return c.unlink(c.DI, c.SI, flags != 0)
}

func (c *Call) unlink(dirfd, addr uint64, rmdir bool) int64 {
	path, e := c.name(addr)
	if e != 0 {
		return fail(e)
	}
	if len(path) == 0 {
		return fail(unix.ENOENT)
	}
	dir, e := c.at(dirfd, path)
	if e != 0 {
		return fail(e)
	}
	return fail(c.K.NS.Unlink(&c.walk, &c.who, dir, path, rmdir))
}

func sysRename(c *Call) int64    { return c.rename(cwd, c.DI, cwd, c.SI, 0) }
func sysRenameat(c *Call) int64  { return c.rename(c.DI, c.SI, c.DX, c.R10, 0) }
func sysRenameat2(c *Call) int64 { return c.rename(c.DI, c.SI, c.DX, c.R10, uint32(c.R8)) }

func (c *Call) rename(oldfd, oldAddr, newfd, newAddr uint64, flags uint32) int64 {
	if e := vfs.CheckRename(flags); e != 0 {
		return fail(e)
	}
	from, e := c.name(oldAddr)
	if e == 0 && len(from) == 0 {
		e = unix.ENOENT
	}
	if e != 0 {
		return fail(e)
	}
	oldDir, e := c.at(oldfd, from)
	if e != 0 {
		return fail(e)
	}
	to, e := c.name2(newAddr)
	if e == 0 && len(to) == 0 {
		e = unix.ENOENT
	}
	var newDir *vfs.Entry
	if e == 0 {
		newDir, e = c.at(newfd, to)
	}
	return fail(c.K.NS.Rename(&c.walk, &c.to, &c.who, oldDir, from, newDir, e, to, flags))
}
