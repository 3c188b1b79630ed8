//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/timers"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// boot runs on the first processor, with the lock, and is given the physical
// address of the PVH start info. What it schedules runs when it returns.
func boot(c *CPU, info uint64) {
	tscBase = x86.Rdtsc() // time begins
	coreText, coreEnd = imageBounds()
	initG(addressOf(&panicG), addressOf(&panicStack), addressOf(&panicStack)+panicStackSize)
	initConsole()
	initArea(areaOf(c))
	loadArea(c)
	initProcessor(c)

	readStartInfo(info)
	readCmdline()
	mapMemory()
	initFrames()
	machine.Read(bootInfo.rsdp)
	maskPIC()
	initTime()
	initRandom()

	initSpaces()
	servicesSpace = newServicesSpace()
	c.curAS = servicesSpace
	addCPU(c)
	startTimer()
	startOthers(c)
	if !quiet {
		puts("CPUS ")
		putdec(ncpu)
		puts("\n")
	}
	initThreads(c)
	initIdle(c)
	initInterrupts(c)
	if selftest {
		runSelftest(c)
	}
	crashOnPurpose(c)
	spawnServices(c)
	if !quiet {
		puts("Leveret: boot OK\n")
	}
	c.since = nowNS()
	schedule(c)
}

// imageBounds returns where core's code and data are.
func imageBounds() (start, end uint64) {
	_, _, start, end = symbols()
	return start, end
}

// initIdle makes the thread that runs when no other can.
func initIdle(c *CPU) {
	_, idle, _, _ := symbols()
	t := newThread(c, idleProcess)
	if t == nil {
		die("no memory")
	}
	t.fp = fpDead
	c.armed = timers.Never
	t.IP = idle
	t.SP = taddr(t) + 4096
	t.Flags = 0x202
	c.idleT = t
	c.cur = t
	setCur(c, t)
}

const svcEnv = "GOMAXPROCS=4"
const svcEnv1 = "GODEBUG=cpu.all=off"

// spawnServices starts services from the image.
func spawnServices(c *CPU) {
	at := rd64(blobInfo + infoServices)
	if at == 0 {
		die("the image has no services")
	}
	w := &startWords
	w.add("services", true)
	w.add(svcEnv1, false)
	w.add(svcEnv, false)
	start(c, servicesSpace, directMap+at, rd64(blobInfo+infoServicesSize), svcMmap+1<<20, 512<<10, w, servicesProcess)
}

// initInterrupts routes what devices interrupt with.
func initInterrupts(c *CPU) {
	if machine.IOAPIC == 0 {
		return
	}
	routeISA(4, vecSerial, c.apic)
	listenConsole(c)
}

// routeISA makes an ISA interrupt arrive as a vector at a processor.
func routeISA(irq, vector, apic uint64) {
	input := uint64(machine.Inputs[irq] - machine.IOAPICBase)
	low := vector
	if machine.Flags[irq]&3 == 3 {
		low |= 1 << 13 // active low
	}
	if machine.Flags[irq]>>2&3 == 3 {
		low |= 1 << 15 // level
	}
	ioapicWrite(0x10+input*2+1, apic<<24)
	ioapicWrite(0x10+input*2, low)
}

func ioapicWrite(register, v uint64) {
	wr32(directMap+machine.IOAPIC, uint32(register))
	wr32(directMap+machine.IOAPIC+0x10, uint32(v))
}
