//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// ksyms: written by mkkernel at ksymBase: count, then {addr u64, nameoff u32,
// namelen u32} sorted by address, then names.
func symname(tab, pc uint64) {
	if tab == 0 {
		return
	}
	n := rd64(tab)
	lo, hi := uint64(0), n
	for lo < hi {
		m := (lo + hi) / 2
		if rd64(tab+8+m*16) <= pc {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		puts(" ?")
		return
	}
	e := tab + 8 + (lo-1)*16
	off := rd64(e + 8)
	p := tab + off&0xffffffff
	putc(' ')
	for i := uint64(0); i < off>>32; i++ {
		putc(rd8(p + i))
	}
	puts("+")
	puthex(pc - rd64(e))
}

func backtrace(pc, bp uint64) {
	for i := 0; i < 24; i++ {
		puts("  ")
		puthex(pc)
		symname(symtabFor(pc), pc)
		puts("\n")
		if bp&7 != 0 || !kaddrOK(bp) || !kaddrOK(bp+8) {
			return
		}
		pc = rd64(bp + 8)
		nbp := rd64(bp)
		if nbp <= bp || pc == 0 {
			if pc > 0xffffffff80000000 {
				puts("  ")
				puthex(pc)
				symname(symtabFor(pc), pc)
				puts("\n")
			}
			return
		}
		bp = nbp
	}
}

func symtabFor(pc uint64) uint64 {
	if pc >= coreText && pc < coreEnd {
		return ksymBase
	}
	return 0
}

// kaddrOK: a kernel-half address that is mapped now.
func kaddrOK(a uint64) bool {
	if a < 0xffff800000000000 {
		return false
	}
	return walk(x86.ReadCR3()&pPA, a) != 0
}

// panicked: reached from panicEntry (patched runtime functions).
func panicked(fn, pc, bp, sp uint64) {
	puts("\n*** CORE PANIC via")
	symname(ksymBase, fn-5)
	puts(" (RIP ")
	puthex(pc)
	puts(")\n")
	backtrace(pc, bp)
	poweroff(endCrash)
}

func crash(c *CPU, t *Thread, a uint64) {
	puts("\n*** ")
	if t.CS&3 == 3 {
		puts("user")
	} else if t.IP >= servicesBase {
		puts("services")
	} else {
		puts("CORE")
	}
	puts(" fault: vector ")
	putdec(t.Vector)
	kv(" err ", t.Error)
	kv(" addr ", a)
	kv(" RIP ", t.IP)
	kv(" RSP ", t.SP)
	kv(" cpu ", c.number)
	kv("\n ax ", t.AX)
	kv(" bx ", t.BX)
	kv(" cx ", t.CX)
	kv(" dx ", t.DX)
	kv(" si ", t.SI)
	kv(" di ", t.DI)
	kv(" bp ", t.BP)
	kv(" r14 ", t.R14)
	kv(" fs ", x86.ReadFS())
	puts("\n")
	if t.CS&3 == 0 {
		backtrace(t.IP, t.BP)
	}
	poweroff(endCrash)
}

var ksymBase uint64

// brokenCore is entered on the panic stack when core itself faulted.
func brokenCore(c *CPU, t *Thread) { crash(c, t, x86.ReadCR2()) }

// paranoid is entered on the stacks of NMI, double fault and machine check,
// without the lock.
func paranoid(c *CPU, f *abi.Frame) {
	if f.Vector == 2 {
		c.nmis++
		return
	}
	crash(c, (*Thread)(ptr(addressOf(f))), x86.ReadCR2())
}

// backtraceHere prints who called the caller.
func backtraceHere() {
	bp := rd64(framePointer())
	backtrace(rd64(bp+8), rd64(bp))
}
