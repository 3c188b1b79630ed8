package calls

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// coreFile is a pipe's end, an eventfd, a timerfd or an epoll: core serves
// it, and services only move bytes for the calls that core forwards.
type coreFile struct{ m Machine }

// IsStream implements vfs.Stream.
func (*coreFile) IsStream() {}

// Ready implements vfs.Pollable. Core has no handle for the readiness of a
// pipe's end that outlives the end, so a call that has to wait looks again
// after a while (Call.park). The plain read and write never come here.
func (o *coreFile) Ready(*vfs.File, bool) (uint64, uint32) { return 0, 0 }

func (o *coreFile) Read(f *vfs.File, v *usermem.Vector, _ int64) (int64, Errno) {
	return o.move(f, v, false)
}

func (o *coreFile) Write(f *vfs.File, v *usermem.Vector, _ int64) (int64, Errno) {
	return o.move(f, v, true)
}

// move hands core the parts of the vector, straight or, for a buffer of
// services, by its bytes.
func (o *coreFile) move(f *vfs.File, v *usermem.Vector, write bool) (done int64, e Errno) {
	for v.Left() > 0 {
		addr, n := v.Next(v.Left())
		if n == 0 {
			break
		}
		var got int
		if own, ok := v.Mem.(*usermem.Own); ok {
			got, e = o.m.TransferBytes(f.Handle, write, own.B[addr:addr+uint64(n)])
		} else {
			got, e = o.m.Transfer(f.Handle, write, addr, n)
		}
		if e != 0 {
			if done > 0 {
				return done, 0
			}
			return 0, e
		}
		v.Advance(got)
		done += int64(got)
		if got < n {
			break
		}
	}
	return done, 0
}

// Control implements vfs.Controller.
func (o *coreFile) Control(c *vfs.Caller, f *vfs.File, m usermem.Memory, request uint32, arg uint64) (int64, Errno) {
	n, e := o.m.Control(f.Handle, uint64(request), arg)
	if e == unix.EINVAL {
		e = unix.ENOTTY
	}
	return n, e
}

// newObject gives a descriptor to one of core's objects.
func (c *Call) newObject(o Object, name string, mode, flags uint32) (*vfs.File, Errno) {
	if e := c.K.count(); e != 0 {
		return nil, e
	}
	i := c.K.anonymous.MakeNode(mode, 0, nil, c.K.NS.Now())
	f := vfs.NewFile(c.K.NS, vfs.NewAnonymous(name, i), flags&^uint32(unix.O_CLOEXEC), c.K.core)
	f.Attach(o.Head, o.Handle)
	f.Detach = c.K.detach
	return f, 0
}

// give installs a new file at the lowest descriptor; release gives it up when
// that fails.
func (c *Call) give(f *vfs.File, cloexec bool) (int, Errno) {
	fd, e := c.P.files.Reserve(0, c.P.openFiles())
	if e != 0 {
		f.Close()
		return 0, e
	}
	return fd, c.P.files.Install(fd, f, cloexec)
}

// one makes a descriptor for an object that core has made.
func (c *Call) one(o Object, e Errno, name string, flags uint32) int64 {
	if e != 0 {
		return fail(e)
	}
	f, e := c.newObject(o, name, 0o600, unix.O_RDWR|flags)
	if e != 0 {
		c.K.Machine.Release(o.Handle)
		return fail(e)
	}
	fd, e := c.give(f, flags&unix.O_CLOEXEC != 0)
	return result(int64(fd), e)
}

func sysPipe(c *Call) int64  { return c.pipe(0) }
func sysPipe2(c *Call) int64 { return c.pipe(uint32(c.SI)) }

func (c *Call) pipe(flags uint32) int64 {
	if flags&^uint32(unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_DIRECT) != 0 {
		return fail(unix.EINVAL)
	}
	r, w, e := c.K.Machine.Pipe(flags &^ unix.O_CLOEXEC)
	if e != 0 {
		return fail(e)
	}
	name := "pipe:[" + decimal(c.K.pipes.Add(1)+4095) + "]"
	rf, e := c.newObject(r, name, unix.S_IFIFO|0o600, unix.O_RDONLY|flags)
	if e != 0 {
		c.K.Machine.Release(r.Handle)
		c.K.Machine.Release(w.Handle)
		return fail(e)
	}
	wf, e := c.newObject(w, name, unix.S_IFIFO|0o600, unix.O_WRONLY|flags)
	if e != 0 {
		rf.Close()
		c.K.Machine.Release(w.Handle)
		return fail(e)
	}
	cloexec := flags&unix.O_CLOEXEC != 0
	rfd, e := c.give(rf, cloexec)
	if e != 0 {
		wf.Close()
		return fail(e)
	}
	wfd, e := c.give(wf, cloexec)
	if e == 0 {
		b := c.buf[:8]
		b[0], b[1], b[2], b[3] = byte(rfd), byte(rfd>>8), byte(rfd>>16), byte(rfd>>24)
		b[4], b[5], b[6], b[7] = byte(wfd), byte(wfd>>8), byte(wfd>>16), byte(wfd>>24)
		if e = usermem.Out(c.Mem, c.DI, b); e != 0 {
			c.K.closeFile(c.P, c.P.files, c.P.files.Remove(uint64(wfd)))
		}
	}
	if e != 0 {
		c.K.closeFile(c.P, c.P.files, c.P.files.Remove(uint64(rfd)))
		return fail(e)
	}
	return 0
}

func sysEventfd(c *Call) int64  { return c.eventfd(0) }
func sysEventfd2(c *Call) int64 { return c.eventfd(uint32(c.SI)) }

func (c *Call) eventfd(flags uint32) int64 {
	if flags&^uint32(unix.EFD_CLOEXEC|unix.EFD_NONBLOCK|unix.EFD_SEMAPHORE) != 0 {
		return fail(unix.EINVAL)
	}
	o, e := c.K.Machine.Eventfd(uint64(uint32(c.DI)), flags)
	return c.one(o, e, "anon_inode:[eventfd]", flags&^uint32(unix.EFD_SEMAPHORE))
}

func sysTimerfdCreate(c *Call) int64 {
	clock, flags := int32(c.DI), uint32(c.SI)
	if flags&^uint32(unix.TFD_CLOEXEC|unix.TFD_NONBLOCK) != 0 {
		return fail(unix.EINVAL)
	}
	switch clock {
	case unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME, unix.CLOCK_REALTIME_ALARM, unix.CLOCK_BOOTTIME_ALARM:
	default:
		return fail(unix.EINVAL)
	}
	o, e := c.K.Machine.Timerfd(int(clock), flags)
	return c.one(o, e, "anon_inode:[timerfd]", flags)
}

func sysEpollCreate(c *Call) int64 {
	if int32(c.DI) <= 0 {
		return fail(unix.EINVAL)
	}
	o, e := c.K.Machine.Epoll(0)
	return c.one(o, e, "anon_inode:[eventpoll]", 0)
}

func sysEpollCreate1(c *Call) int64 {
	flags := uint32(c.DI)
	if flags&^uint32(unix.EPOLL_CLOEXEC) != 0 {
		return fail(unix.EINVAL)
	}
	o, e := c.K.Machine.Epoll(flags)
	return c.one(o, e, "anon_inode:[eventpoll]", flags)
}

func decimal(n uint64) string {
	var b [20]byte
	at := len(b)
	for {
		at--
		b[at] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[at:])
		}
	}
}
