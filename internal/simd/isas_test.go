package simd

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// assembly returns the instruction sets with assembly that run here. The ones
// named in LEVERET_REQUIRE_ISA (separated by commas) must be among them.
func assembly(t testing.TB) []ISA {
	t.Helper()
	var isas []ISA
	for _, i := range []ISA{AVX2, AVX512} {
		switch {
		case Supported(i):
			isas = append(isas, i)
		case strings.Contains(os.Getenv("LEVERET_REQUIRE_ISA"), i.String()):
			t.Fatalf("%v is required but does not run here", i)
		}
	}
	return isas
}

// kernelsOf returns the kernels of an instruction set and checks that they are.
func kernelsOf(t testing.TB, i ISA) Kernels {
	t.Helper()
	k := New(i)
	if k.ISA() != i {
		t.Fatalf("New(%v).ISA() = %v", i, k.ISA())
	}
	return k
}

// sameFloat reports whether two results agree: the same bits, or both NaN.
func sameFloat(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// compare fails at the first element where got and want differ.
func compare(t *testing.T, got, want []float32) {
	t.Helper()
	for i := range want {
		if !sameFloat(got[i], want[i]) {
			t.Fatalf("element %d of %d: %v (%08x), want %v (%08x)", i, len(want),
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// A source makes numbers of one kind.
type source struct {
	name string
	next func(r *rand.Rand) float32
}

// special are the values at which arithmetic is most likely to differ.
var special = []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	0x1p-126, -0x1p-126, 0x1.fffffcp-127, 0x1p-149, 0x1p-75, -0x1p-75, math.MaxFloat32, -math.MaxFloat32, 0x1p127,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0x1.000002p0, 0x1.fffffep-1, 88.7, -87.3, 3}

func normal(r *rand.Rand) float32 { return float32(r.NormFloat64()) }

var sources = []source{
	{"normal", normal},
	{"anybits", func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32()) }},
	{"finite", func(r *rand.Rand) float32 {
		return float32(math.Ldexp(2*r.Float64()-1, r.IntN(250)-135))
	}},
	{"tiny", func(r *rand.Rand) float32 { // products around and below the subnormals
		return float32(math.Ldexp(2*r.Float64()-1, -60-r.IntN(80)))
	}},
	{"huge", func(r *rand.Rand) float32 { return float32(math.Ldexp(2*r.Float64()-1, 50+r.IntN(20))) }},
	{"special", func(r *rand.Rand) float32 { // one in four
		if r.IntN(4) > 0 {
			return float32(r.NormFloat64())
		}
		return special[r.IntN(len(special))]
	}},
	{"zeros", func(r *rand.Rand) float32 { return special[r.IntN(2)] }},
}

// fill sets s from the source.
func (s source) fill(r *rand.Rand, f []float32) {
	for i := range f {
		f[i] = s.next(r)
	}
}

// bytesOf returns the weights of w in the format f: 16-bit formats get random
// bits where the source is "anybits", and rounded values elsewhere.
func bytesOf(f Float, w []float32) []byte {
	b := make([]byte, len(w)*f.Bytes())
	for i, v := range w {
		putFloat(f, b[i*f.Bytes():], v)
	}
	return b
}

// misaligned returns a copy of b at an address that is off modulo 64.
func misaligned(b []byte, off int) []byte {
	m := make([]byte, len(b)+128)
	for uintptr(unsafe.Pointer(unsafe.SliceData(m)))%64 != uintptr(off) {
		m = m[1:]
	}
	m = m[:len(b):len(b)]
	copy(m, b)
	return m
}
