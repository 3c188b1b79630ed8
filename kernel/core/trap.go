//go:build amd64

package main

import (
	"sync/atomic"

	"github.com/leveret-os/leveret/kernel/core/x86"
)

// trap: every exception and interrupt. t is the current thread (its frame
// was filled by the CPU and trapEntry through IST1), or, for the vectors on
// IST2, just a frame.
func trap(c *CPU, t *Thread) {
	switch t.Vector {
	case vecTimer:
		timerIRQ(c)
		return
	case 14:
		a := x86.ReadCR2()
		inCore := t.CS&3 == 0 && t.IP < servicesBase && t.IP >= coreText
		if !inCore {
			timedFault(c, t, a)
			return
		}
		crash(c, t, a)
	case vecSpurious:
		return
	case vecSerial:
		consoleInterrupt(c)
		endOfInterrupt()
	case vecReschedule, vecFlush:
		endOfInterrupt()
		flushSelf(c) // the rest is in the thread's work
	default:
		exception(c, t)
	}
}

// flushSelf drops the TLB when another processor asked for it.
func flushSelf(c *CPU) {
	if atomic.LoadUint64(&c.flush) != 0 {
		x86.WriteCR3(x86.ReadCR3())
		atomic.StoreUint64(&c.flush, 0)
	}
}
