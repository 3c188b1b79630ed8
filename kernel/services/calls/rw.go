package calls

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/vfs"
)

func sysRead(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if !f.Readable() {
		return fail(unix.EBADF)
	}
	if e := c.vec.Set(c.Mem, c.SI, c.DX); e != 0 {
		return fail(e)
	}
	return c.readHere(f)
}

func sysWrite(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if !f.Writable() {
		return fail(unix.EBADF)
	}
	if e := c.vec.Set(c.Mem, c.SI, c.DX); e != 0 {
		return fail(e)
	}
	return c.writeHere(f)
}

// readHere reads vec at the file's position.
func (c *Call) readHere(f *vfs.File) int64 {
	if f.IsStream() {
		return c.readOr(f, -1)
	}
	f.LockPosition()
	defer f.UnlockPosition()
	at := f.Position()
	if at > 1<<63-1-c.vec.Left() {
		return fail(unix.EINVAL)
	}
	n := c.readOr(f, at)
	if n > 0 {
		f.SetPosition(at + n)
	}
	return n
}

// readOr reads at a position, or waits until there is something.
func (c *Call) readOr(f *vfs.File, at int64) int64 {
	n, e := f.ReadAt(&c.vec, at)
	if e == unix.EAGAIN && !f.Nonblocking() {
		if p, ok := f.Ops.(vfs.Pollable); ok {
			return c.park(f, p, false)
		}
	}
	return result(n, e)
}

func (c *Call) writeHere(f *vfs.File) int64 {
	if f.IsStream() {
		return c.writeStream(f)
	}
	f.LockPosition()
	defer f.UnlockPosition()
	at := f.Position()
	if at > 1<<63-1-c.vec.Left() {
		return fail(unix.EINVAL)
	}
	n, end := c.writeOr(f, at)
	if n > 0 {
		f.SetPosition(end)
	}
	return n
}

// writeStream writes vec to what has no positions, all of it unless the file
// does not block: State[3] counts what earlier tries of the call wrote.
func (c *Call) writeStream(f *vfs.File) int64 {
	done := int64(c.State[3])
	for left := done; left > 0; {
		_, n := c.vec.Next(left)
		if n == 0 {
			break
		}
		c.vec.Advance(n)
		left -= int64(n)
	}
	n, _, e := f.WriteAt(&c.vec, -1, c.P.fileSize())
	done += max(n, 0)
	if !f.Nonblocking() && (e == unix.EAGAIN || e == 0 && n > 0 && c.vec.Left() > 0) {
		if p, ok := f.Ops.(vfs.Pollable); ok {
			c.State[3], c.Cancelled = uint64(done), done
			return c.park(f, p, true)
		}
	}
	return result(done, partially(done, e))
}

func (c *Call) writeOr(f *vfs.File, at int64) (n, end int64) {
	n, end, e := f.WriteAt(&c.vec, at, c.P.fileSize())
	if e == unix.EAGAIN && !f.Nonblocking() {
		if p, ok := f.Ops.(vfs.Pollable); ok {
			return c.park(f, p, true), end
		}
	}
	return result(n, e), end
}

func sysPread(c *Call) int64  { return c.positioned(false, int64(c.R10)) }
func sysPwrite(c *Call) int64 { return c.positioned(true, int64(c.R10)) }

func (c *Call) positioned(write bool, at int64) int64 {
	if at < 0 {
		return fail(unix.EINVAL)
	}
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if f.IsStream() {
		return fail(unix.ESPIPE)
	}
	if write && !f.Writable() || !write && !f.Readable() {
		return fail(unix.EBADF)
	}
	if e := c.vec.Set(c.Mem, c.SI, c.DX); e != 0 {
		return fail(e)
	}
	return c.moveAt(f, write, at)
}

// moveAt reads or writes vec at a position.
func (c *Call) moveAt(f *vfs.File, write bool, at int64) int64 {
	if at > 1<<63-1-c.vec.Left() {
		return fail(unix.EINVAL)
	}
	if write {
		n, _ := c.writeOr(f, at)
		return n
	}
	return c.readOr(f, at)
}

func sysReadv(c *Call) int64    { return c.vectored(false, -1, true, 0) }
func sysWritev(c *Call) int64   { return c.vectored(true, -1, true, 0) }
func sysPreadv(c *Call) int64   { return c.vectored(false, int64(c.R10), false, 0) }
func sysPwritev(c *Call) int64  { return c.vectored(true, int64(c.R10), false, 0) }
func sysPreadv2(c *Call) int64  { return c.vectored2(false) }
func sysPwritev2(c *Call) int64 { return c.vectored2(true) }

// vectored2: position -1 is the file's own.
func (c *Call) vectored2(write bool) int64 {
	at := int64(c.R10)
	return c.vectored(write, at, at == -1, uint32(c.R9))
}

const (
	rwfKnown    = unix.RWF_HIPRI | unix.RWF_DSYNC | unix.RWF_SYNC | unix.RWF_NOWAIT | unix.RWF_APPEND | rwfNoAppend | rwfDontCache
	rwfNoAppend = 0x20
	// rwfDontCache and RWF_ATOMIC are known to Linux, but not to tmpfs.
	rwfDontCache = 0x80
)

func (c *Call) vectored(write bool, at int64, here bool, flags uint32) int64 {
	if !here && at < 0 {
		return fail(unix.EINVAL)
	}
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if !here && f.IsStream() {
		return fail(unix.ESPIPE)
	}
	if e := c.vec.Load(c.Mem, c.buf[:4096], c.SI, c.DX); e != 0 {
		return fail(e)
	}
	if write && !f.Writable() || !write && !f.Readable() {
		return fail(unix.EBADF)
	}
	if c.vec.Left() == 0 {
		return 0
	}
	if flags&^uint32(rwfKnown) != 0 || flags&rwfDontCache != 0 {
		return fail(unix.EOPNOTSUPP)
	}
	if flags&unix.RWF_APPEND != 0 && flags&rwfNoAppend != 0 {
		return fail(unix.EINVAL)
	}
	if flags&unix.RWF_APPEND != 0 && write && !f.IsStream() {
		return c.appendTo(f)
	}
	switch {
	case !here:
		return c.moveAt(f, write, at)
	case write:
		return c.writeHere(f)
	}
	return c.readHere(f)
}

// appendTo writes at the end whatever O_APPEND says (RWF_APPEND).
func (c *Call) appendTo(f *vfs.File) int64 {
	f.LockPosition()
	defer f.UnlockPosition()
	n, end := c.writeOr(f, f.Inode.Size())
	if n > 0 && int64(c.R10) == -1 {
		f.SetPosition(end)
	}
	return n
}

func sysLseek(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	whence := uint32(c.DX)
	if whence > unix.SEEK_HOLE {
		return fail(unix.EINVAL)
	}
	f.LockPosition()
	defer f.UnlockPosition()
	return result(f.SeekTo(int64(c.SI), int(whence)))
}
