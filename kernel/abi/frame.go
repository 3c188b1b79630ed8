// Package abi is what the kernel's core and its services share: the layout of
// saved registers, the protocol between the two, and constants of the Linux
// ABI that golang.org/x/sys/unix lacks. Its code does not allocate.
package abi

// Frame is a thread's registers as the processor and core's entry code save
// them. The general registers come first in the order in which they are
// pushed, then what a trap pushes (SDM vol. 3, 6.14.2). Core keeps it at the
// head of a thread; services read a caller's arguments from it in place.
type Frame struct {
	R15, R14, R13, R12, BP, BX, R11, R10, R9, R8 uint64
	AX, CX, DX, SI, DI                           uint64

	// Vector is the exception or interrupt, Error its error code or 0.
	Vector, Error uint64

	IP, CS, Flags, SP, SS uint64
}

// FrameSize is the size of a Frame in bytes.
const FrameSize = 176
