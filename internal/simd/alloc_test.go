package simd

import "testing"

// TestNoAllocation: no kernel on floats allocates.
func TestNoAllocation(t *testing.T) {
	const rows, cols, n = 9, 600, 5 // 600 is no multiple of 16
	w := make([]byte, 4*rows*cols)
	f, x, y := make([]float32, rows*cols), make([]float32, n*cols), make([]float32, n*cols)
	dst := make([]float32, n*cols)
	for _, isa := range append(assembly(t), Portable) {
		k := kernelsOf(t, isa)
		if a := testing.AllocsPerRun(10, func() {
			for _, format := range floats {
				k.MatMul(format, dst, rows, w, rows, cols, x, cols, n)
				k.MatMul(format, dst, rows, w, rows, cols, x, cols, 1)
			}
			k.Dots(dst, rows, f, cols, rows, cols, x, cols, n)
			k.WeightedSum(dst, cols, x, cols, f, cols, rows, cols, n)
			k.RMSNorm(dst[:cols], x[:cols], y[:cols], 1e-5)
			k.Softmax(x[:cols-1])
			k.SiLUMul(x, y)
			k.Add(x, y)
			k.Rope(x, y[:cols/2], y[:cols/2])
		}); a != 0 {
			t.Errorf("%v: %v allocations", isa, a)
		}
	}
}
