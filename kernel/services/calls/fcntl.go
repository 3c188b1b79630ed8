package calls

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// fcntl(2)'s commands that x/sys/unix lacks.
const (
	fGetOwnEx     = 16
	fDupfdQuery   = 1027
	fCreatedQuery = 1028
)

// ioctl(2)'s requests that any file has (asm-generic/ioctls.h).
const (
	fionread = 0x541b
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451
	fioasync = 0x5452
)

func sysFcntl(c *Call) int64 {
	fd, cmd, arg := c.DI, uint32(c.SI), c.DX
	f, e := c.file(fd, true)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if f.IsPath() {
		switch cmd {
		case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, fDupfdQuery, fCreatedQuery:
		default:
			return fail(unix.EBADF)
		}
	}
	switch cmd {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC:
		if uint64(uint32(arg)) >= c.P.openFiles() {
			return fail(unix.EINVAL)
		}
		return c.dupFrom(fd, uint64(uint32(arg)), cmd == unix.F_DUPFD_CLOEXEC)
	case unix.F_GETFD:
		on, e := c.P.files.CloseOnExec(uint64(uint32(fd)), nil)
		return result(when(on, unix.FD_CLOEXEC), e)
	case unix.F_SETFD:
		on := arg&unix.FD_CLOEXEC != 0
		_, e := c.P.files.CloseOnExec(uint64(uint32(fd)), &on)
		return fail(e)
	case unix.F_GETFL:
		return int64(f.Flags())
	case unix.F_SETFL:
		if uint32(arg)&unix.O_NOATIME != 0 && f.Flags()&unix.O_NOATIME == 0 && !c.who.Cred.Owns(f.Inode) {
			return fail(unix.EPERM)
		}
		f.SetFlags(uint32(arg))
		return 0
	case unix.F_GETLK, unix.F_OFD_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		return c.recordLock(f, cmd, arg)
	case unix.F_GETOWN:
		return int64(f.OwnerPID.Load())
	case unix.F_SETOWN:
		if int32(arg) == math.MinInt32 {
			return fail(unix.EINVAL)
		}
		f.OwnerPID.Store(int32(arg))
		return 0
	case fGetOwnEx:
		b := c.buf[:8]
		kind, id := uint32(1), f.OwnerPID.Load() // F_OWNER_PID
		if id < 0 {
			kind, id = 2, -id
		}
		binary.LittleEndian.PutUint32(b, kind)
		binary.LittleEndian.PutUint32(b[4:], uint32(id))
		return fail(usermem.Out(c.Mem, arg, b))
	case unix.F_GETSIG:
		return int64(f.Signal.Load())
	case unix.F_SETSIG:
		if uint32(arg) > 64 {
			return fail(unix.EINVAL)
		}
		f.Signal.Store(int32(arg))
		return 0
	case unix.F_GETLEASE:
		return unix.F_UNLCK
	case unix.F_ADD_SEALS:
		return c.addSeals(f, uint32(arg))
	case unix.F_GET_SEALS:
		if f.Inode.Data == nil {
			return fail(unix.EINVAL)
		}
		return int64(c.seals(f))
	case unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ:
		if f.Handle == 0 {
			return fail(unix.EBADF)
		}
		if _, ok := f.Ops.(*coreFile); !ok || f.Inode.Type() != unix.S_IFIFO {
			return fail(unix.EBADF)
		}
		return result(c.K.Machine.Control(f.Handle, uint64(cmd), arg))
	case unix.F_GET_RW_HINT, unix.F_GET_FILE_RW_HINT:
		return fail(usermem.PutUint64(c.Mem, c.buf[:], arg, 0))
	case fDupfdQuery:
		other, e := c.file(arg, true)
		if e != 0 {
			return fail(e)
		}
		defer other.Close()
		return when(other == f, 1)
	case fCreatedQuery:
		return 0
	case unix.F_NOTIFY:
		return fail(unix.ENOTDIR)
	}
	return fail(unix.EINVAL)
}

func when(on bool, value int64) int64 {
	if on {
		return value
	}
	return 0
}

// seals of a file that is no memfd are F_SEAL_SEAL, as of any file of tmpfs.
func (c *Call) seals(f *vfs.File) uint32 {
	if f.Inode.FS != c.K.anonymous {
		return unix.F_SEAL_SEAL
	}
	return atomic.LoadUint32(&f.Inode.Data.Head().Seals)
}

func (c *Call) addSeals(f *vfs.File, seals uint32) int64 {
	if f.Inode.Data == nil {
		return fail(unix.EINVAL)
	}
	if !f.Writable() {
		return fail(unix.EPERM)
	}
	if seals&^uint32(0x3f) != 0 {
		return fail(unix.EINVAL)
	}
	have := c.seals(f)
	if have&unix.F_SEAL_SEAL != 0 {
		return fail(unix.EPERM)
	}
	h := f.Inode.Data.Head()
	if seals&unix.F_SEAL_WRITE != 0 && have&unix.F_SEAL_WRITE == 0 && atomic.LoadUint64(&h.Writers) != 0 {
		return fail(unix.EBUSY)
	}
	atomic.StoreUint32(&h.Seals, have|seals)
	return 0
}

// recordLock serves F_GETLK and its kin. struct flock: type and whence as 16
// bits each, then start, length and pid at 8, 16 and 24.
func (c *Call) recordLock(f *vfs.File, cmd uint32, arg uint64) int64 {
	b := c.buf[:32]
	if e := usermem.In(c.Mem, b, arg); e != 0 {
		return fail(e)
	}
	le := binary.LittleEndian
	own := cmd >= unix.F_OFD_GETLK
	if kind := int16(le.Uint16(b)); cmd == unix.F_GETLK && kind != unix.F_RDLCK && kind != unix.F_WRLCK {
		return fail(unix.EINVAL)
	}
	l, e := c.flock(f, b, own)
	if e != 0 {
		return fail(e)
	}
	if cmd == unix.F_GETLK || cmd == unix.F_OFD_GETLK {
		if own && le.Uint32(b[24:]) != 0 {
			return fail(unix.EINVAL)
		}
		o, found := f.Inode.TestLock(l)
		if !found {
			le.PutUint16(b, unix.F_UNLCK)
		} else {
			le.PutUint16(b, uint16(o.Type))
			le.PutUint16(b[2:], unix.SEEK_SET)
			le.PutUint64(b[8:], uint64(o.Start))
			n := o.End - o.Start + 1
			if o.End == math.MaxInt64 {
				n = 0
			}
			le.PutUint64(b[16:], uint64(n))
			le.PutUint32(b[24:], uint32(o.PID))
		}
		return fail(usermem.Out(c.Mem, arg, b))
	}
	if l.Type == unix.F_RDLCK && !f.Readable() || l.Type == unix.F_WRLCK && !f.Writable() {
		return fail(unix.EBADF)
	}
	if own && le.Uint32(b[24:]) != 0 {
		return fail(unix.EINVAL)
	}
	e = f.Inode.SetLock(l)
	switch {
	case e == 0:
		c.K.unlocked() // a part of a lock, or a weaker one, may be free now
	case e == unix.EAGAIN && (cmd == unix.F_SETLKW || cmd == unix.F_OFD_SETLKW):
		return c.wait(c.K.LockWait, unix.POLLIN, 0)
	}
	return fail(e)
}

func (c *Call) flock(f *vfs.File, b []byte, own bool) (vfs.Lock, Errno) {
	le := binary.LittleEndian
	l := vfs.Lock{Type: int16(le.Uint16(b)), Start: int64(le.Uint64(b[8:])), Owner: c.P.files, PID: int32(c.P.PID)}
	n := int64(le.Uint64(b[16:]))
	if own {
		l.Owner, l.PID = f, -1
	}
	var base int64
	switch le.Uint16(b[2:]) {
	case unix.SEEK_SET:
	case unix.SEEK_CUR:
		base = f.Position()
	case unix.SEEK_END:
		base = f.Inode.Size()
	default:
		return l, unix.EINVAL
	}
	if l.Start > math.MaxInt64-base {
		return l, unix.EOVERFLOW
	}
	if l.Start += base; l.Start < 0 {
		return l, unix.EINVAL
	}
	switch {
	case n > 0:
		if n-1 > math.MaxInt64-l.Start {
			return l, unix.EOVERFLOW
		}
		l.End = l.Start + n - 1
	case n < 0:
		if l.Start+n < 0 {
			return l, unix.EINVAL
		}
		l.Start, l.End = l.Start+n, l.Start-1
	default:
		l.End = math.MaxInt64
	}
	if l.Type != unix.F_RDLCK && l.Type != unix.F_WRLCK && l.Type != unix.F_UNLCK {
		return l, unix.EINVAL
	}
	return l, 0
}

func sysFlock(c *Call) int64 {
	if c.SI&32 != 0 { // LOCK_MAND, which Linux ignores
		return 0
	}
	op := int(c.SI) &^ unix.LOCK_NB
	if op != unix.LOCK_SH && op != unix.LOCK_EX && op != unix.LOCK_UN {
		return fail(unix.EINVAL)
	}
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	if op != unix.LOCK_UN && !f.Readable() && !f.Writable() {
		return fail(unix.EBADF)
	}
	e = f.LockWhole(op)
	if op == unix.LOCK_UN || e != 0 {
		c.K.unlocked()
	}
	if e == unix.EAGAIN && c.SI&unix.LOCK_NB == 0 {
		return c.wait(c.K.LockWait, unix.POLLIN, 0)
	}
	return fail(e)
}

func sysIoctl(c *Call) int64 {
	f, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer f.Close()
	request, arg := uint32(c.SI), c.DX
	switch request {
	case fioclex, fionclex:
		on := request == fioclex
		_, e := c.P.files.CloseOnExec(uint64(uint32(c.DI)), &on)
		return fail(e)
	case fionbio, fioasync:
		if e := usermem.In(c.Mem, c.buf[:4], arg); e != 0 {
			return fail(e)
		}
		bit := uint32(unix.O_NONBLOCK)
		if request == fioasync {
			bit = unix.O_ASYNC
		}
		flags := f.Flags() &^ bit
		if binary.LittleEndian.Uint32(c.buf[:]) != 0 {
			flags |= bit
		}
		f.SetFlags(flags)
		return 0
	case fionread:
		if f.Inode.IsRegular() && f.Ops == nil {
			n := f.Inode.Size() - f.Position()
			return fail(usermem.PutUint32(c.Mem, c.buf[:], arg, uint32(n)))
		}
	}
	if k, ok := f.Ops.(vfs.Controller); ok {
		return result(k.Control(&c.who, f, c.Mem, request, arg))
	}
	return fail(unix.ENOTTY)
}
