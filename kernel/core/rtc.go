//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/civil"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// The MC146818 real-time clock and what PCs added to it.
const (
	rtcIndex   = 0x70
	rtcData    = 0x71
	rtcStatusA = 10
	rtcStatusB = 11
	rtcCentury = 0x32

	rtcUpdating = 0x80 // of A
	rtcBinary   = 0x04 // of B
	rtc24Hours  = 0x02
)

func rtcRegister(n uint8) uint64 {
	x86.Outb(rtcIndex, n)
	return uint64(x86.Inb(rtcData))
}

// rtcTime is seconds, minutes, hours, day, month, year, century.
type rtcTime [7]uint64

func readRTCOnce(t *rtcTime) {
	t[0], t[1], t[2] = rtcRegister(0), rtcRegister(2), rtcRegister(4)
	t[3], t[4], t[5] = rtcRegister(7), rtcRegister(8), rtcRegister(9)
	t[6] = rtcRegister(rtcCentury)
}

// readRTC returns the time of day in seconds since 1970, or 0 where there is
// no clock. The clock is taken to run in UTC.
func readRTC() uint64 {
	var a, b rtcTime
	for range 100 {
		if rtcRegister(rtcStatusA)&rtcUpdating != 0 {
			continue
		}
		readRTCOnce(&a)
		readRTCOnce(&b)
		if a == b {
			break
		}
	}
	mode := rtcRegister(rtcStatusB)
	if mode == 0xff { // nothing there
		return 0
	}
	pm := a[2]&0x80 != 0
	a[2] &= 0x7f
	if mode&rtcBinary == 0 {
		for i := range a {
			a[i] = a[i]>>4*10 + a[i]&15
		}
	}
	if mode&rtc24Hours == 0 {
		a[2] %= 12
		if pm {
			a[2] += 12
		}
	}
	year := a[5] + a[6]*100
	if a[6] < 19 || a[6] > 21 {
		year = a[5] + 2000
	}
	return civil.Unix(year, a[4], a[3], a[2], a[1], a[0])
}
