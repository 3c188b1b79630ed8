//go:build amd64

package main

import "unsafe"

// What core says on the console is kept for syslog(2), in a ring, with Linux's
// level before every line (<6>, information). What services and programs write
// is not.
const (
	klogSize  = 1 << 14
	klogLevel = "<6>"
)

var (
	klog [klogSize]byte
	// klogEnd counts what was ever written; klogRead and klogClear what was read
	// for good, and what is not shown again.
	klogEnd, klogRead, klogClear uint64
	// klogLine tells that a line has begun.
	klogLine bool
)

// keep appends a byte to the log. Empty lines are not kept.
func keep(b byte) {
	if !klogLine {
		if b == '\n' {
			return
		}
		klogLine = true
		for i := range len(klogLevel) {
			klog[klogEnd%klogSize] = klogLevel[i]
			klogEnd++
		}
	}
	klog[klogEnd%klogSize] = b
	klogEnd++
	if b == '\n' {
		klogLine = false
	}
}

// klogFrom returns where to read from, for no more than n bytes: at or after
// from, at the beginning of a line.
func klogFrom(from, n uint64) uint64 {
	n = min(n, klogSize-1) // and what is before it
	if klogEnd-from <= n {
		return from
	}
	from = klogEnd - n
	for from < klogEnd && klog[(from-1)%klogSize] != '\n' {
		from++
	}
	return from
}

// copyLog copies the log's n bytes at from to a program's memory.
func copyLog(c *CPU, addr, from, n uint64) bool {
	at := from % klogSize
	first := min(n, klogSize-at)
	return copyOut(c, addr, unsafe.Pointer(&klog[at]), first) &&
		copyOut(c, addr+first, unsafe.Pointer(&klog), n-first)
}

// sysSyslog: syslog(2), which the C library calls klogctl(3).
func sysSyslog(c *CPU, t *Thread) {
	const (
		closeLog, open, read, readAll, readClear, clear, off, on, level, unread, size = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	)
	what, n := uint32(t.DI), int32(uint32(t.DX))
	if what != readAll && what != size && !t.capable() {
		t.AX = ePERM
		return
	}
	t.AX = 0
	switch what {
	case closeLog, open, off, on: // what core says is always shown
	case clear:
		klogClear = klogEnd
	case level:
		if n < 1 || n > 8 {
			t.AX = eINVAL
		}
	case unread:
		t.AX = klogEnd - klogFrom(klogRead, klogSize)
	case size:
		t.AX = klogSize
	case read, readAll, readClear:
		switch {
		case t.SI == 0 || n < 0:
			t.AX = eINVAL
		case n == 0:
		case what == read:
			readLog(c, t, uint64(n))
		default:
			from := klogFrom(klogClear, uint64(n))
			if t.AX = klogEnd - from; !copyLog(c, t.SI, from, t.AX) {
				t.AX = eFAULT
			} else if what == readClear {
				klogClear = klogEnd
			}
		}
	default:
		t.AX = eINVAL
	}
}

// readLog takes the oldest n bytes, or fewer, from the log. With none it waits
// for a signal: core says little once programs run, and its lines wake nobody.
func readLog(c *CPU, t *Thread, n uint64) {
	from := klogFrom(klogRead, klogSize)
	if from == klogEnd {
		waitSignal(c, t, eRESTARTSYS)
		return
	}
	n = min(n, klogEnd-from)
	if !copyLog(c, t.SI, from, n) {
		t.AX = eFAULT
		return
	}
	klogRead = from + n
	t.AX = n
}
