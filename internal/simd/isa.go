package simd

import (
	"fmt"
	"strings"
)

// ISA is an instruction set that the kernels are written for. Every ISA gives
// the same bits (docs/arithmetic.md); they differ in speed alone.
type ISA uint8

// The instruction sets, slowest first.
const (
	Portable ISA = iota // pure Go, any architecture
	AVX2                // AVX2, FMA and F16C
	AVX512              // AVX-512 F, BW, DQ, VL and VNNI
)

// String returns the name that ParseISA takes.
func (i ISA) String() string {
	switch i {
	case Portable:
		return "portable"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("ISA(%d)", uint8(i))
}

// Best returns the fastest instruction set that this build has and this
// processor and its operating system support.
func Best() ISA {
	for i := AVX512; i > Portable; i-- {
		if Supported(i) {
			return i
		}
	}
	return Portable
}

// Supported reports whether kernels of the instruction set can run here.
func Supported(i ISA) bool { return i == Portable || supported(i) }

// ParseISA returns the instruction set of that name; "" and "auto" mean Best.
// An unknown name, or one that cannot run here, is an error.
func ParseISA(name string) (ISA, error) {
	if name == "" || name == "auto" {
		return Best(), nil
	}
	for i := Portable; i <= AVX512; i++ {
		if !strings.EqualFold(name, i.String()) {
			continue
		}
		if !Supported(i) {
			return 0, fmt.Errorf("instruction set %q is not supported by this processor or build", name)
		}
		return i, nil
	}
	return 0, fmt.Errorf("unknown instruction set %q: expected auto, avx512, avx2 or portable", name)
}
