//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/x86"

// The local APIC (SDM vol. 3, 11.4), through the direct map.
const (
	lapic        = directMap + 0xfee00000
	lapicID      = 0x020
	lapicEOI     = 0x0b0
	lapicSVR     = 0x0f0
	lapicICR     = 0x300
	lapicICRHigh = 0x310
	lapicTimer   = 0x320
	lapicLINT0   = 0x350
	lapicLINT1   = 0x360
	lapicInitial = 0x380
	lapicCount   = 0x390
	lapicDivide  = 0x3e0

	lvtMasked = 1 << 16
	lvtNMI    = 4 << 8
)

// Interrupt vectors.
const (
	vecTimer      = 0x20
	vecSerial     = 0x24
	vecReschedule = 0xfc
	vecFlush      = 0xfd
	vecSpurious   = 0xff
)

// startLAPIC switches this processor's APIC on, with its timer counting but
// silent.
func startLAPIC() {
	wr32(lapic+lapicSVR, 1<<8|vecSpurious)
	wr32(lapic+lapicLINT0, lvtMasked) // no old-style PIC
	wr32(lapic+lapicLINT1, lvtNMI)
	wr32(lapic+lapicDivide, 0xb) // by 1
	wr32(lapic+lapicTimer, vecTimer|lvtMasked)
	wr32(lapic+lapicInitial, 0xffffffff)
}

// startTimer lets the timer interrupt.
func startTimer() { wr32(lapic+lapicTimer, vecTimer) }

// maskPIC silences the two 8259s, which are there but not used.
func maskPIC() {
	x86.Outb(0x21, 0xff)
	x86.Outb(0xa1, 0xff)
}

func endOfInterrupt() { wr32(lapic+lapicEOI, 0) }

// arm makes this processor's timer interrupt at a time since boot.
func arm(c *CPU, deadline uint64) {
	c.armed = deadline
	now := nowNS()
	d := uint64(1000)
	if deadline > now+d {
		d = deadline - now
	}
	if d > 1000000000 {
		d = 1000000000
	}
	n := d * lapicKHz / 1000000
	if n > 0xfffffff0 {
		n = 0xfffffff0
	}
	if n == 0 {
		n = 1
	}
	wr32(lapic+lapicInitial, uint32(n))
}

// sendIPI interrupts the processor with an APIC id.
func sendIPI(apic uint64, vector uint32) {
	wr32(lapic+lapicICRHigh, uint32(apic)<<24)
	wr32(lapic+lapicICR, 1<<14|vector)
}
