//go:build amd64 && !noasm

package simd

import "unsafe"

// readMemory reads most of b and returns how much.
func readMemory(isa ISA, b []byte) int {
	n := len(b) &^ 511
	switch {
	case n == 0 || isa == Portable:
		return 0
	case isa == AVX512:
		readMemoryAVX512(unsafe.SliceData(b), n)
	default:
		readMemoryAVX2(unsafe.SliceData(b), n)
	}
	return n
}
