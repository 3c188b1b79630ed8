// Package simd holds the arithmetic of the forward pass: dot products, block
// products, normalisation, attention and activation functions, each with one
// definition of its bits (docs/arithmetic.md), written in portable Go and, for
// amd64, in assembly.
//
// The portable functions are the specification. Callers pass sizes that fit:
// the kernels are internal and check lengths only where a mistake would read
// outside a slice.
package simd

// Float is the storage format of a matrix of floating-point weights.
type Float uint8

// The storage formats, little endian.
const (
	F32 Float = iota
	F16
	BF16
)

// Bytes returns the size of one weight.
func (f Float) Bytes() int {
	if f == F32 {
		return 4
	}
	return 2
}

// Kernels is the set of kernels of one instruction set. It has no state and is
// safe for concurrent use.
type Kernels struct {
	isa ISA
}

// New returns the kernels of an instruction set, which must be Supported.
func New(isa ISA) Kernels { return Kernels{isa: isa} }

// ISA returns the instruction set of the kernels.
func (k Kernels) ISA() ISA { return k.isa }

// MatMul computes dst[j·ldd+r] = dot(row r of w, row j of x) for rows rows of
// weights and n rows of activations, each cols long. w holds the rows one after
// another in the format f; row j of x begins at x[j·ldx].
func (k Kernels) MatMul(f Float, dst []float32, ldd int, w []byte, rows, cols int, x []float32, ldx, n int) {
	matMul(k.isa, f, dst, ldd, w, rows, cols, x, ldx, n)
}

// Dots is MatMul of float32 rows in a slice: row r of w begins at w[r·ldw].
// Attention uses it for the scores of queries against cached keys.
func (k Kernels) Dots(dst []float32, ldd int, w []float32, ldw, rows, cols int, x []float32, ldx, n int) {
	dots(k.isa, dst, ldd, w, ldw, rows, cols, x, ldx, n)
}

// WeightedSum computes dst[j·ldd+d] = Σp a[j·lda+p]·v[p·ldv+d] for d < cols,
// j < n, the sum fused and in the order of p from 0 to rows−1. Attention uses
// it for the cached values.
func (k Kernels) WeightedSum(dst []float32, ldd int, a []float32, lda int, v []float32, ldv, rows, cols, n int) {
	weightedSum(k.isa, dst, ldd, a, lda, v, ldv, rows, cols, n)
}

// RMSNorm computes dst = x / sqrt(mean(x²)+eps) · w (Zhang and Sennrich,
// "Root Mean Square Layer Normalization"). dst may be x.
func (k Kernels) RMSNorm(dst, x, w []float32, eps float32) {
	rmsNorm(k.isa, dst, x, w, eps)
}

// Rope rotates the pairs (x[i], x[i+len/2]) of each head of length
// 2·len(cos) in x by the angles whose cosines and sines are given (Su et al.,
// "RoFormer", in the half-split arrangement of Hugging Face's checkpoints).
func (k Kernels) Rope(x []float32, cos, sin []float32) {
	rope(k.isa, x, cos, sin)
}

// Softmax replaces s by exp(s−max(s)) / Σ exp(s−max(s)).
func (k Kernels) Softmax(s []float32) { softmax(k.isa, s) }

// SiLUMul replaces gate by silu(gate)·up, where silu(x) = x/(1+exp(−x)).
func (k Kernels) SiLUMul(gate, up []float32) { siluMul(k.isa, gate, up) }

// Add adds y to x, elementwise. The slices must not overlap, unless they are
// the same.
func (k Kernels) Add(x, y []float32) { add(k.isa, x[:len(y)], y) }

// Scale multiplies x by r, elementwise.
func (k Kernels) Scale(x []float32, r float32) { scale(k.isa, x, r) }

// Max returns the largest element of x that is not NaN, and −Inf if there is
// none. Which zero it is does not matter.
func (k Kernels) Max(x []float32) float32 { return largest(k.isa, x) }
