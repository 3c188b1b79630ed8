//go:build !amd64 || noasm

package simd

func matMul(_ ISA, f Float, dst []float32, ldd int, w []byte, rows, cols int, x []float32, ldx, n int) {
	matMulPortable(f, dst, ldd, w, rows, cols, x, ldx, n)
}

func dots(_ ISA, dst []float32, ldd int, w []float32, ldw, rows, cols int, x []float32, ldx, n int) {
	dotsPortable(dst, ldd, w, ldw, rows, cols, x, ldx, n)
}

func weightedSum(_ ISA, dst []float32, ldd int, a []float32, lda int, v []float32, ldv, rows, cols, n int) {
	weightedSumPortable(dst, ldd, a, lda, v, ldv, rows, cols, n)
}

func rmsNorm(_ ISA, dst, x, w []float32, eps float32) { rmsNormPortable(dst, x, w, eps) }

func rope(_ ISA, x, cos, sin []float32) { ropePortable(x, cos, sin) }

func softmax(_ ISA, s []float32) { softmaxPortable(s) }

func siluMul(_ ISA, gate, up []float32) { siluMulPortable(gate, up) }

func add(_ ISA, x, y []float32) { addPortable(x, y) }

func scale(_ ISA, x []float32, r float32) { scalePortable(x, r) }

func largest(_ ISA, x []float32) float32 { return largestPortable(x) }
