package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of futex(2), from linux/futex.h.
const (
	futexWait        = 0
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// roundTrips is how many round trips make a sample.
const roundTrips = 1000

var waitWorkloads = []workload{
	{"futex", "ns", "round trip between two threads by futex(2)", futexRoundTrip},
	{"pipe", "ns", "round trip of one byte between two threads through two pipes", pipeRoundTrip},
	{"sleep", "us", "how late a nanosleep(2) of 1 ms returns", func(n int, sample func(float64)) error {
		for range n {
			ts := unix.Timespec{Nsec: 1e6}
			start := time.Now()
			if _, _, errno := unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0); errno != 0 {
				return errno
			}
			sample(float64((time.Since(start) - time.Millisecond).Nanoseconds()) / 1e3)
		}
		return nil
	}},
}

// A turn is a word that counts; one thread waits until the other moved it on.
type turn struct{ word atomic.Uint32 }

func (t *turn) set(v uint32) error {
	t.word.Store(v)
	return t.futex(futexWakePrivate, 1)
}

func (t *turn) wait(v uint32) error {
	for seen := t.word.Load(); seen != v; seen = t.word.Load() {
		if err := t.futex(futexWaitPrivate, seen); err != nil {
			return err
		}
	}
	return nil
}

// futex makes the call; EAGAIN and EINTR only mean to look again.
func (t *turn) futex(op int, v uint32) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&t.word)), uintptr(op), uintptr(v), 0, 0, 0)
	if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
		return fmt.Errorf("futex: %w", errno)
	}
	return nil
}

func futexRoundTrip(n int, sample func(float64)) error {
	var there, back turn
	last := uint32((n + 1) * roundTrips)
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		for i := uint32(1); i <= last; i++ {
			if err := there.wait(i); err != nil {
				done <- err
				return
			}
			if err := back.set(i); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	i := uint32(0)
	err := timeRoundTrips(n, sample, func() error {
		i++
		if err := there.set(i); err != nil {
			return err
		}
		return back.wait(i)
	})
	if err != nil {
		return err
	}
	return <-done
}

func pipeRoundTrip(n int, sample func(float64)) error {
	var there, back [2]int
	if err := unix.Pipe2(there[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	if err := unix.Pipe2(back[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		var b [1]byte
		for {
			n, err := passByte(unix.SYS_READ, there[0], &b)
			if err != nil || n == 0 {
				done <- err
				return
			}
			if _, err := passByte(unix.SYS_WRITE, back[1], &b); err != nil {
				done <- err
				return
			}
		}
	}()
	var b [1]byte
	err := timeRoundTrips(n, sample, func() error {
		if _, err := passByte(unix.SYS_WRITE, there[1], &b); err != nil {
			return err
		}
		_, err := passByte(unix.SYS_READ, back[0], &b)
		return err
	})
	unix.Close(there[1])
	if err == nil {
		err = <-done
	}
	for _, fd := range []int{there[0], back[0], back[1]} {
		unix.Close(fd)
	}
	return err
}

// passByte reads or writes one byte without telling the Go scheduler, which
// would otherwise be part of the cost.
func passByte(call uintptr, fd int, b *[1]byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(b)), 1)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// timeRoundTrips takes n samples of f, after one that warms up.
func timeRoundTrips(n int, sample func(float64), f func() error) error {
	for s := range n + 1 {
		start := time.Now()
		for range roundTrips {
			if err := f(); err != nil {
				return err
			}
		}
		if s > 0 {
			sample(nsPer(start, roundTrips))
		}
	}
	return nil
}
