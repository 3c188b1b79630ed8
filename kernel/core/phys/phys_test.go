package phys

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestBulk checks clearing and copying at every alignment and around every
// block size, with guard bytes on both sides.
func TestBulk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		src, dst := make([]byte, 2048), make([]byte, 2048)
		for i := range src {
			src[i], dst[i] = byte(r.Uint32()), byte(r.Uint32())
		}
		n, a, b := r.IntN(1024), r.IntN(1024), r.IntN(1024)
		want := append([]byte(nil), dst...)
		copy(want[a:a+n], src[b:b+n])
		Copy(unsafe.Pointer(&dst[a]), unsafe.Pointer(&src[b]), uint64(n))
		if !bytes.Equal(dst, want) {
			t.Fatalf("Copy of %d bytes from %d to %d is wrong", n, b, a)
		}
		clear(want[a : a+n])
		Clear(unsafe.Pointer(&dst[a]), uint64(n))
		if !bytes.Equal(dst, want) {
			t.Fatalf("Clear of %d bytes at %d is wrong", n, a)
		}
	}
}
