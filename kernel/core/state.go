//go:build amd64

package main

// CPU is the state of one processor. The GS base points at it in core;
// offsets up to flush are known to entry_amd64.s.
type CPU struct {
	cur             *Thread
	stack           uint64 // top of the kernel stack
	scratch         uint64
	g               uint64
	tss             uint64
	self            uint64
	flush           uint64 // a TLB flush is asked of this CPU
	curAS           *AddressSpace
	idleT           *Thread
	armed, sliceEnd uint64
	x87Dirty        bool
	poked           bool
	apic            uint64
}

// fakeG stands in for runtime.g: its head is stack.lo, stack.hi, stackguard0,
// stackguard1, which function prologues compare SP with.
type fakeG struct {
	lo, hi, guard0, guard1 uint64
	pad                    [60]uint64
}

// stackGuard is how far above stack.lo a prologue's check fails
// (internal/runtime stackGuard: 928 bytes on linux/amd64).
const stackGuard = 928

const (
	stackSize      = 65536
	panicStackSize = 16384
)

var (
	cpu0 CPU
	lock uint64 // the big lock, taken by entry_amd64.s

	g0, panicG fakeG
	stack0     [stackSize]byte
	panicStack [panicStackSize]byte

	// Entry code calls through these: a direct call from assembly would go by
	// an ABI0 wrapper.
	bootFn    = boot
	trapFn    = trap
	syscallFn = syscall
	panicFn   = panicked
	recvFn    = recv

	recvAddr uint64
	coreText uint64 // bounds of core's image
	coreEnd  uint64
)

// Segment selectors of the boot blob's GDT.
const (
	kCS = 0x08
	kSS = 0x10
	uSS = 0x23
	uCS = 0x2b
)

const (
	directMap = 0xffff900000000000 // all physical memory
	coreBase  = 0xffffffff80000000 // virtual - physical address of core
	userTop   = 0x00007ffffffff000

	servicesBase = 0xffffffff90000000
	svcMmap      = 0xffffc00000000000
	svcMmapE     = 0xffffc08000000000
)

func pokeIdle() {}

// flushOthers makes the other processors that run as drop their TLB entries
// for [start, end).
func flushOthers(c *CPU, as *AddressSpace, start, end uint64) {}
