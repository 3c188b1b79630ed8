//go:build amd64

package hyper

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	obj "github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/ring0"
	"github.com/leveret-os/leveret/kernel/services/usermem"
)

// Store makes memory objects of core: it implements object.Store.
type Store struct{}

// Create implements object.Store.
func (Store) Create(ino uint64) (obj.Object, Errno) {
	return wrap(call(abi.HyperObjectCreate, ino))
}

// InPlace implements object.Store: data is a part of the direct map.
func (Store) InPlace(data []byte, ino uint64) (obj.Object, Errno) {
	if len(data) == 0 {
		return Store{}.Create(ino)
	}
	return wrap(call(abi.HyperObjectInPlace, ring0.Address(data), uint64(len(data)), ino))
}

func wrap(h uint64, e Errno) (obj.Object, Errno) {
	if e != 0 {
		return nil, e
	}
	return &memory{h, ring0.Object(h)}, 0
}

// memory is one object.
type memory struct {
	handle uint64
	head   *abi.ObjectHead
}

func (o *memory) Head() *abi.ObjectHead { return o.head }
func (o *memory) Handle() uint64        { return o.handle }

func (o *memory) Read(off int64, m usermem.Memory, addr uint64, n int) (int, Errno) {
	if own, ok := m.(*usermem.Own); ok {
		return o.ReadAt(own.B[addr:addr+uint64(n)], off)
	}
	got, e := call(abi.HyperObjectRead, o.handle, uint64(off), addr, uint64(n))
	return int(got), e
}

func (o *memory) Write(off int64, m usermem.Memory, addr uint64, n int) (int, Errno) {
	if own, ok := m.(*usermem.Own); ok {
		return o.WriteAt(own.B[addr:addr+uint64(n)], off)
	}
	got, e := call(abi.HyperObjectWrite, o.handle, uint64(off), addr, uint64(n))
	return int(got), e
}

// whole repeats a call that moves at most abi.MaxStep bytes.
func (o *memory) whole(nr uintptr, p []byte, off int64) (done int, e Errno) {
	for done < len(p) {
		got, e := call(nr, o.handle, uint64(off)+uint64(done), ring0.Address(p[done:]), uint64(min(len(p)-done, abi.MaxStep)))
		if e != 0 && done == 0 {
			return 0, e
		}
		if e != 0 || got == 0 {
			break
		}
		done += int(got)
	}
	return done, 0
}

func (o *memory) ReadAt(p []byte, off int64) (int, Errno) {
	return o.whole(abi.HyperObjectRead, p, off)
}

func (o *memory) WriteAt(p []byte, off int64) (int, Errno) {
	return o.whole(abi.HyperObjectWrite, p, off)
}

// again repeats a call that does a step and says EAGAIN.
func again(nr uintptr, args ...uint64) Errno {
	for {
		if _, e := call(nr, args...); e != unix.EAGAIN {
			return e
		}
	}
}

func (o *memory) Resize(size int64) Errno {
	return again(abi.HyperObjectResize, o.handle, uint64(size))
}

func (o *memory) Punch(off, n int64) Errno {
	return again(abi.HyperObjectPunch, o.handle, uint64(off), uint64(n))
}

func (o *memory) Allocate(off, n int64) Errno {
	// In pieces: a call looks at all pages of its range that are there already.
	for n > abi.MaxStep {
		if e := again(abi.HyperObjectAllocate, o.handle, uint64(off), abi.MaxStep); e != 0 {
			return e
		}
		off, n = off+abi.MaxStep, n-abi.MaxStep
	}
	return again(abi.HyperObjectAllocate, o.handle, uint64(off), uint64(n))
}

func (o *memory) Find(off int64, whence int) (int64, Errno) {
	v, e := call(abi.HyperObjectSeek, o.handle, uint64(off), uint64(whence))
	return int64(v), e
}

func (o *memory) Release() { call(abi.HyperObjectRelease, o.handle) }
