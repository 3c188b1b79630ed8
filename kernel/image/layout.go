package image

// Where things are in physical memory, and in core's address space, which is
// the physical address plus CoreBase. kernel/core knows the same numbers.
//
//	0x100000  the boot blob: page tables, descriptor tables, entry code
//	0x120000  the symbol table
//	0x200000  core, as linked
//	          services, from the first page behind core
const (
	// CoreBase is what a virtual address of core is above its physical one.
	CoreBase = 0xffffffff80000000
	// DirectMap is where core sees physical address 0.
	DirectMap = 0xffff900000000000

	blobPhys    = 0x100000
	blobSize    = offTrapStack + 0x1000
	symbolsPhys = 0x120000
	corePhys    = 0x200000
	symbolsMax  = corePhys - symbolsPhys

	// coreMax is where the page tables of core's image end.
	coreMax = highTables << 21
)

// Offsets in the blob, each a page or more.
const (
	offPML4       = 0x00000 // the upper half, which all address spaces share
	offBootPML4   = 0x01000 // the same and the identity map, for the way up
	offBootPDPT   = 0x02000
	offBootPD     = 0x03000
	offHighPDPT   = 0x04000 // of the last 512 GiB, where core is
	offHighPD     = 0x05000
	offHighPT     = 0x06000 // highTables tables
	offDirectPDPT = offHighPT + highTables*0x1000
	offDirectPD   = offDirectPDPT + 0x1000 // four tables: 4 GiB by 2 MiB
	offDirectPT   = offDirectPD + 4*0x1000 // highTables tables
	offHeapPDPT   = offDirectPT + highTables*0x1000
	offIDT        = offHeapPDPT + 0x1000
	offTables     = offIDT + 0x1000 // GDT, pointers to it and to the IDT, entry code
	offGates      = offTables + 0x1000
	offTrampoline = offGates + 0x1000
	offTrapStack  = offTrampoline + 0x1000 // until the first thread runs

	// highTables is how many page tables map core by 4 KiB: 8 MiB of it.
	highTables = 4

	offGDT    = offTables
	offGDTR32 = offTables + 0x80
	offGDTR   = offTables + 0x90
	offIDTR   = offTables + 0xa0
	offInfo   = offTables + 0xc0
	offEntry  = offTables + 0x100

	gdtSize = 0x40
)

// The trampoline of the other processors is copied to this physical address:
// page 8 is what the start-up IPI names.
const (
	trampolinePhys = 0x8000
	trampolineGDTR = 0x100
)

// PML4 slots.
const (
	slotDirect = 288
	slotHeap   = 384 // services' mmap region
	slotHigh   = 511
)

// Info is what the blob tells core, at offInfo, as u64 each.
const (
	infoSymbols      = 0x00 // virtual address of the symbol table
	infoServices     = 0x08 // physical address of services' ELF file, or 0
	infoServicesSize = 0x10 // bytes
	infoEnd          = 0x18 // physical address of the first free page
)
