package main

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls is how often a cheap call is made for one sample.
const calls = 20_000

var computeWorkloads = []workload{
	{"compute", "ns/iteration", "arithmetic alone: how fast the machine is now, to judge the other figures by", func(n int, sample func(float64)) error {
		const iterations = 2_000_000
		for s := range n {
			x := uint64(s)
			start := time.Now()
			for range iterations {
				x = x*6364136223846793005 + 1442695040888963407
				x ^= x >> 29
			}
			sample(nsPer(start, iterations))
			sink = x
		}
		return nil
	}},
}

var callWorkloads = []workload{
	{"getppid", "ns", "one getppid(2)", func(n int, sample func(float64)) error {
		return timeCalls(n, sample, func() unix.Errno {
			_, _, errno := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
			return errno
		})
	}},
	{"syscall", "ns", "one getpid(2), as Rabbit measures a system call", func(n int, sample func(float64)) error {
		return timeCalls(n, sample, func() unix.Errno {
			_, _, errno := unix.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
			return errno
		})
	}},
	{"clock", "ns", "one clock_gettime(2) as a system call", func(n int, sample func(float64)) error {
		var ts unix.Timespec
		return timeCalls(n, sample, func() unix.Errno {
			_, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&ts)), 0)
			return errno
		})
	}},
	{"clock-vdso", "ns", "one time.Now, which reads two clocks through the vDSO", func(n int, sample func(float64)) error {
		for range n {
			start := time.Now()
			for range calls {
				//lint:ignore SA4017 what it costs is what counts
				time.Now()
			}
			sample(nsPer(start, calls))
		}
		return nil
	}},
}

// sink keeps results alive.
//
//lint:ignore U1000 that nobody reads it is its purpose
var sink uint64

// nsPer is the time since start in nanoseconds for each of n operations.
func nsPer(start time.Time, n int) float64 {
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

// timeCalls takes n samples of what one call of f costs; f's error ends it.
func timeCalls(n int, sample func(float64), f func() unix.Errno) error {
	for range n {
		start := time.Now()
		for range calls {
			if errno := f(); errno != 0 {
				return errno
			}
		}
		sample(nsPer(start, calls))
	}
	return nil
}
