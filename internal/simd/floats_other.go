//go:build !amd64 || noasm

package simd

func matMul(_ ISA, f Float, dst []float32, ldd int, w []byte, rows, cols int, x []float32, ldx, n int) {
	matMulPortable(f, dst, ldd, w, rows, cols, x, ldx, n)
}

func dots(_ ISA, dst []float32, ldd int, w []float32, ldw, rows, cols int, x []float32, ldx, n int) {
	dotsPortable(dst, ldd, w, ldw, rows, cols, x, ldx, n)
}
