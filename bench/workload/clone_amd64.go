package main

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spawn makes a thread of the process, which does some steps of arithmetic,
// writes the result on its stack and ends. Go's runtime does not know of it.
// The kernel sets *tid, and to 0 when the thread has ended, and wakes who waits
// for that by futex(2). It returns the thread's id or a negative error number.
//
//go:noescape
func spawn(stackTop uintptr, tid *atomic.Uint32, steps int) int

const (
	stackSize = 256 << 10
	guardSize = pageSize
)

// A thread is one that spawn has made.
type thread struct {
	stack []byte
	tid   atomic.Uint32
}

// fourThreads makes four threads and waits for their ends, the way a C library
// does it: mmap a stack, mprotect its guard page, clone, wait on the id's word,
// munmap.
func fourThreads() error {
	var threads [4]thread
	for i := range threads {
		if err := threads[i].start(); err != nil {
			return err
		}
	}
	for i := range threads {
		if err := threads[i].join(); err != nil {
			return err
		}
	}
	return nil
}

func (t *thread) start() error {
	stack, err := unix.Mmap(-1, 0, stackSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_STACK)
	if err != nil {
		return err
	}
	t.stack = stack
	if err := unix.Mprotect(stack[:guardSize], unix.PROT_NONE); err != nil {
		return err
	}
	t.tid.Store(1) // not 0 before the kernel has set it
	if n := spawn(address(stack)+stackSize, &t.tid, work); n < 0 {
		return fmt.Errorf("clone: %w", unix.Errno(-n))
	}
	return nil
}

func (t *thread) join() error {
	for id := t.tid.Load(); id != 0; id = t.tid.Load() {
		// The kernel's wake at a thread's end is one of shared memory.
		_, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&t.tid)), futexWait, uintptr(id), 0, 0, 0)
		if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
			return fmt.Errorf("futex: %w", errno)
		}
	}
	return unix.Munmap(t.stack)
}

// blockSignals keeps signals from this thread and those that it makes: their
// handlers are Go's, which need a thread that the runtime knows.
func blockSignals() (unblock func(), err error) {
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^uint64(0)
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return nil, err
	}
	return func() { unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }, nil
}
