//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	second  = 1000000000
	forever = 1 << 62 // deadlines beyond are never
)

// timespec is struct timespec.
type timespec struct{ sec, nsec int64 }

// readTimespec reads a time from user memory, in ns; the second result is 0
// or EFAULT or EINVAL.
func readTimespec(c *CPU, addr uint64) (ns, e uint64) {
	var ts timespec
	if !copyIn(c, unsafe.Pointer(&ts), addr, 16) {
		return 0, eFAULT
	}
	if ts.sec < 0 || uint64(ts.nsec) >= second {
		return 0, eINVAL
	}
	if ts.sec >= forever/second {
		return forever, 0
	}
	return uint64(ts.sec)*second + uint64(ts.nsec), 0
}

// readTimeval is readTimespec for struct timeval.
func readTimeval(c *CPU, addr uint64) (ns, e uint64) {
	var tv timespec
	if !copyIn(c, unsafe.Pointer(&tv), addr, 16) {
		return 0, eFAULT
	}
	if tv.sec < 0 || uint64(tv.nsec) >= 1000000 {
		return 0, eINVAL
	}
	if tv.sec >= forever/second {
		return forever, 0
	}
	return uint64(tv.sec)*second + uint64(tv.nsec)*1000, 0
}

func writeTimespec(c *CPU, addr, ns uint64) bool {
	ts := timespec{int64(ns / second), int64(ns % second)}
	return copyOut(c, addr, unsafe.Pointer(&ts), 16)
}

func writeTimeval(c *CPU, addr, ns uint64) bool {
	tv := timespec{int64(ns / second), int64(ns % second / 1000)}
	return copyOut(c, addr, unsafe.Pointer(&tv), 16)
}

// later is now+ns, never 0.
func later(now, ns uint64) uint64 { return max(min(now+ns, forever), 1) }

// fromRealtime is a time of day, in ns since 1970, on the monotonic clock.
func fromRealtime(ns uint64) uint64 {
	if ns <= realtimeBase {
		return 1
	}
	return min(ns-realtimeBase, forever)
}

// readClock tells a clock's time in ns; false: no such clock.
func readClock(t *Thread, id int32) (uint64, bool) {
	now := nowNS()
	switch id {
	case unix.CLOCK_MONOTONIC, unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_BOOTTIME, unix.CLOCK_MONOTONIC_COARSE, unix.CLOCK_BOOTTIME_ALARM:
		return now, true
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_REALTIME_ALARM, unix.CLOCK_TAI:
		return now + realtimeBase, true
	case unix.CLOCK_PROCESS_CPUTIME_ID:
		return t.process.runtime(), true
	case unix.CLOCK_THREAD_CPUTIME_ID:
		return t.runtime(), true
	}
	if id < 0 { // of another thread or process: ~id<<3 | kind
		who := uint32(^id >> 3)
		if id&4 != 0 {
			o := t
			if who != 0 {
				o = findThread(who)
			}
			if o != nil && !o.ring0() && o.process == t.process && id&3 != 3 {
				return o.runtime(), true
			}
			return 0, false
		}
		p := t.process
		if who != 0 {
			p = findProcess(who)
		}
		if p != nil && !p.ring0 && id&3 != 3 {
			return p.runtime(), true
		}
	}
	return 0, false
}

// sysClockGettime: clock_gettime(2).
func sysClockGettime(c *CPU, t *Thread) {
	ns, ok := readClock(t, int32(t.DI))
	if !ok {
		t.AX = eINVAL
		return
	}
	t.AX = 0
	if !writeTimespec(c, t.SI, ns) {
		t.AX = eFAULT
	}
}

// sysClockGetres: clock_getres(2).
func sysClockGetres(c *CPU, t *Thread) {
	if _, ok := readClock(t, int32(t.DI)); !ok {
		t.AX = eINVAL
		return
	}
	res := uint64(1)
	switch int32(t.DI) {
	case unix.CLOCK_REALTIME_COARSE, unix.CLOCK_MONOTONIC_COARSE:
		res = 4000000
	}
	t.AX = 0
	if t.SI != 0 && !writeTimespec(c, t.SI, res) {
		t.AX = eFAULT
	}
}

// sysClockSettime: clock_settime(2): the time of day stays as it is.
func sysClockSettime(c *CPU, t *Thread) {
	if _, e := readTimespec(c, t.SI); e != 0 {
		t.AX = e
		return
	}
	t.AX = ePERM
	if int32(t.DI) != unix.CLOCK_REALTIME {
		t.AX = eINVAL
	}
}

// sysGettimeofday: gettimeofday(2).
func sysGettimeofday(c *CPU, t *Thread) {
	t.AX = 0
	if t.DI != 0 && !writeTimeval(c, t.DI, nowNS()+realtimeBase) || t.SI != 0 && !write64(c, t.SI, 0) {
		t.AX = eFAULT
	}
}

// sysTime: time(2).
func sysTime(c *CPU, t *Thread) {
	s := (nowNS() + realtimeBase) / second
	if t.DI != 0 && !write64(c, t.DI, s) {
		s = eFAULT
	}
	t.AX = s
}

// sysNanosleep: nanosleep(2).
func sysNanosleep(c *CPU, t *Thread) {
	deadline := t.deadline
	if !t.retry {
		ns, e := readTimespec(c, t.DI)
		if e != 0 {
			t.AX = e
			return
		}
		deadline = later(nowNS(), ns)
	}
	sleep(c, t, deadline, eRESTARTBLOCK)
}

// sysClockNanosleep: clock_nanosleep(2).
func sysClockNanosleep(c *CPU, t *Thread) {
	id := int32(t.DI)
	switch id {
	case unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME, unix.CLOCK_TAI, unix.CLOCK_REALTIME_ALARM, unix.CLOCK_BOOTTIME_ALARM:
	case unix.CLOCK_THREAD_CPUTIME_ID, unix.CLOCK_PROCESS_CPUTIME_ID:
		t.AX = eINVAL
		return
	case unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_MONOTONIC_COARSE:
		t.AX = eOPNOTSUPP
		return
	default:
		t.AX = eINVAL
		return
	}
	ns, e := readTimespec(c, t.DX)
	if e != 0 {
		t.AX = e
		return
	}
	if t.SI&1 == 0 {
		deadline := t.deadline
		if !t.retry {
			deadline = later(nowNS(), ns)
		}
		sleep(c, t, deadline, eRESTARTBLOCK)
		return
	}
	deadline := max(ns, 1)
	if id == unix.CLOCK_REALTIME || id == unix.CLOCK_TAI || id == unix.CLOCK_REALTIME_ALARM {
		deadline = fromRealtime(ns)
	}
	sleep(c, t, deadline, eRESTARTNOHAND)
}

// sleep blocks t until deadline.
func sleep(c *CPU, t *Thread, deadline, interrupted uint64) {
	t.deadline = deadline
	if deadline <= nowNS() {
		t.AX = 0
		return
	}
	if signalPending(t) {
		t.AX = interrupted
		t.work |= workSignal
		return
	}
	t.interrupted = interrupted
	addTimer(c, &t.timer, deadline)
	block(c, t, stateSleep)
}

// writeRemaining tells an interrupted sleeper how long it had still to sleep.
func writeRemaining(c *CPU, t *Thread) {
	at := uint64(0)
	switch t.call {
	case unix.SYS_NANOSLEEP:
		at = t.SI
	case unix.SYS_CLOCK_NANOSLEEP:
		at = t.R10
	}
	if at == 0 {
		return
	}
	left := uint64(0)
	if now := nowNS(); t.deadline > now {
		left = t.deadline - now
	}
	writeTimespec(c, at, left)
}
