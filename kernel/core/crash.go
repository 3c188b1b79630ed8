//go:build amd64

package main

import (
	"sync/atomic"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// A crash prints what is known and leaves the machine with a status of its
// own. It runs on a stack apart, so that the one that it is about can be read,
// and takes no lock: whoever crashes first holds the machine.

// crashing is set by the processor that crashes.
var crashing uint32

// beginCrash lets one processor through; a crash within a crash ends at once.
func beginCrash() {
	if atomic.CompareAndSwapUint32(&crashing, 0, 1) {
		return
	}
	poweroff(endCrash)
}

// crash reports an exception that nothing can be done about. addr is the
// address of a page fault.
func crash(c *CPU, t *Thread, addr uint64) { report(c, &t.Frame, addr) }

func report(c *CPU, f *abi.Frame, addr uint64) {
	beginCrash()
	puts("\n*** ")
	switch {
	case f.CS&3 == 3:
		puts("a program")
	case f.IP >= servicesBase:
		puts("services")
	default:
		puts("core")
	}
	puts(": ")
	putException(f.Vector)
	kv(", error ", f.Error)
	if f.Vector == 14 {
		kv(", address ", addr)
	}
	puts(", processor ")
	putdec(c.number)
	putRegisters(f)
	if f.CS&3 == 0 {
		backtrace(f.IP, f.BP)
	}
	poweroff(endCrash)
}

// exceptionNames are those of the first 20 vectors (SDM vol. 3, 6.15).
var exceptionNames = [...]string{
	"divide error", "debug exception", "NMI", "breakpoint", "overflow", "bound range exceeded", "invalid opcode",
	"no device", "double fault", "coprocessor overrun", "invalid TSS", "segment not present", "stack fault",
	"general protection fault", "page fault", "reserved", "x87 error", "alignment check", "machine check", "SIMD error",
}

func putException(vector uint64) {
	if vector < uint64(len(exceptionNames)) {
		puts(exceptionNames[vector])
		return
	}
	puts("vector ")
	putdec(vector)
}

func putRegisters(f *abi.Frame) {
	kv("\n  ip ", f.IP)
	kv(" sp ", f.SP)
	kv(" bp ", f.BP)
	kv(" flags ", f.Flags)
	kv(" cs ", f.CS)
	kv("\n  ax ", f.AX)
	kv(" bx ", f.BX)
	kv(" cx ", f.CX)
	kv(" dx ", f.DX)
	kv(" si ", f.SI)
	kv(" di ", f.DI)
	kv("\n  r8 ", f.R8)
	kv(" r9 ", f.R9)
	kv(" r10 ", f.R10)
	kv(" r11 ", f.R11)
	kv(" r12 ", f.R12)
	kv(" r13 ", f.R13)
	kv(" r14 ", f.R14)
	kv(" r15 ", f.R15)
	kv("\n  cr3 ", x86.ReadCR3())
	kv(" fs ", x86.ReadFS())
	puts("\n")
}

// brokenCore is entered on the panic stack when core itself faulted.
func brokenCore(c *CPU, t *Thread) { report(c, &t.Frame, x86.ReadCR2()) }

// paranoid is entered on the stacks of NMI, double fault and machine check,
// without the lock. An NMI is counted.
func paranoid(c *CPU, f *abi.Frame) {
	if f.Vector == 2 {
		c.nmis++
		if dumpOnNMI {
			dumpThreads()
		}
		return
	}
	report(c, f, x86.ReadCR2())
}

// panicked is what the runtime's entry points lead to: a failed check, a stack
// that is used up, an allocation. fn is the address behind the entry point's
// first instruction, pc and bp are its caller's.
func panicked(fn, pc, bp, sp uint64) {
	beginCrash()
	puts("\n*** core:")
	putSymbol(fn - 5)
	kv(" at sp ", sp)
	puts("\n")
	backtrace(pc, bp)
	poweroff(endCrash)
}

// backtrace prints the callers by their frame pointers, from pc on.
func backtrace(pc, bp uint64) {
	for range 32 {
		puts("  ")
		puthex(pc)
		putSymbol(pc)
		puts("\n")
		if bp&7 != 0 || !readable(bp) || !readable(bp+8) {
			return
		}
		up := rd64(bp)
		pc = rd64(bp + 8)
		if up <= bp || pc < coreBase {
			return
		}
		bp = up
	}
}

// backtraceHere prints who called the caller.
func backtraceHere() {
	bp := rd64(framePointer())
	backtrace(rd64(bp+8), rd64(bp))
}

// readable tells whether an address of the upper half is mapped.
func readable(a uint64) bool {
	if a < 0xffff800000000000 {
		return false
	}
	table := x86.ReadCR3() & pteAddress
	for shift := uint64(39); ; shift -= 9 {
		e := rd64(directMap + table + a>>shift&511*8)
		if e&1 == 0 {
			return false
		}
		if shift == 12 || e&pteLarge != 0 {
			return true
		}
		table = e & pteAddress
	}
}

const pteAddress = 0x000ffffffffff000

// putSymbol prints the function that has an address of core's.
func putSymbol(pc uint64) {
	tab := rd64(blobInfo + infoSymbols)
	if tab == 0 || pc < coreText || pc >= coreEnd {
		return
	}
	lo, hi := uint64(0), rd64(tab)
	for lo < hi {
		m := (lo + hi) / 2
		if rd64(tab+8+m*16) <= pc {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return
	}
	e := tab + 8 + (lo-1)*16
	putKept(' ')
	putBytes(tab+uint64(rd32(e+8)), uint64(rd32(e+12)))
	puts("+")
	puthex(pc - rd64(e))
}

// crashOnPurpose serves the tests of all this: crash=HOW on the command line.
func crashOnPurpose(c *CPU) {
	switch {
	case cmdlineHas("crash=nil"):
		puthex(rd64(c.nmis))
	case cmdlineHas("crash=bounds"):
		puthex(uint64(cpusIndex(c.nmis + maxCPU).number))
	case cmdlineHas("crash=stack"):
		puthex(deep(1))
	case cmdlineHas("crash=write"):
		wr8(coreText, 0)
	case cmdlineHas("crash=execute"):
		callAt(addressOf(&input))
	case cmdlineHas("crash=double"):
		setTrapFrame(c, 8) // the page fault's frame cannot be pushed
		puthex(rd64(c.nmis))
	case cmdlineHas("crash=nmi"):
		before := c.nmis
		wr32(lapic+lapicICRHigh, uint32(c.apic)<<24)
		wr32(lapic+lapicICR, 0x4400)
		spin(1000000)
		puts("core: NMIs: ")
		putdec(c.nmis - before)
		puts("\n")
	case cmdlineHas("crash=die"):
		started = true
		die("as told")
	}
}

//go:noinline
func cpusIndex(i uint64) *CPU { return cpus[i] }

//go:noinline
func deep(n uint64) uint64 {
	var pad [64]uint64
	if n == 0 { // never
		return n
	}
	pad[n&63] = n
	return deep(n+1) + pad[(n+1)&63]
}

// callAt jumps to an address.
func callAt(a uint64) {
	f := &a
	(*(*func())(ptr(addressOf(&f))))()
}
