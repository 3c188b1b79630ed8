//go:build amd64

package main

import (
	"sync/atomic"

	"github.com/leveret-os/leveret/kernel/core/acpi"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

const maxCPU = acpi.MaxProcessors

var (
	machine acpi.Machine

	cpus [maxCPU]*CPU // those that run, by number
	ncpu uint64

	// startArea is the area of the processor that is being started. The
	// processor clears it when it has it.
	startArea uint64
)

// addCPU gives this processor a number.
func addCPU(c *CPU) {
	c.number = ncpu
	c.apic = uint64(rd32(lapic+lapicID) >> 24)
	cpus[ncpu] = c
	ncpu++
}

// startOthers starts the other processors, up to maxcpus=, one after the
// other (SDM vol. 3, 9.4). Each waits for the lock, which is held here, and
// goes idle.
func startOthers(c *CPU) {
	most, given := cmdlineNumber("maxcpus")
	if !given || most > maxCPU {
		most = maxCPU
	}
	x86.CopyForward(directMap+trampolinePhys, coreBase+blobPhys+offTrampoline, 4096)
	started := uint64(1)
	for i := uint64(0); i < machine.Count && i < maxCPU && started < most; i++ {
		id := uint64(machine.Processors[i])
		if id == c.apic || id > 0xfe {
			continue
		}
		area := memory.Alloc(areaOrder)
		if area == 0 {
			return
		}
		x86.ClearPage(directMap + area)
		area += directMap
		initArea(area)
		atomic.StoreUint64(&startArea, area)
		if startOne(id, area) {
			addStarted(cpuAt(area), id)
			started++
		} else {
			puts("core: a processor did not start\n")
			return
		}
	}
}

func addStarted(c *CPU, id uint64) {
	c.apic = id
	c.number = ncpu
	cpus[ncpu] = c
	ncpu++
}

// startOne sends INIT and start-up, the latter twice when once is not enough,
// and waits: long, since the processors of an emulator may have to share few
// real ones. It is false when the processor did not take its area, and will not.
func startOne(id, area uint64) bool {
	wr32(lapic+lapicICRHigh, uint32(id)<<24)
	wr32(lapic+lapicICR, 0x4500)
	spin(100000)
	for wait := uint64(1000000000); wait <= 10000000000; wait *= 10 {
		wr32(lapic+lapicICRHigh, uint32(id)<<24)
		wr32(lapic+lapicICR, 0x4600|trampolinePhys>>12)
		for end := nowNS() + wait; nowNS() < end; {
			if atomic.LoadUint64(&startArea) == 0 {
				return true
			}
			x86.Pause()
		}
	}
	return !atomic.CompareAndSwapUint64(&startArea, area, 0)
}

// spin waits some nanoseconds.
func spin(ns uint64) {
	for end := nowNS() + ns; nowNS() < end; {
		x86.Pause()
	}
}

// apMain is what a processor does first under the lock.
func apMain(c *CPU) {
	c.curAS = servicesSpace
	loadArea(c)
	initProcessor(c)
	startLAPIC()
	startTimer()
	initVector(c)
	initCPUNumber(c)
	initTracing()
	initIdle(c)
	if selftest {
		checkProcessor(c)
	}
	c.since = nowNS()
	schedule(c)
}

// flushOthers makes the other processors that run as drop their TLB entries
// for [start, end), and waits until they have. Who spins for the lock does it
// there.
func flushOthers(c *CPU, as *AddressSpace, start, end uint64) {
	if ncpu == 1 {
		return
	}
	for i := uint64(0); i < ncpu; i++ {
		o := cpus[i]
		if o == c || as != servicesSpace && o.curAS != as {
			continue
		}
		atomic.StoreUint64(&o.flush, 1)
		sendIPI(o.apic, vecFlush)
	}
	for i := uint64(0); i < ncpu; i++ {
		for o := cpus[i]; o != c && atomic.LoadUint64(&o.flush) != 0; {
			x86.Pause()
		}
	}
	flushes++
}

var flushes uint64
