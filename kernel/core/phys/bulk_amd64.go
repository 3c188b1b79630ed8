package phys

import "unsafe"

// zero clears n bytes at p; n is a multiple of 256, p of 8.
//
//go:noescape
func zero(p unsafe.Pointer, n uintptr)

// move copies n bytes from src to dst, ascending.
//
//go:noescape
func move(dst, src unsafe.Pointer, n uintptr)
