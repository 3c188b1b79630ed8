package image

// The first CR4: PAE, PGE, OSFXSR, OSXMMEXCPT. Core adds what CPUID offers.
const cr4 = 1<<5 | 1<<7 | 1<<9 | 1<<10

// EFER: SCE, LME, NXE. CR0: PG, WP, NE, ET, MP, PE.
const (
	efer = 1<<0 | 1<<8 | 1<<11
	cr0  = 1<<31 | 1<<16 | 1<<5 | 1<<4 | 1<<1 | 1<<0
)

// pushesError are the exceptions whose frame has an error code.
var pushesError = map[int]bool{8: true, 10: true, 11: true, 12: true, 13: true, 14: true, 17: true, 21: true, 29: true, 30: true}

// Stacks of the interrupt stack table, by vector; all others use istThread.
const istThread = 1

var ist = map[int]uint64{
	2:  2, // NMI
	8:  3, // double fault
	18: 4, // machine check
}

// blob is what the machine starts from: page tables, descriptor tables, the
// entry code of the first processor and of the others, and a stub for each
// interrupt vector.
type blob []byte

// entries are the functions of core that the blob jumps to.
type entries struct {
	boot, ap, trap, paranoid uint64
}

func findEntries(l *linked) (e entries, err error) {
	for name, to := range map[string]*uint64{
		"main.entry64": &e.boot, "main.apEntry": &e.ap, "main.trapEntry": &e.trap, "main.paranoidEntry": &e.paranoid,
	} {
		if *to, err = l.symbol(name); err != nil {
			return e, err
		}
	}
	return e, nil
}

func (b blob) put(off int, v uint64) { le.PutUint64(b[off:], v) }

// descriptors writes the GDT and the pointers to it and the IDT. Each
// processor gets a GDT of its own later, with its TSS.
func (b blob) descriptors() {
	b.put(offGDT+0x08, 0x00af9b000000ffff) // core's code
	b.put(offGDT+0x10, 0x00cf93000000ffff) // core's data
	b.put(offGDT+0x20, 0x00cff3000000ffff) // user data
	b.put(offGDT+0x28, 0x00affb000000ffff) // user code

	le.PutUint16(b[offGDTR32:], gdtSize-1)
	b.put(offGDTR32+2, blobPhys+offGDT)
	le.PutUint16(b[offGDTR:], gdtSize-1)
	b.put(offGDTR+2, CoreBase+blobPhys+offGDT)
	le.PutUint16(b[offIDTR:], 16*256-1)
	b.put(offIDTR+2, CoreBase+blobPhys+offIDT)
}

// gates writes the IDT and a stub for each vector, which pushes an error code
// where the processor does not, and the vector, and jumps to core.
func (b blob) gates(e entries) {
	for v := range 256 {
		off := offGates + v*16
		addr := CoreBase + blobPhys + uint64(off)
		to, stack := e.trap, uint64(istThread)
		if n := ist[v]; n != 0 {
			to, stack = e.paranoid, n
		}
		var c code
		if !pushesError[v] {
			c.bytes(0x6a, 0) // PUSH 0
		}
		c.bytes(0x68) // PUSH imm32
		c.u32(uint32(v))
		c.bytes(0xe9) // JMP rel32
		c.u32(uint32(to - (addr + uint64(len(c)) + 4)))
		copy(b[off:], c)
		gate := uint64(0x8e) // present interrupt gate
		if v == 3 {
			gate |= 3 << 5 // INT3 is for programs too
		}
		b.put(offIDT+v*16, addr&0xffff|0x08<<16|stack<<32|gate<<40|addr>>16&0xffff<<48)
		b.put(offIDT+v*16+8, addr>>32)
	}
}

// entry writes the PVH entry: 32-bit, paging off, EBX = start info. It jumps
// to core with RBX as it was.
func (b blob) entry(core uint64) {
	var c code
	c.bytes(0xfa)       // CLI
	c.bytes(0x31, 0xed) // XORL BP, BP
	c.bytes(0xb8)       // MOVL $PML4, AX
	c.u32(blobPhys + offBootPML4)
	c.bytes(0x0f, 0x22, 0xd8)       // MOVL AX, CR3
	c.bytes(0x0f, 0x20, 0xe0, 0x0d) // MOVL CR4, AX; ORL $cr4, AX
	c.u32(cr4)
	c.bytes(0x0f, 0x22, 0xe0, 0xb9) // MOVL AX, CR4; MOVL $EFER, CX
	c.u32(0xc0000080)
	c.bytes(0x0f, 0x32, 0x0d) // RDMSR; ORL $efer, AX
	c.u32(efer)
	c.bytes(0x0f, 0x30, 0xb8) // WRMSR; MOVL $cr0, AX
	c.u32(cr0)
	c.bytes(0x0f, 0x22, 0xc0) // MOVL AX, CR0
	c.bytes(0x0f, 0x01, 0x15) // LGDT gdtr32
	c.u32(blobPhys + offGDTR32)
	c.bytes(0xea) // LJMP $8, next
	c.u32(uint32(blobPhys + offEntry + len(c) + 6))
	c.bytes(0x08, 0)
	c.longMode()
	c.bytes(0x89, 0xdb) // MOVL BX, BX
	c.jump(core)
	if len(c) > offGates-offEntry {
		panic("image: entry code too long")
	}
	copy(b[offEntry:], c)
}

// trampoline writes the start of the other processors: real mode at
// trampolinePhys, straight to long mode.
func (b blob) trampoline(core uint64) {
	var c code
	c.bytes(0xfa, 0xfc)             // CLI; CLD
	c.bytes(0x31, 0xc0, 0x8e, 0xd8) // XORW AX, AX; MOVW AX, DS
	c.bytes(0x66, 0x0f, 0x01, 0x16) // LGDTL trampolineGDTR
	c.bytes(byte(trampolineGDTR&0xff), byte((trampolinePhys+trampolineGDTR)>>8))
	c.bytes(0x66, 0xb8) // MOVL $cr4, AX
	c.u32(cr4)
	c.bytes(0x0f, 0x22, 0xe0, 0x66, 0xb8) // MOVL AX, CR4; MOVL $PML4, AX
	c.u32(blobPhys + offBootPML4)
	c.bytes(0x0f, 0x22, 0xd8, 0x66, 0xb9) // MOVL AX, CR3; MOVL $EFER, CX
	c.u32(0xc0000080)
	c.bytes(0x0f, 0x32, 0x66, 0x0d) // RDMSR; ORL $efer, AX
	c.u32(efer)
	c.bytes(0x0f, 0x30, 0x66, 0xb8) // WRMSR; MOVL $cr0, AX
	c.u32(cr0)
	c.bytes(0x0f, 0x22, 0xc0, 0x66, 0xea) // MOVL AX, CR0; LJMPL $8, next
	c.u32(uint32(trampolinePhys + len(c) + 6))
	c.bytes(0x08, 0)
	c.longMode()
	c.bytes(0x31, 0xed) // XORL BP, BP
	c.jump(core)
	if len(c) > trampolineGDTR {
		panic("image: trampoline too long")
	}
	copy(b[offTrampoline:], c)
	le.PutUint16(b[offTrampoline+trampolineGDTR:], gdtSize-1)
	le.PutUint32(b[offTrampoline+trampolineGDTR+2:], blobPhys+offGDT)
}

// code is machine code in the making.
type code []byte

func (c *code) bytes(b ...byte) { *c = append(*c, b...) }
func (c *code) u32(v uint32)    { *c = le.AppendUint32(*c, v) }
func (c *code) u64(v uint64)    { *c = le.AppendUint64(*c, v) }

// longMode is what every processor does first in 64-bit mode: data segments,
// and the descriptor tables by their high addresses.
func (c *code) longMode() {
	c.bytes(0x66, 0xb8, 0x10, 0)                // MOVW $0x10, AX
	c.bytes(0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0) // MOVW AX, DS; ES; SS
	c.bytes(0x31, 0xc0, 0x8e, 0xe0, 0x8e, 0xe8) // XORL AX, AX; MOVW AX, FS; GS
	c.bytes(0x0f, 0x01, 0x14, 0x25)             // LGDT gdtr
	c.u32(blobPhys + offGDTR)
	c.bytes(0x0f, 0x01, 0x1c, 0x25) // LIDT idtr
	c.u32(blobPhys + offIDTR)
}

// jump goes to an address anywhere.
func (c *code) jump(to uint64) {
	c.bytes(0x48, 0xb8) // MOVQ $to, AX
	c.u64(to)
	c.bytes(0xff, 0xe0) // JMP AX
}
