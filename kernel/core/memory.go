//go:build amd64

package main

import (
	"unsafe"
)

func rd64(a uint64) uint64 { return *(*uint64)(ptr(a)) }

func wr64(a uint64, v uint64) { *(*uint64)(ptr(a)) = v }

func rd32(a uint64) uint32 { return *(*uint32)(ptr(a)) }

func wr32(a uint64, v uint32) { *(*uint32)(ptr(a)) = v }

func rd8(a uint64) byte { return *(*byte)(ptr(a)) }

func wr16(a uint64, v uint16) { *(*uint16)(ptr(a)) = v }

func wr8(a uint64, v byte) { *(*byte)(ptr(a)) = v }

func ptr(a uint64) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), int(a)) }

func addressOf[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// copyName copies a thread's name. An assignment would go through X0, which is
// the program's.
func copyName(to, from *[16]byte) {
	*(*uint64)(unsafe.Pointer(&to[0])) = *(*uint64)(unsafe.Pointer(&from[0]))
	*(*uint64)(unsafe.Pointer(&to[8])) = *(*uint64)(unsafe.Pointer(&from[8]))
}
