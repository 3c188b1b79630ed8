package simd

import (
	"bytes"
	"runtime"
)

// ReadMemory reads b, as fast as the instruction set can, and does nothing with
// it. It is what a kernel that streams weights is compared with.
func (k Kernels) ReadMemory(b []byte) {
	rest := b[readMemory(k.isa, b):]
	runtime.KeepAlive(bytes.Count(rest, []byte{0x5a}))
}
