package calls

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Release and Version are what uname(2) tells. The release is the Linux whose
// behaviour is followed, so that programs which ask for a minimum find it.
const (
	Release = "6.18.0-leveret"
	Version = "#1 SMP PREEMPT_DYNAMIC Leveret"
)

// sysUname: struct new_utsname, six strings of 65 bytes.
func sysUname(c *Call) int64 {
	const width = 65
	b := c.buf[:6*width]
	clear(b)
	for n, s := range [...]string{"Linux", c.K.Name(), Release, Version, "x86_64", "(none)"} {
		copy(b[n*width:(n+1)*width-1], s)
	}
	return fail(usermem.Out(c.Mem, c.DI, b))
}

// Name is the host's name.
func (k *Kernel) Name() string {
	if s := k.hostname.Load(); s != nil {
		return *s
	}
	return k.Hostname
}

func sysSethostname(c *Call) int64 {
	if c.who.Cred.EUID != 0 {
		return fail(unix.EPERM)
	}
	size := uint32(c.SI)
	if size > 64 {
		return fail(unix.EINVAL)
	}
	b := c.buf[:size]
	if e := usermem.In(c.Mem, b, c.DI); e != 0 {
		return fail(e)
	}
	s := string(b)
	c.K.hostname.Store(&s)
	return 0
}

// sysSysinfo: struct sysinfo, 112 bytes.
func sysSysinfo(c *Call) int64 {
	var m abi.MemoryInfo
	c.K.Machine.Memory(&m)
	b := c.buf[:112]
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, uint64(c.K.Machine.Monotonic()/second))
	le.PutUint64(b[32:], m.Total)
	le.PutUint64(b[40:], m.Free)
	le.PutUint64(b[48:], m.Objects)
	le.PutUint16(b[80:], uint16(c.K.Processes()))
	le.PutUint32(b[104:], 1)
	return fail(usermem.Out(c.Mem, c.DI, b))
}

// Processes counts the processes.
func (k *Kernel) Processes() (n int) {
	k.processes.Range(func(_, _ any) bool { n++; return true })
	return n
}

func sysGetrandom(c *Call) int64 {
	const known = unix.GRND_NONBLOCK | unix.GRND_RANDOM | unix.GRND_INSECURE
	flags := uint32(c.DX)
	if flags&^uint32(known) != 0 || flags&(unix.GRND_RANDOM|unix.GRND_INSECURE) == unix.GRND_RANDOM|unix.GRND_INSECURE {
		return fail(unix.EINVAL)
	}
	if e := c.vec.Set(c.Mem, c.DI, min(c.SI, 1<<25-1)); e != 0 {
		return fail(e)
	}
	var done int64
	for c.vec.Left() > 0 {
		b := c.buf[:min(c.vec.Left(), 4096)]
		c.K.Machine.Random(b)
		n, e := c.vec.Out(b)
		done += int64(n)
		if n < len(b) {
			return result(done, partially(done, e))
		}
	}
	return done
}

// Extended attributes: there are none.

func sysNoAttributes(*Call) int64 { return fail(unix.EOPNOTSUPP) }

func sysListxattr(c *Call) int64 {
	_, e := c.lookup(cwd, c.DI, vfs.Follow, 0)
	return fail(e)
}

func sysLlistxattr(c *Call) int64 {
	_, e := c.lookup(cwd, c.DI, 0, 0)
	return fail(e)
}

func sysFlistxattr(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	f.Close()
	return 0
}

// sysMount knows tmpfs, proc and sysfs.
func sysMount(c *Call) int64 {
	if c.who.Cred.EUID != 0 {
		return fail(unix.EPERM)
	}
	kind := ""
	if c.DX != 0 {
		s, e := usermem.String(c.Mem, c.pth2[:256], c.DX, unix.EINVAL)
		if e != 0 {
			return fail(e)
		}
		kind = string(s)
	}
	at, e := c.lookup(cwd, c.SI, vfs.Follow, 0)
	if e != 0 {
		return fail(e)
	}
	flags := c.R10
	switch {
	case flags&unix.MS_REMOUNT != 0:
		at.Inode().FS.Flags = at.Inode().FS.Flags&^unix.MS_RDONLY | flags&unix.MS_RDONLY
		return 0
	case flags&(unix.MS_PRIVATE|unix.MS_SLAVE|unix.MS_SHARED|unix.MS_UNBINDABLE) != 0:
		return 0
	case flags&(unix.MS_BIND|unix.MS_MOVE) != 0:
		return fail(unix.EINVAL)
	}
	if c.K.NewFileSystem == nil {
		return fail(unix.ENODEV)
	}
	fs := c.K.NewFileSystem(kind)
	if fs == nil {
		return fail(unix.ENODEV)
	}
	fs.Flags = flags & (unix.MS_RDONLY | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOSUID)
	return fail(c.K.NS.Mount(fs, at))
}

func sysUmount2(c *Call) int64 {
	if uint32(c.SI)&^uint32(unix.MNT_FORCE|unix.MNT_DETACH|unix.MNT_EXPIRE|unix.UMOUNT_NOFOLLOW) != 0 {
		return fail(unix.EINVAL)
	}
	if c.who.Cred.EUID != 0 {
		return fail(unix.EPERM)
	}
	e, errno := c.lookup(cwd, c.DI, vfs.Follow, 0)
	if errno != 0 {
		return fail(errno)
	}
	return fail(c.K.NS.Unmount(e))
}
