//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

// supported reports what the processor has and the operating system saves;
// package cpu looks at both.
func supported(i ISA) bool {
	x := &cpu.X86
	avx2 := x.HasAVX2 && x.HasFMA && x.HasF16C
	switch i {
	case AVX2:
		return avx2
	case AVX512:
		return avx2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI
	}
	return false
}
