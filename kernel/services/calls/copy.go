package calls

import (
	"math"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// position is where one side of a copy stands: at an offset that the caller
// keeps in memory, or at the file's own.
type position struct {
	addr uint64 // of the caller's offset, or 0
	at   int64
}

func (c *Call) position(f *vfs.File, addr uint64) (p position, e Errno) {
	p.addr = addr
	if f.IsStream() {
		if addr != 0 {
			return p, unix.ESPIPE
		}
		p.at = -1
		return p, 0
	}
	if addr == 0 {
		p.at = f.Position()
		return p, 0
	}
	v, e := usermem.Uint64(c.Mem, c.buf[:], addr)
	p.at = int64(v)
	return p, e
}

// settle stores where a side stands after n bytes.
func (c *Call) settle(f *vfs.File, p position, n int64) Errno {
	switch {
	case f.IsStream():
		return 0
	case p.addr == 0:
		if n > 0 {
			f.SetPosition(p.at + n)
		}
		return 0
	}
	return usermem.PutUint64(c.Mem, c.buf[:], p.addr, uint64(p.at+n))
}

// pump moves up to n bytes from one file to another through the buffer. What
// out does not take is not taken from in, but for a stream, of which then
// only as much is read as surely fits.
func (c *Call) pump(out, in *vfs.File, to, from int64, n int64) (done int64, e Errno) {
	own := usermem.Own{B: c.buf[:]}
	limit := c.P.fileSize()
	for done < n {
		k := min(n-done, int64(len(c.buf)))
		if in.IsStream() {
			k = min(k, 4096)
		}
		c.vec.Set(&own, 0, uint64(k))
		at := from
		if !in.IsStream() {
			at = from + done
		}
		got, e := in.ReadAt(&c.vec, at)
		if e != 0 || got == 0 {
			return done, partially(done, e)
		}
		c.vec2.Set(&own, 0, uint64(got))
		at = to
		if !out.IsStream() {
			at = to + done
		}
		put, _, e := out.WriteAt(&c.vec2, at, limit)
		done += put
		if e != 0 || put < got {
			return done, partially(done, e)
		}
	}
	return done, 0
}

func partially(done int64, e Errno) Errno {
	if done > 0 {
		return 0
	}
	return e
}

// copyStep is how many bytes one try of a copy moves: then the call is parked
// and forwarded again, so that a signal can end it and others have their turn.
const copyStep = 4 << 20

// breath is how long a call pauses between steps, in ns.
const breath = 50_000

// copyOr runs a step of a copy, and parks the call until the side that blocks
// is ready, or for the next step. State[3] counts what earlier steps moved,
// State[2] is what all shall move: a file may grow by the copy itself.
func (c *Call) copyOr(out, in *vfs.File, outAt, inAt position, n int64, nonblock bool) int64 {
	before := int64(c.State[3])
	if before > 0 {
		n = int64(c.State[2]) - before
	}
	step := min(n, copyStep)
	done, e := c.pump(out, in, outAt.at, inAt.at, step)
	if e == unix.EAGAIN && !nonblock && before == 0 {
		for _, side := range [...]struct {
			f     *vfs.File
			write bool
		}{{out, true}, {in, false}} {
			if p, ok := side.f.Ops.(vfs.Pollable); ok && !side.f.Nonblocking() {
				return c.park(side.f, p, side.write)
			}
		}
	}
	if e != 0 {
		return result(before, partially(before, e))
	}
	if e := c.settle(in, inAt, done); e != 0 {
		return fail(e)
	}
	if e := c.settle(out, outAt, done); e != 0 {
		return fail(e)
	}
	if done == step && step < n {
		return c.nextStep(before+done, before+n)
	}
	return before + done
}

// nextStep parks a call of which done bytes of all are moved: it is forwarded
// again soon, but for a signal, which makes it return done.
func (c *Call) nextStep(done, all int64) int64 {
	c.State[2], c.State[3], c.Cancelled = uint64(all), uint64(done), done
	return c.wait(0, 0, c.K.Machine.Monotonic()+breath)
}

// stepped is the result of a call that may be at a later step: what earlier
// ones moved counts, whatever happened since (its descriptor was closed).
func (c *Call) stepped(r int64) int64 {
	if r < 0 && r != waiting && c.State[3] > 0 {
		return int64(c.State[3])
	}
	return r
}

func sysSendfile(c *Call) int64      { return c.stepped(c.sendfile()) }
func sysCopyFileRange(c *Call) int64 { return c.stepped(c.copyFileRange()) }
func sysSplice(c *Call) int64        { return c.stepped(c.splice()) }

func (c *Call) sendfile() int64 {
	in, e := c.file(c.SI, false)
	if e != 0 || !in.Readable() {
		if e == 0 {
			in.Close()
		}
		return fail(unix.EBADF)
	}
	defer in.Close()
	if c.DX != 0 && in.IsStream() {
		return fail(unix.ESPIPE)
	}
	from, e := c.position(in, c.DX)
	if e != 0 {
		return fail(e)
	}
	if n := int64(min(c.R10, usermem.MaxTransfer)); !in.IsStream() && (from.at < 0 || from.at > math.MaxInt64-n) {
		return fail(unix.EINVAL)
	}
	out, e := c.file(c.DI, false)
	if e != 0 || !out.Writable() {
		if e == 0 {
			out.Close()
		}
		return fail(unix.EBADF)
	}
	defer out.Close()
	if in.IsStream() || out.Flags()&unix.O_APPEND != 0 {
		return fail(unix.EINVAL)
	}
	if c.R10 == 0 {
		return 0
	}
	if in.Inode.IsDir() {
		return fail(unix.EINVAL)
	}
	to, e := c.position(out, 0)
	if e != 0 {
		return fail(e)
	}
	return c.copyOr(out, in, to, from, int64(min(c.R10, usermem.MaxTransfer)), out.Nonblocking())
}

func (c *Call) copyFileRange() int64 {
	in, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer in.Close()
	out, e := c.file(c.DX, false)
	if e != 0 {
		return fail(e)
	}
	defer out.Close()
	from, e := c.offset(in, c.SI)
	if e != 0 {
		return fail(e)
	}
	to, e := c.offset(out, c.R10)
	if e != 0 {
		return fail(e)
	}
	if c.R9 != 0 {
		return fail(unix.EINVAL)
	}
	if in.Inode.IsDir() || out.Inode.IsDir() {
		return fail(unix.EISDIR)
	}
	if !in.Inode.IsRegular() || !out.Inode.IsRegular() {
		return fail(unix.EINVAL)
	}
	if !in.Readable() || !out.Writable() || out.Flags()&unix.O_APPEND != 0 {
		return fail(unix.EBADF)
	}
	if in.Inode.FS != out.Inode.FS {
		return fail(unix.EXDEV)
	}
	n := c.R8
	if from.at < 0 || to.at < 0 {
		return fail(unix.EINVAL)
	}
	if uint64(from.at)+n < n || uint64(to.at)+n < n {
		return fail(unix.EOVERFLOW)
	}
	if limit := min(c.P.fileSize(), math.MaxInt64); uint64(to.at) >= limit {
		return fail(unix.EFBIG)
	}
	n = min(n, uint64(max(in.Inode.Size()-from.at, 0)), uint64(math.MaxInt64-to.at), usermem.MaxTransfer)
	if c.State[3] > 0 {
		n = min(n, c.State[2]-c.State[3])
	}
	if in.Inode == out.Inode && from.at+int64(n) > to.at && from.at < to.at+int64(n) {
		return fail(unix.EINVAL)
	}
	if n == 0 {
		return int64(c.State[3])
	}
	return c.copyOr(out, in, to, from, int64(n), true)
}

// offset is position, for a file that may not be a stream: Linux copies the
// caller's offset before it looks at the file.
func (c *Call) offset(f *vfs.File, addr uint64) (p position, e Errno) {
	if addr == 0 {
		p.at = f.Position()
		return p, 0
	}
	v, e := usermem.Uint64(c.Mem, c.buf[:], addr)
	return position{addr, int64(v)}, e
}

func (c *Call) splice() int64 {
	n, flags := c.R8, uint32(c.R9)
	if n == 0 {
		return 0
	}
	if flags&^uint32(unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MORE|unix.SPLICE_F_GIFT) != 0 {
		return fail(unix.EINVAL)
	}
	in, e := c.file(c.DI, false)
	if e != 0 {
		return fail(e)
	}
	defer in.Close()
	out, e := c.file(c.DX, false)
	if e != 0 {
		return fail(e)
	}
	defer out.Close()
	inPipe, outPipe := in.Inode.Type() == unix.S_IFIFO, out.Inode.Type() == unix.S_IFIFO
	if inPipe && c.SI != 0 || outPipe && c.R10 != 0 {
		return fail(unix.ESPIPE)
	}
	if !in.Readable() || !out.Writable() {
		return fail(unix.EBADF)
	}
	if !inPipe && !outPipe || inPipe && outPipe && in.Entry.Inode() == out.Entry.Inode() {
		return fail(unix.EINVAL)
	}
	if !outPipe && out.Flags()&unix.O_APPEND != 0 || in.Inode.IsDir() {
		return fail(unix.EINVAL)
	}
	from, e := c.position(in, c.SI)
	if e != 0 {
		return fail(e)
	}
	to, e := c.position(out, c.R10)
	if e != 0 {
		return fail(e)
	}
	if !inPipe && from.at < 0 && !in.IsStream() || !outPipe && to.at < 0 && !out.IsStream() {
		return fail(unix.EINVAL)
	}
	return c.copyOr(out, in, to, from, int64(min(n, usermem.MaxTransfer)), flags&unix.SPLICE_F_NONBLOCK != 0)
}
