package calls

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

func sysOpen(c *Call) int64 {
	at := int64(unix.AT_FDCWD)
	return c.open(uint64(at), c.DI, vfs.LegacyHow(uint32(c.SI), uint32(c.DX)))
}

func sysCreat(c *Call) int64 {
	at := int64(unix.AT_FDCWD)
	return c.open(uint64(at), c.DI, vfs.LegacyHow(unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(c.SI)))
}

func sysOpenat(c *Call) int64 {
	return c.open(c.DI, c.SI, vfs.LegacyHow(uint32(c.DX), uint32(c.R10)))
}

const resolveCached = 0x20 // RESOLVE_CACHED

// sysOpenat2: struct open_how is flags, mode, resolve; a longer one must be
// zero beyond (copy_struct_from_user of Linux).
func sysOpenat2(c *Call) int64 {
	n := c.R10
	if n < 24 {
		return fail(unix.EINVAL)
	}
	if n > 4096 {
		return fail(unix.E2BIG)
	}
	b := c.buf[:n]
	if e := usermem.In(c.Mem, b, c.DX); e != 0 {
		return fail(e)
	}
	for _, x := range b[24:] {
		if x != 0 {
			return fail(unix.E2BIG)
		}
	}
	flags, mode, resolve := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	const known = unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH | unix.RESOLVE_IN_ROOT | resolveCached
	if flags>>32 != 0 || mode>>32 != 0 || resolve&^known != 0 {
		return fail(unix.EINVAL)
	}
	how := vfs.How{Flags: uint32(flags), Mode: uint32(mode)}
	for _, r := range [...]struct{ linux, ours int }{{unix.RESOLVE_NO_XDEV, vfs.NoXDev}, {unix.RESOLVE_NO_MAGICLINKS, vfs.NoMagic},
		{unix.RESOLVE_NO_SYMLINKS, vfs.NoLinks | vfs.NoMagic}, {unix.RESOLVE_BENEATH, vfs.Beneath}, {unix.RESOLVE_IN_ROOT, vfs.InRoot}} {
		if resolve&uint64(r.linux) != 0 {
			how.Resolve |= r.ours
		}
	}
	return c.open(c.DI, c.SI, how)
}

func (c *Call) open(dirfd, addr uint64, how vfs.How) int64 {
	if e := how.Check(); e != 0 {
		return fail(e)
	}
	path, e := c.name(addr)
	if e != 0 {
		return fail(e)
	}
	if len(path) == 0 {
		return fail(unix.ENOENT)
	}
	t := c.P.files
	fd, e := t.Reserve(0, c.P.openFiles())
	if e != 0 {
		return fail(e)
	}
	f, e := c.openFile(dirfd, path, how)
	if e != 0 {
		t.Cancel(fd)
		return fail(e)
	}
	if f.Inode.Type() == unix.S_IFIFO && !f.IsPath() {
		wait, e := c.openFIFO(f)
		if wait || e != 0 {
			f.Close()
			t.Cancel(fd)
			if wait {
				return c.wait(c.K.LockWait, unix.POLLIN, c.K.Machine.Monotonic()+renew)
			}
			return fail(e)
		}
	}
	if e := t.Install(fd, f, how.Flags&unix.O_CLOEXEC != 0); e != 0 {
		return fail(e)
	}
	return int64(fd)
}

func (c *Call) openFile(dirfd uint64, path []byte, how vfs.How) (*vfs.File, Errno) {
	dir, e := c.at(dirfd, path)
	if e != 0 {
		return nil, e
	}
	if e := c.K.count(); e != 0 {
		return nil, e
	}
	f, e := c.K.NS.Open(&c.walk, &c.who, dir, path, how)
	if e != 0 {
		c.K.files.Add(-1)
		return nil, e
	}
	f.Detach = c.K.detach
	return f, 0
}

// count charges the system with an open file: ENFILE.
func (k *Kernel) count() Errno {
	if k.files.Add(1) > k.MaxFiles {
		k.files.Add(-1)
		return unix.ENFILE
	}
	return 0
}

func sysClose(c *Call) int64 {
	f := c.P.files.Remove(uint64(uint32(c.DI)))
	if f == nil {
		return fail(unix.EBADF)
	}
	c.K.closeFile(c.P, c.P.files, f)
	return 0
}

func sysCloseRange(c *Call) int64 {
	first, last, flags := uint32(c.DI), uint32(c.SI), uint32(c.DX)
	if flags&^uint32(unix.CLOSE_RANGE_UNSHARE|unix.CLOSE_RANGE_CLOEXEC) != 0 || first > last {
		return fail(unix.EINVAL)
	}
	t, on := c.P.files, true
	for fd := uint64(first); fd <= uint64(last); fd++ {
		n, f := t.Next(fd)
		if n < 0 || uint64(n) > uint64(last) {
			if f != nil {
				f.Close()
			}
			break
		}
		f.Close()
		fd = uint64(n)
		if flags&unix.CLOSE_RANGE_CLOEXEC != 0 {
			t.CloseOnExec(fd, &on)
		} else if f := t.Remove(fd); f != nil {
			c.K.closeFile(c.P, t, f)
		}
	}
	return 0
}

func sysDup(c *Call) int64 {
	return c.dupFrom(c.DI, 0, false)
}

// dupFrom makes the lowest free descriptor from on refer to the same file.
func (c *Call) dupFrom(fd, from uint64, cloexec bool) int64 {
	f, e := c.file(fd, true)
	if e != 0 {
		return fail(e)
	}
	n, e := c.P.files.Reserve(from, c.P.openFiles())
	if e != 0 {
		f.Close()
		return fail(e)
	}
	return result(int64(n), c.P.files.Install(n, f, cloexec))
}

func sysDup2(c *Call) int64 {
	if uint32(c.DI) == uint32(c.SI) {
		f, e := c.file(c.DI, true)
		if e != 0 {
			return fail(e)
		}
		f.Close()
		return int64(uint32(c.SI))
	}
	return c.dupTo(c.DI, c.SI, false)
}

func sysDup3(c *Call) int64 {
	flags := uint32(c.DX)
	if flags&^uint32(unix.O_CLOEXEC) != 0 || uint32(c.DI) == uint32(c.SI) {
		return fail(unix.EINVAL)
	}
	return c.dupTo(c.DI, c.SI, flags != 0)
}

func (c *Call) dupTo(fd, to uint64, cloexec bool) int64 {
	to = uint64(uint32(to))
	if to >= c.P.openFiles() {
		return fail(unix.EBADF)
	}
	f, e := c.file(fd, true)
	if e != 0 {
		return fail(e)
	}
	old, e := c.P.files.Replace(int(to), f, cloexec)
	if e != 0 {
		f.Close()
		return fail(e)
	}
	if old != nil {
		c.K.closeFile(c.P, c.P.files, old)
	}
	return int64(to)
}

func sysMemfdCreate(c *Call) int64 {
	flags := uint32(c.SI)
	const known = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING | unix.MFD_NOEXEC_SEAL | unix.MFD_EXEC
	if flags&^uint32(known) != 0 || flags&unix.MFD_EXEC != 0 && flags&unix.MFD_NOEXEC_SEAL != 0 {
		return fail(unix.EINVAL)
	}
	const longest = 249 // MFD_NAME_MAX_LEN
	name, e := usermem.String(c.Mem, c.path[:longest+1], c.DI, unix.EINVAL)
	if e != 0 {
		return fail(e)
	}
	t := c.P.files
	fd, e := t.Reserve(0, c.P.openFiles())
	if e != 0 {
		return fail(e)
	}
	f, e := c.memfd(string(name), flags)
	if e != 0 {
		t.Cancel(fd)
		return fail(e)
	}
	if e := t.Install(fd, f, flags&unix.MFD_CLOEXEC != 0); e != 0 {
		return fail(e)
	}
	return int64(fd)
}

func (c *Call) memfd(name string, flags uint32) (*vfs.File, Errno) {
	if e := c.K.count(); e != 0 {
		return nil, e
	}
	mode := uint32(unix.S_IFREG | 0o777)
	if flags&unix.MFD_NOEXEC_SEAL != 0 {
		mode = unix.S_IFREG | 0o666
	}
	i, e := c.K.anonymous.MakeAnonymous(&c.who, mode, c.K.NS.Now())
	if e != 0 {
		c.K.files.Add(-1)
		return nil, e
	}
	seals := uint32(unix.F_SEAL_SEAL)
	if flags&unix.MFD_NOEXEC_SEAL != 0 {
		seals = 0x20 // F_SEAL_EXEC
	} else if flags&unix.MFD_ALLOW_SEALING != 0 {
		seals = 0
	}
	i.Data.Head().Seals = seals
	f := vfs.NewFile(c.K.NS, vfs.NewAnonymous("/memfd:"+name, i), unix.O_RDWR|0x8000, nil)
	f.Detach = c.K.detach
	return f, 0
}
