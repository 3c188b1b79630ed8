//go:build linux

package simd

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/leveret-os/leveret/internal/blocks"
)

// guarded returns n bytes that end where memory may not be touched.
func guarded(t *testing.T, n int) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	size := (n+page-1)/page*page + page
	m, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	for _, p := range [][]byte{m[:page], m[size : size+page]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return m[size-n : size : size]
}

func guardedFloats(t *testing.T, n int) []float32 {
	t.Helper()
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(guarded(t, 4*n)))), n)
}

// TestMatMulBlocksGuard: nothing is read or written past the end of a slice.
func TestMatMulBlocksGuard(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	for _, kind := range kinds {
		for _, shape := range [][2]int{{1, 32}, {16, 64}, {17, 96}, {40, 160}, {64, 576}} {
			rows, cols := shape[0], shape[1]
			for n := 1; n <= 9; n++ {
				t.Run(fmt.Sprintf("%v/%d×%d/%d", kind, rows, cols, n), func(t *testing.T) {
					random := randomBlocks(rnd, kind, rows, cols)
					w := guarded(t, len(random))
					copy(w, random)
					x := guardedFloats(t, n*cols)
					copy(x, randomActs(rnd, n*cols))
					for _, isa := range blockISAs(t) {
						a := Acts{records: guarded(t, n*cols/blocks.Size*80)[:0]}
						dst := guardedFloats(t, n*rows)
						New(isa).Quantize(&a, x, cols, cols, n)
						New(isa).MatMulBlocks(kind, dst, rows, w, rows, &a)
					}
				})
			}
		}
	}
}
