//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/x86"

// Each processor has an area of 64 KiB, aligned to its size, so that code that
// cannot trust GS finds the CPU by its stack pointer:
//
//	0x0000  pointer to the CPU
//	0x0040  TSS
//	0x0100  GDT, and the pointer to it for LGDT
//	0x0200  stand-ins for g, one a stack
//	0x0800  CPU
//	0x1000  stacks of NMI, double fault and machine check, 8 KiB each
//	0x7000  kernel stack
const (
	areaOrder = 4
	areaSize  = 4096 << areaOrder

	areaSelf   = 0x0000
	areaTSS    = 0x0040
	areaGDT    = 0x0100
	areaGDTR   = 0x0160
	areaG      = 0x0200
	areaCPU    = 0x0800
	areaStacks = 0x1000
	areaStack  = 0x7000

	gSize       = 0x40
	faultStack  = 0x2000
	tssSelector = 0x30
)

// stackGuard is how far above stack.lo a function prologue's check fails
// (internal/runtime stackGuard: 928 bytes on linux/amd64).
const stackGuard = 928

// area0 holds the first processor's area, wherever in it that is aligned.
var area0 [2*areaSize - 1]byte

// areaOf returns the area of a processor.
func areaOf(c *CPU) uint64 { return addressOf(c) &^ (areaSize - 1) }

// cpuAt returns the CPU of an area.
func cpuAt(area uint64) *CPU { return (*CPU)(ptr(area + areaCPU)) }

// initArea fills the area at a, whose pages are clear or fresh from the image.
func initArea(a uint64) {
	wr64(a+areaSelf, a+areaCPU)
	initG(a+areaG, a+areaStack, a+areaSize)
	for i := uint64(0); i < 3; i++ {
		lo := a + areaStacks + i*faultStack
		initG(a+areaG+(i+1)*gSize, lo, lo+faultStack)
		// IST2 to IST4 (SDM vol. 3, 8.7)
		tssStore(a+areaTSS+0x24+(i+1)*8, lo+faultStack)
	}
	wr16(a+areaTSS+0x66, 104) // no I/O bitmap

	for i := uint64(0); i < 6; i++ {
		wr64(a+areaGDT+i*8, rd64(blobGDT+i*8))
	}
	tss := a + areaTSS
	wr64(a+areaGDT+tssSelector, 0x67|tss&0xffffff<<16|0x89<<40|tss>>24&0xff<<56)
	wr64(a+areaGDT+tssSelector+8, tss>>32)
	wr16(a+areaGDTR, tssSelector+16-1)
	wr64(a+areaGDTR+2, a+areaGDT)

	c := cpuAt(a)
	c.tss = tss
	setTrapFrame(c, blobTrapStack+4096)
}

// setTrapFrame makes the processor push the frames of traps below top.
func setTrapFrame(c *CPU, top uint64) { tssStore(c.tss+0x24, top) }

// tssStore writes a stack pointer of a TSS, which is 4-byte aligned.
func tssStore(at, v uint64) {
	wr32(at, uint32(v))
	wr32(at+4, uint32(v>>32))
}

func initG(g, lo, hi uint64) {
	wr64(g, lo)
	wr64(g+8, hi)
	wr64(g+16, lo+stackGuard)
	wr64(g+24, lo+stackGuard)
}

// loadArea makes this processor use its own GDT and TSS.
func loadArea(c *CPU) { loadTables(areaOf(c)+areaGDTR, tssSelector) }

// initProcessor switches on what the entry code did not, and tells what a
// system call enters.
func initProcessor(c *CPU) {
	_, bx, _, _ := x86.Cpuid(7, 0)
	if bx&needed7 != needed7 {
		die("this processor lacks FSGSBASE, SMEP or SMAP")
	}
	x86.WriteCR4(x86.ReadCR4() | cr4FSGSBASE | cr4SMEP | cr4SMAP)
	sysEntry, _, _, _ := symbols()
	// Core's segments are 0x08 and 0x10; SYSRET adds 8 and 16 to 0x1b.
	x86.Wrmsr(msrSTAR, 0x1b<<48|0x08<<32)
	x86.Wrmsr(msrLSTAR, sysEntry)
	x86.Wrmsr(msrFMASK, 0x40700) // IF, TF, DF, AC
}

const (
	needed7     = 1<<0 | 1<<7 | 1<<20 // CPUID.7.EBX: FSGSBASE, SMEP, SMAP
	cr4FSGSBASE = 1 << 16
	cr4SMEP     = 1 << 20
	cr4SMAP     = 1 << 21

	msrSTAR  = 0xc0000081
	msrLSTAR = 0xc0000082
	msrFMASK = 0xc0000084
)
