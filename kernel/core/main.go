//go:build amd64

// Command core is the freestanding half of the kernel: memory, threads,
// traps, clocks and the hot system calls.
//
// It is linked by the stock toolchain, at the high half, and its Go runtime is
// never started: there is no heap, no goroutine, no write barrier, and g is a
// static stand-in that only carries the stack's bounds. kernel/image turns the
// linked program into a bootable image and refuses one that could allocate,
// grow its stack or touch FS.
//
// It runs to completion on one stack per processor, interrupts off, under one
// lock that the entry assembly takes. The processor pushes trap frames straight
// into the current Thread by way of the IST.
package main

func main() {
	// Never run; keeps reachable what only assembly calls.
	boot(nil, 0)
	trap(nil, nil)
	syscall(nil, nil)
	panicked(0, 0, 0, 0)
}
