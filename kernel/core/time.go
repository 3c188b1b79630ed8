//go:build amd64

package main

import (
	"math/bits"

	"github.com/leveret-os/leveret/kernel/core/x86"
)

func mulshift(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<32 | lo>>32
}

func initTimer() {
	x86.Outb(0x21, 0xff)
	x86.Outb(0xa1, 0xff)
	wr32(lapic+0xf0, 0x1ff)
	wr32(lapic+0x3e0, 0xb) // divide by 1
	wr32(lapic+0x320, 32|1<<16)
	// PIT channel 2, 5 ms
	const ms = 5
	n := uint64(1193182 * ms / 1000)
	x86.Outb(0x61, x86.Inb(0x61)&^2|1)
	x86.Outb(0x43, 0xb0)
	x86.Outb(0x42, byte(n))
	x86.Outb(0x42, byte(n>>8))
	wr32(lapic+0x380, 0xffffffff)
	t0 := x86.Rdtsc()
	for x86.Inb(0x61)&0x20 == 0 {
	}
	t1 := x86.Rdtsc()
	l := 0xffffffff - rd32(lapic+0x390)
	d := t1 - t0
	tscMul = (ms * 1000000 << 32) / d
	tsc0 = t0
	lapicPerUs = uint64(l) / (ms * 1000)
	wr32(lapic+0x320, 32)
	puts("core: tsc ")
	putdec(d / (ms * 1000))
	puts(" MHz, lapic ")
	putdec(lapicPerUs)
	puts(" MHz\n")
}

func nowNS() uint64 {
	d := x86.Rdtsc() - tsc0
	return mulshift(d, tscMul)
}

func arm(c *CPU, dl uint64) {
	c.armed = dl
	now := nowNS()
	d := uint64(1000)
	if dl > now+d {
		d = dl - now
	}
	n := d * lapicPerUs / 1000
	if n > 0xfffffff0 {
		n = 0xfffffff0
	}
	if n == 0 {
		n = 1
	}
	wr32(lapic+0x380, uint32(n))
}

var (
	tsc0, tscMul uint64 // ns = dtsc*tscMul >> 32
	lapicPerUs   uint64
)

const lapic = directMap + 0xfee00000
