//go:build linux

package simd

import "testing"

// TestReadMemoryGuard: a read ends where the memory ends.
func TestReadMemoryGuard(t *testing.T) {
	for _, isa := range append(assembly(t), Portable) {
		k := kernelsOf(t, isa)
		for _, n := range []int{0, 1, 63, 511, 512, 513, 1024, 4095, 4096, 5000} {
			k.ReadMemory(guarded(t, n))
		}
	}
}
