//go:build amd64

package main

import (
	"math/bits"

	"github.com/leveret-os/leveret/kernel/core/x86"
)

// Time is counted in nanoseconds since boot. The TSC is its only source after
// boot: ns = (TSC - tscBase) * tscMul / 2^32.
var (
	tscBase uint64
	tscMul  uint64
	tscKHz  uint64

	lapicKHz uint64 // how fast the local APIC's timer counts

	// realtimeBase is the time of day at 0, in ns since 1970.
	realtimeBase uint64
)

func mulshift(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<32 | lo>>32
}

// nowNS returns the time since boot. In time_amd64.s.
func nowNS() uint64

// initTime finds out how fast the TSC and the local APIC's timer run, and the
// time of day. It takes some 2 ms, less when tsc_early_khz= tells.
func initTime() {
	khz, given := cmdlineNumber("tsc_early_khz")
	startLAPIC()
	if given && khz != 0 {
		lapicKHz = lapicAgainst(khz, 200)
	} else {
		khz = calibrate()
	}
	tscKHz = khz
	tscMul = 1000000 << 32 / khz
	realtimeBase = readRTC()*1000000000 - nowNS()
}

// reference is a clock of known speed to measure the TSC with.
type reference struct {
	kind  uint64
	kHz   uint64 // of its ticks
	mask  uint64 // of its counter
	where uint64
}

const (
	refNone = iota
	refHPET
	refPM
	refPIT
	refLAPIC
)

// A pair of counters read at the same moment.
type moment struct{ ref, tsc uint64 }

// read returns the counter of a reference; those that count down, negated.
func (r *reference) read() uint64 {
	switch r.kind {
	case refHPET:
		return rd64(r.where + hpetCounter)
	case refPM:
		return uint64(x86.Inl(uint16(r.where)))
	case refPIT:
		x86.Outb(pitCommand, 0x80) // latch channel 2
		lo := uint64(x86.Inb(pitChannel2))
		return -(lo | uint64(x86.Inb(pitChannel2))<<8)
	case refLAPIC:
		return -uint64(rd32(lapic + lapicCount))
	}
	return 0
}

// at reads the reference and the TSC together: the best of five tries, since
// something outside may interrupt any of them.
func (r *reference) at() moment {
	var m moment
	best := ^uint64(0)
	for range 5 {
		a := x86.Rdtsc()
		v := r.read()
		b := x86.Rdtsc()
		if b-a < best {
			best = b - a
			m.ref, m.tsc = v, a+(b-a)/2
		}
	}
	return m
}

// kHzBetween returns the TSC's frequency from two moments.
func (r *reference) kHzBetween(a, b moment) uint64 {
	ticks := (b.ref - a.ref) & r.mask
	if ticks == 0 {
		return 0
	}
	hi, lo := bits.Mul64(b.tsc-a.tsc, r.kHz)
	if hi >= ticks {
		return 0
	}
	khz, _ := bits.Div64(hi, lo, ticks)
	return khz
}

const (
	hpetCapabilities = 0x00
	hpetConfig       = 0x10
	hpetCounter      = 0xf0

	pitChannel2 = 0x42
	pitCommand  = 0x43
	pitGate     = 0x61
	pitHz       = 1193182
	pmHz        = 3579545
)

// findReferences looks for clocks, the best first.
func findReferences(refs *[4]reference) int {
	n := 0
	if a := machine.HPET; a != 0 && a < 4<<30 {
		a += directMap
		period := rd64(a+hpetCapabilities) >> 32 // femtoseconds
		if period != 0 && period <= 100000000 {
			wr64(a+hpetConfig, rd64(a+hpetConfig)|1)
			refs[n] = reference{refHPET, 1000000000000 / period, 0xffffffff, a}
			n++
		}
	}
	if machine.PMTimer != 0 && machine.PMTimer < 0x10000 {
		refs[n] = reference{refPM, pmHz / 1000, 0xffffff, machine.PMTimer}
		n++
	}
	// Channel 2 of the PIT, counting 65536 over and over, its speaker off.
	x86.Outb(pitGate, x86.Inb(pitGate)&^2|1)
	x86.Outb(pitCommand, 0xb4)
	x86.Outb(pitChannel2, 0)
	x86.Outb(pitChannel2, 0)
	pit := reference{refPIT, pitHz / 1000, 0xffff, 0}
	first := pit.read()
	for range 100 {
		if pit.read() != first {
			refs[n] = pit
			n++
			break
		}
	}
	// An emulator's local APIC counts at 1 GHz.
	if _, bx, _, _ := x86.Cpuid(0x40000000, 0); bx == hypervisorTCG || bx == hypervisorKVM {
		refs[n] = reference{refLAPIC, 1000000, 0xffffffff, 0}
		n++
	}
	return n
}

const (
	hypervisorTCG = 0x54474354 // "TCGT"
	hypervisorKVM = 0x4b4d564b // "KVMK"
)

// calibrate measures the TSC with two clocks at once, which have to agree
// within 1/256, and the local APIC's timer with it. What is doubtful is
// measured again, and then said.
func calibrate() uint64 {
	var refs [4]reference
	n := findReferences(&refs)
	if n == 0 {
		die("no clock to measure the TSC with: give tsc_early_khz=")
	}
	first, second := &refs[0], &refs[n-1]
	lapicRef := reference{refLAPIC, 0, 0xffffffff, 0}
	var khz uint64
	for try := uint64(0); try < 3; try++ {
		a, b, l := first.at(), second.at(), lapicRef.at()
		wait := first.kHz * 2 // ms
		for (first.read()-a.ref)&first.mask < wait {
			x86.Pause()
		}
		a2, b2, l2 := first.at(), second.at(), lapicRef.at()
		khz = first.kHzBetween(a, a2)
		other := second.kHzBetween(b, b2)
		lapicKHz = scale((l2.ref-l.ref)&lapicRef.mask, khz, l2.tsc-l.tsc)
		diff := khz - other
		if other > khz {
			diff = other - khz
		}
		if khz != 0 && diff <= khz/256 && n > 1 {
			return khz
		}
	}
	if khz == 0 || lapicKHz == 0 {
		die("the TSC cannot be measured: give tsc_early_khz=")
	}
	puts("core: the TSC's speed is doubtful, as two clocks tell it: give tsc_early_khz=\n")
	return khz
}

// scale returns a*b/c.
func scale(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if c == 0 || hi >= c {
		return 0
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// lapicAgainst measures the local APIC's timer with a TSC of known speed, for
// some microseconds.
func lapicAgainst(khz, us uint64) uint64 {
	r := reference{refLAPIC, 0, 0xffffffff, 0}
	a := r.at()
	for x86.Rdtsc()-a.tsc < khz*us/1000 {
		x86.Pause()
	}
	b := r.at()
	return scale((b.ref-a.ref)&r.mask, khz, b.tsc-a.tsc)
}
