//go:build amd64 && !noasm

package simd

// supported is replaced when the assembly kernels are in place.
func supported(ISA) bool { return false }
