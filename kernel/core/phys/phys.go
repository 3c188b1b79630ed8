// Package phys reads and writes physical memory through the direct map: the
// window of kernel address space in which every byte of RAM appears once, at
// Base plus its physical address.
//
// Everything that core keeps in frames (page tables, threads, the metadata of
// the frame allocator) is reached through here. On the host, tests point Base
// at a mapping that stands in for RAM, so that the same code runs against it.
//
// Bulk work is done by unrolled 16-byte moves. It never uses rep movs or rep
// stos, which an emulator runs a byte at a time, and of the vector registers it
// touches only X14 and X15, the two that the kernel's entry code saves.
package phys

import "unsafe"

const (
	// PageShift is the binary logarithm of PageSize.
	PageShift = 12
	// PageSize is the size of a frame in bytes.
	PageSize = 1 << PageShift
	// HugeSize is the size of a large page in bytes.
	HugeSize = 2 << 20
)

// Base is the virtual address at which physical address 0 appears. Tests set
// it to the address of an array; nothing else writes it.
var Base uintptr = 0xffff900000000000

// Pointer returns where the byte at physical address pa can be accessed.
func Pointer(pa uint64) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(nil), int(Base+uintptr(pa)))
}

// Address is the inverse of Pointer for pointers into the direct map.
func Address(p unsafe.Pointer) uint64 { return uint64(uintptr(p) - Base) }

// Word returns the 8-byte word at physical address pa, which is 8-byte aligned.
func Word(pa uint64) *uint64 { return (*uint64)(Pointer(pa)) }

// ZeroPage clears the frame at pa.
func ZeroPage(pa uint64) { zero(Pointer(pa), PageSize) }

// Zero clears n bytes at pa; both are multiples of 256.
func Zero(pa, n uint64) { zero(Pointer(pa), uintptr(n)) }

// CopyPage copies the frame at src to the frame at dst.
func CopyPage(dst, src uint64) { move(Pointer(dst), Pointer(src), PageSize) }

// Copy copies n bytes, of any alignment, from src to dst, which do not overlap.
func Copy(dst, src unsafe.Pointer, n uint64) { move(dst, src, uintptr(n)) }

// Clear clears n bytes, of any alignment, at p.
func Clear(p unsafe.Pointer, n uint64) {
	for n > 0 && (uintptr(p)&7 != 0 || n < 8) {
		*(*byte)(p) = 0
		p = unsafe.Add(p, 1)
		n--
	}
	if b := n &^ 255; b != 0 {
		zero(p, uintptr(b))
		p = unsafe.Add(p, int(b))
		n -= b
	}
	for ; n >= 8; n -= 8 {
		*(*uint64)(p) = 0
		p = unsafe.Add(p, 8)
	}
	for ; n > 0; n-- {
		*(*byte)(p) = 0
		p = unsafe.Add(p, 1)
	}
}
