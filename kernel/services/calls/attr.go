package calls

import (
	"encoding/binary"
	"math"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

func sysChmod(c *Call) int64    { return c.chmod(cwd, c.DI, uint32(c.SI), 0) }
func sysFchmodat(c *Call) int64 { return c.chmod(c.DI, c.SI, uint32(c.DX), 0) }

func sysFchmodat2(c *Call) int64 {
	return c.chmod(c.DI, c.SI, uint32(c.DX), uint32(c.R10))
}

func (c *Call) chmod(dirfd, addr uint64, mode, flags uint32) int64 {
	if flags&^uint32(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return fail(unix.EINVAL)
	}
	e, errno := c.lookup(dirfd, addr, followUnless(flags), flags)
	if errno != 0 {
		return fail(errno)
	}
	return fail(e.Inode().Chmod(c.K.NS, &c.who, mode))
}

func sysFchmod(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	return fail(f.Inode.Chmod(c.K.NS, &c.who, uint32(c.SI)))
}

func sysChown(c *Call) int64  { return c.chown(cwd, c.DI, c.SI, c.DX, 0) }
func sysLchown(c *Call) int64 { return c.chown(cwd, c.DI, c.SI, c.DX, unix.AT_SYMLINK_NOFOLLOW) }

func sysFchownat(c *Call) int64 {
	return c.chown(c.DI, c.SI, c.DX, c.R10, uint32(c.R8))
}

func (c *Call) chown(dirfd, addr, uid, gid uint64, flags uint32) int64 {
	if flags&^uint32(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return fail(unix.EINVAL)
	}
	e, errno := c.lookup(dirfd, addr, followUnless(flags), flags)
	if errno != 0 {
		return fail(errno)
	}
	return fail(e.Inode().Chown(c.K.NS, &c.who, uint32(uid), uint32(gid)))
}

func sysFchown(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	return fail(f.Inode.Chown(c.K.NS, &c.who, uint32(c.SI), uint32(c.DX)))
}

// sysUtimensat: two struct timespec; a path of 0 is the descriptor's file.
func sysUtimensat(c *Call) int64 {
	times := [2]int64{vfs.TimeNow, vfs.TimeNow}
	if c.DX != 0 {
		b := c.buf[:32]
		if e := usermem.In(c.Mem, b, c.DX); e != 0 {
			return fail(e)
		}
		for n := range times {
			sec, nsec := int64(binary.LittleEndian.Uint64(b[16*n:])), int64(binary.LittleEndian.Uint64(b[16*n+8:]))
			switch {
			case nsec == unix.UTIME_NOW:
			case nsec == unix.UTIME_OMIT:
				times[n] = vfs.TimeKeep
			case nsec < 0 || nsec >= second:
				return fail(unix.EINVAL)
			default:
				times[n] = join(sec, nsec)
			}
		}
		if times[0] == vfs.TimeKeep && times[1] == vfs.TimeKeep {
			return 0
		}
	}
	flags := uint32(c.R10)
	if c.SI == 0 && int32(c.DI) != unix.AT_FDCWD && flags&unix.AT_EMPTY_PATH == 0 {
		if flags != 0 {
			return fail(unix.EINVAL)
		}
		f, e := c.file(c.DI, false)
		if e != 0 {
			return fail(e)
		}
		defer f.Close()
		return fail(f.Inode.SetTimes(c.K.NS, &c.who, times[0], times[1]))
	}
	return c.utimes(c.DI, c.SI, times, flags)
}

// join makes ns, within what 64 bits hold.
func join(sec, nsec int64) int64 {
	const most = math.MaxInt64/second - 1
	return min(max(sec, -most), most)*second + nsec
}

func (c *Call) utimes(dirfd, addr uint64, times [2]int64, flags uint32) int64 {
	if flags&^uint32(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return fail(unix.EINVAL)
	}
	e, errno := c.lookup(dirfd, addr, followUnless(flags), flags)
	if errno != 0 {
		return fail(errno)
	}
	return fail(e.Inode().SetTimes(c.K.NS, &c.who, times[0], times[1]))
}

// sysUtime: struct utimbuf, seconds alone.
func sysUtime(c *Call) int64 {
	times := [2]int64{vfs.TimeNow, vfs.TimeNow}
	if c.SI != 0 {
		b := c.buf[:16]
		if e := usermem.In(c.Mem, b, c.SI); e != 0 {
			return fail(e)
		}
		times[0], times[1] = join(int64(binary.LittleEndian.Uint64(b)), 0), join(int64(binary.LittleEndian.Uint64(b[8:])), 0)
	}
	return c.utimes(cwd, c.DI, times, 0)
}

func sysUtimes(c *Call) int64    { return c.timevals(cwd, c.DI, c.SI) }
func sysFutimesat(c *Call) int64 { return c.timevals(c.DI, c.SI, c.DX) }

// timevals: two struct timeval, microseconds.
func (c *Call) timevals(dirfd, addr, at uint64) int64 {
	times := [2]int64{vfs.TimeNow, vfs.TimeNow}
	if at != 0 {
		b := c.buf[:32]
		if e := usermem.In(c.Mem, b, at); e != 0 {
			return fail(e)
		}
		for n := range times {
			usec := int64(binary.LittleEndian.Uint64(b[16*n+8:]))
			if usec < 0 || usec >= 1_000_000 {
				return fail(unix.EINVAL)
			}
			times[n] = join(int64(binary.LittleEndian.Uint64(b[16*n:])), usec*1000)
		}
	}
	return c.utimes(dirfd, addr, times, 0)
}

func sysTruncate(c *Call) int64 {
	size := int64(c.SI)
	if size < 0 {
		return fail(unix.EINVAL)
	}
	e, errno := c.lookup(cwd, c.DI, vfs.Follow, 0)
	if errno != 0 {
		return fail(errno)
	}
	i := e.Inode()
	if i.IsDir() {
		return fail(unix.EISDIR)
	}
	if !i.IsRegular() {
		return fail(unix.EINVAL)
	}
	if i.FS.Flags&unix.MS_RDONLY != 0 {
		return fail(unix.EROFS)
	}
	if errno := c.who.Cred.May(i, vfs.MayWrite); errno != 0 {
		return fail(errno)
	}
	if i.Runs() {
		return fail(unix.ETXTBSY)
	}
	if !i.Acquire() {
		return fail(unix.ENOENT)
	}
	defer i.Release()
	return fail(i.Truncate(c.K.NS, size, c.P.fileSize()))
}

func sysFtruncate(c *Call) int64 {
	size := int64(c.SI)
	if size < 0 {
		return fail(unix.EINVAL)
	}
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if !f.Inode.IsRegular() || !f.Writable() {
		return fail(unix.EINVAL)
	}
	return fail(f.Inode.Truncate(c.K.NS, size, c.P.fileSize()))
}

func sysFallocate(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	return fail(f.Allocate(uint32(c.SI), int64(c.DX), int64(c.R10), c.P.fileSize()))
}

func sysUmask(c *Call) int64 {
	old := c.who.Umask
	c.P.Update(func(who *vfs.Caller) { old, who.Umask = who.Umask, uint32(c.DI)&0o777 })
	return int64(old)
}
