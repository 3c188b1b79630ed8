//go:build amd64

package main

const (
	directMap = 0xffff900000000000 // all physical memory
	coreBase  = 0xffffffff80000000 // virtual - physical address of core
	userTop   = 0x00007ffffffff000

	servicesBase = 0xffffffff90000000
	svcMmap      = 0xffffc00000000000
	svcMmapE     = 0xffffc08000000000
)

// The boot blob, as kernel/image lays it out; a test compares.
const (
	blobPhys       = 0x100000
	offPML4        = 0x0
	offDirectPDPT  = 0xa000
	offTables      = 0x15000
	offTrampoline  = 0x17000
	trampolinePhys = 0x8000

	blobGDT       = coreBase + blobPhys + offTables
	blobInfo      = coreBase + blobPhys + offTables + 0xc0
	blobTrapStack = coreBase + blobPhys + 0x18000

	infoSymbols      = 0x00
	infoServices     = 0x08
	infoServicesSize = 0x10
	infoEnd          = 0x18

	pml4Phys = blobPhys + offPML4
)

// Segment selectors.
const (
	kCS = 0x08
	kSS = 0x10
	uSS = 0x23
	uCS = 0x2b
)
