//go:build amd64

package main

import (
	"sync/atomic"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// runSelftest is what the word selftest asks for, with the lock held and no
// thread yet.
func runSelftest(c *CPU) {
	fault, at := memory.SelfTest()
	if fault != frames.Sound {
		kv("SELFTEST frames FAILED fault=", uint64(fault))
		kv(" at=", at)
		puts("\n")
		die("self-test")
	}
	puts("SELFTEST frames OK ")
	putdec(frames.SelfTestCycles)
	puts("\n")
	for i := uint64(0); i < ncpu; i++ {
		heartbeat(c, cpus[i])
	}
	ticks(c)
}

// heartbeat shows that a processor answers: it is asked to drop its TLB.
func heartbeat(c, o *CPU) {
	if o != c {
		atomic.StoreUint64(&o.flush, 1)
		sendIPI(o.apic, vecFlush)
		for atomic.LoadUint64(&o.flush) != 0 {
			x86.Pause()
		}
	}
	puts("CPU ")
	putdec(o.number)
	puts(" apic=")
	putdec(o.apic)
	puts(" alive\n")
}

// ticks counts 100 expiries of the timer, 1 ms each, and checks them against
// the TSC.
func ticks(c *CPU) {
	begin := nowNS()
	for range 100 {
		arm(c, nowNS()+1000000)
		for rd32(lapic+lapicCount) != 0 {
			x86.Pause()
		}
	}
	took := nowNS() - begin
	if took < 99000000 {
		die("self-test: the timer is fast")
	}
	puts("TICKS 100\n")
}
