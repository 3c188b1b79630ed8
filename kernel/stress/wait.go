package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var waitWorkers = []worker{
	{"futex", futexes},
	{"threads", threads},
	{"signals", selfSignals},
	{"pipes", blockedPipes},
	{"sleep", sleeps},
}

// Operations of futex(2), from linux/futex.h, in their private form.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

func futex(word *atomic.Uint32, op int, v uint32, timeout *unix.Timespec) unix.Errno {
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), uintptr(op), uintptr(v), uintptr(unsafe.Pointer(timeout)), 0, 0)
	return errno
}

// futexes passes a turn around a ring of threads; a wait has a time limit that
// is sometimes short, so that waking and timing out race.
func futexes(_ context.Context, _ int, rng *rand.Rand) error {
	const ring, turns = 4, 100
	var turn atomic.Uint32
	var wg sync.WaitGroup
	errs := make(chan error, ring)
	limit := time.Duration(1+rng.IntN(2000)) * time.Microsecond
	for me := range uint32(ring) {
		wg.Go(func() {
			for {
				seen := turn.Load()
				switch {
				case seen >= turns:
					return
				case seen%ring == me:
					turn.Add(1)
					futex(&turn, futexWake, ring, nil)
				default:
					ts := unix.NsecToTimespec(limit.Nanoseconds())
					if e := futex(&turn, futexWait, seen, &ts); e != 0 && e != unix.EAGAIN && e != unix.ETIMEDOUT && e != unix.EINTR {
						errs <- fmt.Errorf("futex wait: %w", e)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// threads makes threads that end; each has an id of its own while it lives.
func threads(_ context.Context, _ int, rng *rand.Rand) error {
	n := 1 + rng.IntN(6)
	tids := make(chan int, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			runtime.LockOSThread()
			first := unix.Gettid()
			runtime.Gosched()
			if unix.Gettid() != first {
				first = 0
			}
			tids <- first
		})
	}
	wg.Wait()
	close(tids)
	for tid := range tids {
		if tid == 0 {
			return errors.New("a thread's id has changed")
		}
	}
	return nil
}

var arrived = sync.OnceValue(func() *atomic.Int64 {
	var count atomic.Int64
	c := make(chan os.Signal, 1024)
	signal.Notify(c, syscall.SIGUSR1)
	go func() {
		for range c {
			count.Add(1)
		}
	}()
	return &count
})

// selfSignals sends itself a signal and waits until one came since.
func selfSignals(ctx context.Context, _ int, _ *rand.Rand) error {
	count := arrived()
	before := count.Load()
	if err := unix.Kill(unix.Getpid(), unix.SIGUSR1); err != nil {
		return err
	}
	for start := time.Now(); count.Load() == before; runtime.Gosched() {
		if ctx.Err() == nil && time.Since(start) > 30*time.Second {
			return errors.New("a signal did not come within 30 s")
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// blockedPipes has many raw readers, each blocked in a thread until its byte
// comes, in another order than they began.
func blockedPipes(_ context.Context, _ int, rng *rand.Rand) error {
	n := 1 + rng.IntN(8)
	writers := make([]int, n)
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for i := range n {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("pipe: %w", err)
		}
		writers[i] = fds[1]
		wg.Go(func() {
			defer unix.Close(fds[0])
			var b [2]byte
			for got := 0; got < 2; {
				k, err := unix.Read(fds[0], b[got:])
				if err == unix.EINTR {
					continue
				}
				if err != nil || k == 0 {
					errs <- fmt.Errorf("pipe %d: read %d, %v", i, k, err)
					return
				}
				got += k
			}
			if b != [2]byte{byte(i), ^byte(i)} {
				errs <- fmt.Errorf("pipe %d: read %v", i, b)
			}
		})
	}
	for _, i := range rng.Perm(n) {
		if _, err := unix.Write(writers[i], []byte{byte(i), ^byte(i)}); err != nil {
			return fmt.Errorf("pipe %d: %w", i, err)
		}
	}
	wg.Wait()
	for _, fd := range writers {
		unix.Close(fd)
	}
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// sleeps sees that no sleep ends early.
func sleeps(_ context.Context, _ int, rng *rand.Rand) error {
	d := time.Duration(rng.IntN(3000)) * time.Microsecond
	start := time.Now()
	time.Sleep(d)
	if took := time.Since(start); took < d {
		return fmt.Errorf("a sleep of %v took %v", d, took)
	}
	return nil
}
