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

// used names what only assembly uses, for tools that do not read it.
var used = [...]any{
	&bootFn, &trapFn, &syscallFn, &tracedFn, &receiveFn, &workFn, &panicFn, &crashFn, &paranoidFn, &apFn,
	&area0, &lock,
}

func main() { _ = used } // never run
