package calls

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

const cwd = 1<<64 - 100 // AT_FDCWD as an argument

const (
	atStatxSyncType    = 0x6000 // AT_STATX_SYNC_TYPE
	statxMountIDUnique = 0x4000 // STATX_MNT_ID_UNIQUE
)

func sysStat(c *Call) int64  { return c.statPath(cwd, c.DI, vfs.Follow, 0, c.SI) }
func sysLstat(c *Call) int64 { return c.statPath(cwd, c.DI, 0, 0, c.SI) }

func sysFstat(c *Call) int64 {
	f, e := c.file(c.DI, true)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	return c.putStat(f.Inode, c.SI)
}

func sysNewfstatat(c *Call) int64 {
	flags := uint32(c.R10)
	if flags&^uint32(unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT|unix.AT_EMPTY_PATH|atStatxSyncType) != 0 {
		// An empty path with AT_EMPTY_PATH alone is fstat; with more, Linux
		// looks at the flags.
		return fail(unix.EINVAL)
	}
	return c.statPath(c.DI, c.SI, followUnless(flags), flags, c.DX)
}

// followUnless turns AT_SYMLINK_NOFOLLOW into how to walk.
func followUnless(flags uint32) int {
	if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		return 0
	}
	return vfs.Follow
}

func (c *Call) statPath(dirfd, addr uint64, how int, flags uint32, to uint64) int64 {
	e, errno := c.lookup(dirfd, addr, how, flags)
	if errno != 0 {
		return fail(errno)
	}
	return c.putStat(e.Inode(), to)
}

const second = 1_000_000_000

// split cuts ns into seconds and the rest, which is never negative.
func split(ns int64) (sec, nsec uint64) {
	s := ns / second
	if ns%second < 0 {
		s--
	}
	return uint64(s), uint64(ns - s*second)
}

// putStat writes struct stat of x86_64: 144 bytes.
func (c *Call) putStat(i *vfs.Inode, addr uint64) int64 {
	var s vfs.Stat
	i.Stat(&s)
	b := c.buf[:144]
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, s.Dev)
	le.PutUint64(b[8:], s.Ino)
	le.PutUint64(b[16:], uint64(s.Nlink))
	le.PutUint32(b[24:], s.Mode)
	le.PutUint32(b[28:], s.UID)
	le.PutUint32(b[32:], s.GID)
	le.PutUint64(b[40:], s.Rdev)
	le.PutUint64(b[48:], uint64(s.Size))
	le.PutUint64(b[56:], 4096)
	le.PutUint64(b[64:], uint64(s.Blocks))
	for n, t := range [3]int64{s.Atime, s.Mtime, s.Ctime} {
		sec, nsec := split(t)
		le.PutUint64(b[72+16*n:], sec)
		le.PutUint64(b[80+16*n:], nsec)
	}
	return fail(usermem.Out(c.Mem, addr, b))
}

func sysStatx(c *Call) int64 {
	flags, mask := uint32(c.DX), uint32(c.R10)
	empty := flags&unix.AT_EMPTY_PATH != 0 && c.SI == 0
	if !empty && flags&unix.AT_EMPTY_PATH != 0 {
		p, e := c.name(c.SI)
		if e != 0 {
			return fail(e)
		}
		empty = len(p) == 0
	}
	if mask&unix.STATX__RESERVED != 0 || flags&atStatxSyncType == atStatxSyncType {
		return fail(unix.EINVAL)
	}
	if flags&^uint32(unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT|unix.AT_EMPTY_PATH|atStatxSyncType) != 0 && (!empty || int32(c.DI) == unix.AT_FDCWD) {
		return fail(unix.EINVAL)
	}
	e, errno := c.lookup(c.DI, c.SI, followUnless(flags), flags)
	if errno != 0 {
		return fail(errno)
	}
	var s vfs.Stat
	e.Inode().Stat(&s)
	b := c.buf[:256]
	clear(b)
	le := binary.LittleEndian
	have := unix.STATX_BASIC_STATS | mask&unix.STATX_BTIME
	if mask&statxMountIDUnique != 0 {
		have |= statxMountIDUnique
	} else {
		have |= unix.STATX_MNT_ID
	}
	if mask&(unix.STATX_MTIME|unix.STATX_CTIME) == 0 {
		have &^= unix.STATX_MTIME | unix.STATX_CTIME
	}
	le.PutUint32(b, have)
	le.PutUint32(b[4:], 4096)
	if s.Root {
		le.PutUint64(b[8:], unix.STATX_ATTR_MOUNT_ROOT)
	}
	le.PutUint32(b[16:], s.Nlink)
	le.PutUint32(b[20:], s.UID)
	le.PutUint32(b[24:], s.GID)
	le.PutUint16(b[28:], uint16(s.Mode))
	le.PutUint64(b[32:], s.Ino)
	le.PutUint64(b[40:], uint64(s.Size))
	le.PutUint64(b[48:], uint64(s.Blocks))
	le.PutUint64(b[56:], unix.STATX_ATTR_MOUNT_ROOT|unix.STATX_ATTR_IMMUTABLE|unix.STATX_ATTR_APPEND|unix.STATX_ATTR_NODUMP)
	for n, t := range [4]int64{s.Atime, s.Btime, s.Ctime, s.Mtime} {
		if n == 1 && have&unix.STATX_BTIME == 0 {
			continue
		}
		sec, nsec := split(t)
		le.PutUint64(b[64+16*n:], sec)
		le.PutUint32(b[72+16*n:], uint32(nsec))
	}
	le.PutUint32(b[128:], unix.Major(s.Rdev))
	le.PutUint32(b[132:], unix.Minor(s.Rdev))
	le.PutUint32(b[136:], unix.Major(s.Dev))
	le.PutUint32(b[140:], unix.Minor(s.Dev))
	le.PutUint64(b[144:], s.Mount)
	return fail(usermem.Out(c.Mem, c.R8, b))
}

func sysAccess(c *Call) int64    { return c.access(cwd, c.DI, uint32(c.SI), 0) }
func sysFaccessat(c *Call) int64 { return c.access(c.DI, c.SI, uint32(c.DX), 0) }
func sysFaccessat2(c *Call) int64 {
	return c.access(c.DI, c.SI, uint32(c.DX), uint32(c.R10))
}

func (c *Call) access(dirfd, addr uint64, mode, flags uint32) int64 {
	if mode&^uint32(7) != 0 || flags&^uint32(unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return fail(unix.EINVAL)
	}
	if flags&unix.AT_EACCESS == 0 && (c.who.Cred.UID != c.who.Cred.FSUID || c.who.Cred.GID != c.who.Cred.FSGID) {
		real := *c.who.Cred
		real.FSUID, real.FSGID = real.UID, real.GID
		c.who.Cred = &real
	}
	e, errno := c.lookup(dirfd, addr, followUnless(flags), flags)
	if errno != 0 {
		return fail(errno)
	}
	i := e.Inode()
	if mode&unix.W_OK != 0 && i.FS.Flags&unix.MS_RDONLY != 0 && (i.IsRegular() || i.IsDir() || i.IsLink()) {
		return fail(unix.EROFS)
	}
	if mode == 0 {
		return 0
	}
	return fail(c.who.Cred.May(i, mode))
}

func sysReadlink(c *Call) int64   { return c.readlink(cwd, c.DI, c.SI, c.DX) }
func sysReadlinkat(c *Call) int64 { return c.readlink(c.DI, c.SI, c.DX, c.R10) }

func (c *Call) readlink(dirfd, addr, to, size uint64) int64 {
	if int32(size) <= 0 {
		return fail(unix.EINVAL)
	}
	path, errno := c.name(addr)
	if errno != 0 {
		return fail(errno)
	}
	var e *vfs.Entry
	if len(path) == 0 {
		// A descriptor of O_PATH on a link names the link.
		if e, errno = c.self(dirfd); errno == 0 && (int32(dirfd) == unix.AT_FDCWD || !e.Inode().IsLink()) {
			errno = unix.ENOENT
		}
	} else {
		e, errno = c.lookup(dirfd, addr, 0, 0)
	}
	if errno != 0 {
		return fail(errno)
	}
	text, errno := e.Inode().Readlink(&c.who)
	if errno != 0 {
		return fail(errno)
	}
	text = text[:min(uint64(len(text)), uint64(uint32(size)))]
	return result(int64(len(text)), usermem.Out(c.Mem, to, text))
}

func sysStatfs(c *Call) int64 {
	e, errno := c.lookup(cwd, c.DI, vfs.Follow, 0)
	if errno != 0 {
		return fail(errno)
	}
	return c.putStatfs(e.Inode().FS, c.SI)
}

func sysFstatfs(c *Call) int64 {
	f, e := c.file(c.DI, true)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	return c.putStatfs(f.Inode.FS, c.SI)
}

// putStatfs writes struct statfs: 120 bytes.
func (c *Call) putStatfs(fs *vfs.FileSystem, addr uint64) int64 {
	b := c.buf[:120]
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, uint64(fs.Magic))
	le.PutUint64(b[8:], 4096)
	if fs.Space != nil {
		total, free := fs.Space()
		le.PutUint64(b[16:], uint64(total/4096))
		le.PutUint64(b[24:], uint64(free/4096))
		le.PutUint64(b[32:], uint64(free/4096))
	}
	if fs.MaxInodes != 0 {
		le.PutUint64(b[40:], uint64(fs.MaxInodes))
		le.PutUint64(b[48:], uint64(fs.MaxInodes-fs.Inodes()))
	}
	le.PutUint64(b[56:], fs.Dev)
	le.PutUint64(b[64:], vfs.NameMax)
	le.PutUint64(b[72:], 4096)
	const valid = 0x20 // ST_VALID
	const noatime = 0x400
	le.PutUint64(b[80:], valid|noatime|fs.Flags&(unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC))
	return fail(usermem.Out(c.Mem, addr, b))
}
