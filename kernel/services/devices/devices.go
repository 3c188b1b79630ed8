// Package devices serves the character devices that are nothing but code:
// null, zero, full, random, urandom (mem(4), random(4)).
package devices

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Errno is 0 for success.
type Errno = vfs.Errno

// A Set finds what serves a device by its number, whatever file names it.
type Set map[uint64]vfs.Opener

// Find implements vfs.Devices. ENXIO when there is no such device.
func (s Set) Find(mode uint32, rdev uint64) (vfs.Opener, Errno) {
	if o := s[rdev]; o != nil && mode&unix.S_IFMT == unix.S_IFCHR {
		return o, 0
	}
	return nil, unix.ENXIO
}

// A Device is a name below /dev.
type Device struct {
	Name         string
	Major, Minor uint32
	Mode         uint32
}

// Standard lists the devices of Memory, and those of terminals.
var Standard = []Device{
	{"null", 1, 3, 0o666}, {"zero", 1, 5, 0o666}, {"full", 1, 7, 0o666}, {"random", 1, 8, 0o666}, {"urandom", 1, 9, 0o666},
	{"tty", 5, 0, 0o666}, {"console", 5, 1, 0o600}, {"ttyS0", 4, 64, 0o600},
}

// Memory makes the devices; random fills a buffer with random bytes.
func Memory(random func([]byte)) Set {
	return Set{
		unix.Mkdev(1, 3): node{null{}},
		unix.Mkdev(1, 5): node{zero{}},
		unix.Mkdev(1, 7): node{full{}},
		unix.Mkdev(1, 8): node{noise{random}},
		unix.Mkdev(1, 9): node{noise{random}},
	}
}

type node struct{ ops vfs.Ops }

func (n node) OpenNode(*vfs.Caller, *vfs.Inode, uint32) (vfs.Ops, Errno) { return n.ops, 0 }

type null struct{}

func (null) Read(*vfs.File, *usermem.Vector, int64) (int64, Errno) { return 0, 0 }
func (null) Write(_ *vfs.File, v *usermem.Vector, _ int64) (int64, Errno) {
	n := v.Left()
	v.Limit(0)
	return n, 0
}

// SeekFile implements vfs.Seekable: a position of 0 is all there is.
func (null) SeekFile(f *vfs.File, _ int64, _ int) (int64, Errno) {
	f.SetPosition(0)
	return 0, 0
}

var zeroes [4096]byte

type zero struct{ null }

func (zero) Read(_ *vfs.File, v *usermem.Vector, _ int64) (done int64, e Errno) {
	for v.Left() > 0 {
		n, e := v.Out(zeroes[:min(v.Left(), int64(len(zeroes)))])
		done += int64(n)
		if e != 0 || n == 0 {
			return done, partial(done, e)
		}
	}
	return done, 0
}

type full struct{ zero }

func (full) Write(_ *vfs.File, v *usermem.Vector, _ int64) (int64, Errno) {
	if v.Left() == 0 {
		return 0, 0
	}
	return 0, unix.ENOSPC
}

type noise struct{ random func([]byte) }

func (r noise) Read(_ *vfs.File, v *usermem.Vector, _ int64) (done int64, e Errno) {
	var b [256]byte
	for v.Left() > 0 {
		p := b[:min(v.Left(), int64(len(b)))]
		r.random(p)
		n, e := v.Out(p)
		done += int64(n)
		if n < len(p) {
			return done, partial(done, e)
		}
	}
	return done, 0
}

func (noise) Write(_ *vfs.File, v *usermem.Vector, _ int64) (int64, Errno) {
	n := v.Left()
	v.Limit(0)
	return n, 0
}

func partial(done int64, e Errno) Errno {
	if done > 0 {
		return 0
	}
	return e
}
