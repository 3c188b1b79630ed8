package native

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is CLOCK_MONOTONIC in seconds: the clock that all processes share.
func monotonic() float64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano()).Seconds()
}

// pin keeps the calling thread on one processor.
func pin(processor int) error {
	var set unix.CPUSet
	set.Set(processor)
	return unix.SchedSetaffinity(0, &set)
}

// allowed returns the processors that this process may run on.
func allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var list []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	return list, nil
}

// kernelRelease is that of uname(2).
func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
