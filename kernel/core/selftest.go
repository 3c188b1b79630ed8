//go:build amd64

package main

import (
	"sync/atomic"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/pagetable"
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
	checkPages()
	checkProcessor(c)
	for protected != ncpu { // the others show theirs when they get the lock
		atomic.StoreUint64(&lock, 0)
		spin(100000)
		for !atomic.CompareAndSwapUint64(&lock, 0, 1) {
			x86.Pause()
		}
	}
}

// protected counts the processors that showed their protections.
var protected uint64

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

var audited pagetable.Audited

// checkPages holds that the kernel's half of the page tables gives no more
// rights than it should. It is asked before init and when init has ended.
func checkPages() {
	a := &audited
	pagetable.Audit(pml4Phys, directMap, coreText, coreEnd, a)
	if a.Mistake != pagetable.NoMistake {
		kv("SELFTEST pages FAILED mistake=", uint64(a.Mistake))
		kv(" at=", a.At)
		puts("\n")
		poweroff(endCrash)
	}
	puts("SELFTEST pages OK ")
	putdec(a.Pages)
	puts(" executable=")
	putdec(a.Executable)
	puts("\n")
}

// checkProcessor shows which of its protections this processor has switched on.
func checkProcessor(c *CPU) {
	cr0, cr4 := x86.ReadCR0(), x86.ReadCR4()
	puts("PROTECT ")
	putdec(c.number)
	putBit(" wp=", cr0>>16)
	putBit(" nx=", x86.Rdmsr(msrEFER)>>11)
	putBit(" smep=", cr4>>20)
	putBit(" smap=", cr4>>21)
	putBit(" umip=", cr4>>11)
	puts("\n")
	protected++
}

func putBit(name string, v uint64) {
	puts(name)
	putdec(v & 1)
}

const msrEFER = 0xc0000080
