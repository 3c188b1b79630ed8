//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/x86"

// Fixed addresses in the boot blob, which kernel/image writes.
const (
	blob     = 0xffffffff80100000
	ksymPtr  = blob + 0xc800 // u64: address of the symbol table, 0 if none
	tssAddr  = blob + 0xb100
	pml4Phys = 0x100000
)

// boot is called on the first processor with the physical address of the PVH
// start info.
func boot(c *CPU, info uint64) {
	x86.Outb(com1+1, 0)
	x86.Outb(com1+3, 3)
	ksymBase = rd64(ksymPtr)
	_, _, text, end := symbols()
	c.self = addressOf(c)
	coreText, coreEnd = text, end
	initStacks(c)
	kernPML4 = pml4Phys
	c.tss = tssAddr

	initMemory(info+directMap, end)
	wr64(directMap+pml4Phys, 0) // drop the identity map
	x86.WriteCR3(pml4Phys)
	servicesSpace = newAddressSpace(svcMmap, svcMmapE, svcMmap+1<<26, pml4Phys)
	c.curAS = servicesSpace

	initMSRs()
	initSystab()
	initTimer()
	initIdle(c)
	if findFile("services") {
		spawnServices(c)
	} else {
		spawnUser(c)
	}
	puts("Leveret: boot OK\n")
	c.sliceEnd = nowNS() + slice
	arm(c, nowNS()+slice)
	schedule(c)
}

func initStacks(c *CPU) {
	g0.lo = addressOf(&stack0)
	g0.hi = g0.lo + stackSize
	g0.guard0 = g0.lo + stackGuard
	g0.guard1 = g0.guard0
	panicG.lo = addressOf(&panicStack)
	panicG.hi = panicG.lo + panicStackSize
	panicG.guard0 = panicG.lo + stackGuard
	panicG.guard1 = panicG.guard0
}

// initMemory reads the PVH start info (Xen's public/arch-x86/hvm/start_info.h):
// the initramfs, the command line and the memory map.
func initMemory(info, end uint64) {
	if rd32(info) != 0x336ec578 {
		die("bad PVH magic")
	}
	if rd32(info+12) > 0 {
		m := directMap + rd64(info+16)
		initrd = directMap + rd64(m)
		initrdLen = rd64(m + 8)
	}
	if cmd := rd64(info + 24); cmd != 0 {
		parseCmdline(directMap + cmd)
	}
	mm := directMap + rd64(info+40)
	nmm := uint64(rd32(info + 48))
	kend := (end - coreBase + 4095) &^ 4095
	for i := uint64(0); i < nmm; i++ {
		e := mm + i*24
		a, n, ty := rd64(e), rd64(e+8), rd32(e+16)
		if ty != 1 || a < 0x100000 || a >= 1<<32 {
			continue
		}
		lo, hi := a, a+n
		if lo < kend {
			lo = kend
		}
		if initrd != 0 && initrd-directMap > lo && initrd-directMap < hi {
			hi = initrd - directMap
		}
		if hi > lo && hi-lo > frameEnd-frameNext {
			frameNext, frameEnd = (lo+4095)&^4095, hi&^4095
		}
	}
	freeStk = directMap + frameNext
	frameNext += ((frameEnd-frameNext)/4096*4 + 4095) &^ 4095
	puts("MEM usable=")
	putdec((frameEnd - frameNext) >> 10)
	puts("KiB frames=")
	putdec((frameEnd - frameNext) >> 12)
	puts("\n")
}

func initMSRs() {
	// STAR: kernel CS 0x08/SS 0x10; user base 0x1b -> SS 0x23, CS 0x2b
	sysEntry, _, _, _ := symbols()
	x86.Wrmsr(0xc0000081, 0x1b<<48|0x08<<32)
	x86.Wrmsr(0xc0000082, sysEntry)
	x86.Wrmsr(0xc0000084, 0x40700) // FMASK: IF TF DF AC
}

func initIdle(c *CPU) {
	_, idle, _, _ := symbols()
	t := newThread(c, nil, true)
	t.frame.IP = idle
	t.frame.SP = taddr(t) + 4096
	t.frame.Flags = 0x202
	c.idleT = t
	c.cur = t
	setCur(c, t)
}

const svcEnv = "GOMAXPROCS=4"
const svcEnv1 = "GODEBUG=cpu.all=off"

func spawnServices(c *CPU) {
	start(c, servicesSpace, fAddr, svcMmap+1<<20, 512<<10, "services", svcEnv1, svcEnv, true)
}

func spawnUser(c *CPU) {
	if !findFile("init") {
		die("no init")
	}
	as := newAddressSpace(0x10000, userTop-0x10000000, 0x7f0000000000, 0)
	start(c, as, fAddr, userTop-4096, 1<<20, "init", "HOME=/", "KERNEL=core", false)
}
