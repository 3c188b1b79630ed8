package image

// Where things are in physical memory, and in core's address space, which is
// the physical address plus CoreBase. Core knows the same numbers.
const (
	// CoreBase is what a virtual address of core is above its physical one.
	CoreBase = 0xffffffff80000000
	// DirectMap is where core sees physical address 0.
	DirectMap = 0xffff900000000000

	blobPhys    = 0x100000 // the boot blob
	blobSize    = 0x10000
	symbolsPhys = 0x110000 // the symbol table
	symbolsMax  = 0xf0000
	corePhys    = 0x200000 // core itself

	// Offsets in the blob.
	offPML4       = 0x0000
	offHighPDPT   = 0x2000 // of the last 512 GiB, where core is
	offLowPDPT    = 0x1000 // identity map, for the way up
	offLowPD      = 0x3000 // four tables: 4 GiB by 2 MiB
	offHighPD     = 0x7000
	offDirectPDPT = 0x8000
	offHeapPDPT   = 0x9000 // of services' mmap region
	offIDT        = 0xa000
	offGDT        = 0xb000
	offTSS        = 0xb100
	offGDTR32     = 0xb200
	offGDTR       = 0xb210
	offIDTR       = 0xb220
	offEntry      = 0xc000 // PVH entry, 32-bit
	offSymbols    = 0xc800 // u64: address of the symbol table
	offGates      = 0xd000 // 256 stubs of 16 bytes
	offTrampoline = 0xe000
	offTrapStack  = 0xf000 // until the first thread runs

	// PML4 slots.
	slotDirect = 288
	slotHeap   = 384
	slotHigh   = 511
)
