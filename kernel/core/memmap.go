//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// The PVH start info (Xen's public/arch-x86/hvm/start_info.h).
const (
	pvhMagic      = 0x336ec578
	pvhModules    = 12 // u32 count
	pvhModuleList = 16
	pvhCmdline    = 24
	pvhRSDP       = 32
	pvhMap        = 40
	pvhMapEntries = 48 // u32

	mapEntrySize = 24
	mapRAM       = 1
)

// bootInfo is what the start info said, copied before its memory is used.
var bootInfo struct {
	initramfs, initramfsSize uint64 // physical
	rsdp                     uint64
	usable                   uint64 // bytes of RAM that the machine has
	top                      uint64 // end of RAM
	regions                  [frames.MaxRegions]frames.Region
	count                    int
}

// readStartInfo takes what is needed from the start info at a physical address.
func readStartInfo(at uint64) {
	info := at + directMap
	if rd32(info) != pvhMagic {
		die("no PVH start info")
	}
	b := &bootInfo
	if rd32(info+pvhModules) > 0 {
		m := directMap + rd64(info+pvhModuleList)
		b.initramfs, b.initramfsSize = rd64(m), rd64(m+8)
	}
	if p := rd64(info + pvhCmdline); p != 0 {
		copyCmdline(directMap + p)
	}
	b.rsdp = rd64(info + pvhRSDP)
	m := directMap + rd64(info+pvhMap)
	for i := uint64(0); i < uint64(rd32(info+pvhMapEntries)); i++ {
		e := m + i*mapEntrySize
		if rd32(e+16) != mapRAM {
			continue
		}
		lo, hi := rd64(e), rd64(e)+rd64(e+8)
		b.usable += hi - lo
		if hi > maxPhysical {
			hi = maxPhysical
		}
		if hi > b.top {
			b.top = hi
		}
		addUsable(lo, hi)
	}
}

// Physical memory above this is not used.
const maxPhysical = 64 << 30

// addUsable adds [lo, hi) to the regions for the allocator, less the first
// MiB, the image and the initramfs. Regions come in rising order.
func addUsable(lo, hi uint64) {
	b := &bootInfo
	if lo < rd64(blobInfo+infoEnd) {
		lo = rd64(blobInfo + infoEnd)
	}
	lo, hi = (lo+4095)&^4095, hi&^4095
	from, to := b.initramfs&^4095, (b.initramfs+b.initramfsSize+4095)&^4095
	if from < hi && to > lo && from != to {
		addRegion(lo, from)
		lo = to
	}
	addRegion(lo, hi)
}

func addRegion(lo, hi uint64) {
	b := &bootInfo
	if lo >= hi || b.count == len(b.regions) {
		return
	}
	r := &b.regions[b.count]
	r.Start, r.End = lo, hi
	b.count++
}

// mapMemory completes the direct map, of which the image has 4 GiB.
func mapMemory() {
	const gib = 1 << 30
	b := &bootInfo
	_, _, _, dx := x86.Cpuid(0x80000001, 0)
	pdpt := uint64(blobPhys + offDirectPDPT + directMap)
	for at := uint64(4 * gib); at < b.top; at += gib {
		entry := pdpt + at/gib*8
		if dx&(1<<26) != 0 {
			wr64(entry, at|directRights|pteLarge)
			continue
		}
		r := &b.regions[0]
		table := r.Start
		r.Start += 4096
		for i := uint64(0); i < 512; i++ {
			wr64(directMap+table+i*8, at+i<<21|directRights|pteLarge)
		}
		wr64(entry, table|3)
	}
}

const (
	pteLarge     = 1 << 7
	directRights = 1<<63 | 1<<8 | 1<<6 | 1<<5 | 3 // NX, global, dirty, accessed, writable, present
)

// initFrames gives the memory to the allocator.
func initFrames() {
	b := &bootInfo
	if !memory.Init(&b.regions, b.count) {
		die("no memory")
	}
	if quiet {
		return
	}
	puts("MEM usable=")
	putdec(b.usable)
	puts(" frames=")
	putdec(memory.Total())
	puts("\n")
	if b.initramfsSize == 0 {
		return
	}
	kv("core: initramfs at ", b.initramfs)
	puts(", ")
	putdec(b.initramfsSize)
	puts(" bytes, on a boundary of ")
	switch {
	case b.initramfs&(2<<20-1) == 0:
		puts("2 MiB\n")
	case b.initramfs&4095 == 0:
		puts("4 KiB\n")
	default:
		puts("less than a page: its files are not mapped in place\n")
	}
}
