//go:build !amd64 || noasm

package simd

func supported(ISA) bool { return false }
