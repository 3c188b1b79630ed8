package image

// Page table bits (SDM vol. 3, 4.5).
const (
	present  = 1 << 0
	writable = 1 << 1
	noCache  = 3 << 3
	accessed = 1 << 5
	dirty    = 1 << 6
	large    = 1 << 7

	table = present | writable
	page2 = present | writable | accessed | dirty | large
)

// CR4: PAE, PGE, OSFXSR, OSXMMEXCPT, FSGSBASE, SMEP, SMAP.
const cr4 = 1<<5 | 1<<7 | 1<<9 | 1<<10 | 1<<16 | 1<<20 | 1<<21

// EFER: SCE, LME, NXE. CR0: PG, WP, NE, ET, MP, PE.
const (
	efer = 1<<0 | 1<<8 | 1<<11
	cr0  = 1<<31 | 1<<16 | 1<<5 | 1<<4 | 1<<1 | 1<<0
)

// pushesError are the exceptions whose frame has an error code.
var pushesError = map[int]bool{8: true, 10: true, 11: true, 12: true, 13: true, 14: true, 17: true, 21: true, 29: true, 30: true}

// blob is the 64 KiB below core that the machine starts from: page tables,
// descriptor tables, the PVH entry, and a stub for each interrupt vector.
type blob []byte

func newBlob(l *linked) (blob, error) {
	b := make(blob, blobSize)
	entry, err := l.symbol("main.entry64")
	if err != nil {
		return nil, err
	}
	trap, err := l.symbol("main.trapEntry")
	if err != nil {
		return nil, err
	}
	b.pageTables()
	b.descriptors()
	b.gates(trap)
	b.entry(entry)
	b.put(offSymbols, CoreBase+symbolsPhys)
	return b, nil
}

func (b blob) put(off int, v uint64) { le.PutUint64(b[off:], v) }

func (b blob) pageTables() {
	b.put(offPML4, blobPhys+offLowPDPT|table)
	b.put(offPML4+slotDirect*8, blobPhys+offDirectPDPT|table)
	b.put(offPML4+slotHeap*8, blobPhys+offHeapPDPT|table)
	b.put(offPML4+slotHigh*8, blobPhys+offHighPDPT|table)
	for i := range 4 {
		pd := uint64(blobPhys+offLowPD+i*0x1000) | table
		b.put(offLowPDPT+i*8, pd)
		b.put(offDirectPDPT+i*8, pd)
		for j := range 512 {
			v := uint64(i)<<30 | uint64(j)<<21 | page2
			if i == 3 { // devices
				v |= noCache
			}
			b.put(offLowPD+i*0x1000+j*8, v)
		}
	}
	b.put(offHighPDPT+510*8, blobPhys+offHighPD|table)
	for j := range 64 {
		b.put(offHighPD+j*8, uint64(j)<<21|page2)
	}
}

func (b blob) descriptors() {
	b.put(offGDT+0x08, 0x00af9b000000ffff) // core's code
	b.put(offGDT+0x10, 0x00cf93000000ffff) // core's data
	b.put(offGDT+0x20, 0x00cff3000000ffff) // user data
	b.put(offGDT+0x28, 0x00affb000000ffff) // user code
	tss := uint64(CoreBase + blobPhys + offTSS)
	b.put(offGDT+0x30, 0x67|tss&0xffffff<<16|0x89<<40|tss>>24&0xff<<56)
	b.put(offGDT+0x38, tss>>32)
	le.PutUint16(b[offTSS+0x66:], 104) // no I/O bitmap
	b.put(offTSS+0x24, CoreBase+blobPhys+offTrapStack)
	b.put(offTSS+0x2c, CoreBase+blobPhys+blobSize)

	le.PutUint16(b[offGDTR32:], 0x4f)
	b.put(offGDTR32+2, blobPhys+offGDT)
	le.PutUint16(b[offGDTR:], 0x4f)
	b.put(offGDTR+2, CoreBase+blobPhys+offGDT)
	le.PutUint16(b[offIDTR:], 0xfff)
	b.put(offIDTR+2, CoreBase+blobPhys+offIDT)
}

// gates writes the IDT and a stub for each vector, which pushes the vector
// and jumps to trap.
func (b blob) gates(trap uint64) {
	for v := range 256 {
		off := offGates + v*16
		addr := CoreBase + blobPhys + uint64(off)
		var c code
		if !pushesError[v] {
			c.bytes(0x6a, 0) // PUSH 0
		}
		c.bytes(0x68) // PUSH imm32
		c.u32(uint32(v))
		c.bytes(0xe9) // JMP rel32
		c.u32(uint32(trap - (addr + uint64(len(c)) + 4)))
		copy(b[off:], c)
		ist := uint64(1)
		if v == 2 || v == 8 || v == 18 {
			ist = 2
		}
		b.put(offIDT+v*16, addr&0xffff|0x08<<16|ist<<32|0x8e<<40|addr>>16&0xffff<<48)
		b.put(offIDT+v*16+8, addr>>32)
	}
}

// entry writes the PVH entry: 32-bit, paging off, EBX = start info. It jumps
// to entry64 with RBX as it was and everything below switched on.
func (b blob) entry(entry64 uint64) {
	var c code
	c.bytes(0xfa)       // CLI
	c.bytes(0x31, 0xed) // XORL BP, BP
	c.bytes(0xb8)       // MOVL $PML4, AX
	c.u32(blobPhys + offPML4)
	c.bytes(0x0f, 0x22, 0xd8)       // MOVL AX, CR3
	c.bytes(0x0f, 0x20, 0xe0, 0x0d) // MOVL CR4, AX; ORL $cr4, AX
	c.u32(cr4)                      //
	c.bytes(0x0f, 0x22, 0xe0, 0xb9) // MOVL AX, CR4; MOVL $EFER, CX
	c.u32(0xc0000080)               //
	c.bytes(0x0f, 0x32, 0x0d)       // RDMSR; ORL $efer, AX
	c.u32(efer)                     //
	c.bytes(0x0f, 0x30, 0xb8)       // WRMSR; MOVL $cr0, AX
	c.u32(cr0)                      //
	c.bytes(0x0f, 0x22, 0xc0)       // MOVL AX, CR0
	c.bytes(0x0f, 0x01, 0x15)       // LGDT gdtr32
	c.u32(blobPhys + offGDTR32)     //
	c.bytes(0xea)                   // LJMP $8, next
	c.u32(uint32(blobPhys + offEntry + len(c) + 6))
	c.bytes(0x08, 0)
	c.longMode()
	c.bytes(0x66, 0xb8, 0x30, 0, 0x0f, 0x00, 0xd8) // MOVW $0x30, AX; LTR AX
	c.bytes(0x89, 0xdb)                            // MOVL BX, BX
	c.bytes(0x48, 0xb8)                            // MOVQ $entry64, AX
	c.u64(entry64)
	c.bytes(0xff, 0xe0) // JMP AX
	copy(b[offEntry:offSymbols], c)
}

// longMode is what every processor does first in 64-bit mode: data segments,
// and the descriptor tables by their high addresses.
func (c *code) longMode() {
	c.bytes(0x66, 0xb8, 0x10, 0)                // MOVW $0x10, AX
	c.bytes(0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0) // MOVW AX, DS; ES; SS
	c.bytes(0x31, 0xc0, 0x8e, 0xe0, 0x8e, 0xe8) // XORL AX, AX; MOVW AX, FS; GS
	c.bytes(0x0f, 0x01, 0x14, 0x25)             // LGDT gdtr
	c.u32(blobPhys + offGDTR)                   //
	c.bytes(0x0f, 0x01, 0x1c, 0x25)             // LIDT idtr
	c.u32(blobPhys + offIDTR)
}

// code is machine code in the making.
type code []byte

func (c *code) bytes(b ...byte) { *c = append(*c, b...) }
func (c *code) u32(v uint32)    { *c = le.AppendUint32(*c, v) }
func (c *code) u64(v uint64)    { *c = le.AppendUint64(*c, v) }
