//go:build amd64

// Package x86 holds the privileged instructions of the kernel's core, one
// assembly leaf function each. None of them allocates, blocks or looks at g.
package x86

// Outb writes a byte to an I/O port.
func Outb(port uint16, v uint8)

// Outw writes 16 bits to an I/O port.
func Outw(port uint16, v uint16)

// Outl writes 32 bits to an I/O port.
func Outl(port uint16, v uint32)

// Inb reads a byte from an I/O port.
func Inb(port uint16) uint8

// Inw reads 16 bits from an I/O port.
func Inw(port uint16) uint16

// Inl reads 32 bits from an I/O port.
func Inl(port uint16) uint32

// Wrmsr writes a model-specific register.
func Wrmsr(msr uint32, v uint64)

// Rdmsr reads a model-specific register.
func Rdmsr(msr uint32) uint64

// Cpuid executes CPUID for a leaf and subleaf.
func Cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)

// Rdtsc reads the time-stamp counter.
func Rdtsc() uint64

// Rdrand reads a random number from the processor; ok is false when it has
// none to give (SDM vol. 1, 7.3.17). Only where CPUID.01H:ECX[30] is set.
func Rdrand() (v uint64, ok bool)

// ReadCR2 returns the address of the last page fault.
func ReadCR2() uint64

// ReadCR3 returns the physical address of the page tables in use.
func ReadCR3() uint64

// WriteCR3 loads page tables, which drops all TLB entries that are not global.
func WriteCR3(v uint64)

// ReadCR4 returns CR4.
func ReadCR4() uint64

// WriteCR4 sets CR4.
func WriteCR4(v uint64)

// ReadCR0 returns CR0.
func ReadCR0() uint64

// WriteCR0 sets CR0.
func WriteCR0(v uint64)

// Xsetbv sets extended control register 0.
func Xsetbv(v uint64)

// Invlpg drops the TLB entry of one page.
func Invlpg(a uint64)

// WriteFS sets the FS base.
func WriteFS(v uint64)

// ReadFS returns the FS base.
func ReadFS() uint64

// Pause tells the processor that this is a spin loop.
func Pause()

// Halt stops the processor for good, interrupts off.
func Halt()

// Fxsave writes the 512-byte FXSAVE64 image to p, 16-byte aligned.
func Fxsave(p uint64)

// Fxrstor loads the 512-byte FXSAVE64 image at p, 16-byte aligned.
func Fxrstor(p uint64)

// Fninit resets the x87 unit.
func Fninit()

// ClearPage zeroes the 4 KiB at p, a 16-byte aligned address, with plain
// stores: an emulator runs REP STOS one byte at a time.
func ClearPage(p uint64)

// CopyForward copies n bytes upwards with plain moves and no vector register.
func CopyForward(dst, src, n uint64)
