package calls

import (
	"golang.org/x/sys/unix"
)

// Nothing is ever behind: what is written is where it stays. The calls check
// their arguments.

func sysFsync(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if f.IsStream() || f.Inode.Type() == unix.S_IFCHR {
		return fail(unix.EINVAL)
	}
	return 0
}

func sysSync(*Call) int64 { return 0 }

func sysSyncfs(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	f.Close()
	return 0
}

func sysSyncFileRange(c *Call) int64 {
	const known = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	off, n := int64(c.SI), int64(c.DX)
	if uint32(c.R10)&^uint32(known) != 0 || off < 0 || n < 0 || off+n < 0 {
		return fail(unix.EINVAL)
	}
	switch f.Inode.Type() {
	case unix.S_IFREG, unix.S_IFBLK, unix.S_IFDIR, unix.S_IFLNK:
		return 0
	}
	return fail(unix.ESPIPE)
}

func sysFadvise(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if f.Inode.Type() == unix.S_IFIFO {
		return fail(unix.ESPIPE)
	}
	if int64(c.DX) < 0 || uint32(c.R10) > unix.FADV_NOREUSE {
		return fail(unix.EINVAL)
	}
	return 0
}

func sysReadahead(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if !f.Readable() {
		return fail(unix.EBADF)
	}
	if !f.Inode.IsRegular() && f.Inode.Type() != unix.S_IFBLK {
		return fail(unix.EINVAL)
	}
	return 0
}
