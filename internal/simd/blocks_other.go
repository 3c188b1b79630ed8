//go:build !amd64 || noasm

package simd

import "github.com/leveret-os/leveret/internal/blocks"

func quantize(_ ISA, a *Acts, x []float32, ldx, first, n int) {
	quantizePortable(a, x, ldx, first, n)
}

func (a *Acts) growRecords() { panic("simd: no assembly") }

func matMulBlocks(_ ISA, kind blocks.Kind, dst []float32, ldd int, w []byte, rows int, a *Acts) {
	matMulBlocksPortable(kind, dst, ldd, w, rows, a)
}
