package fmath_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/leveret-os/leveret/internal/fmath"
)

// checkUlps fails where the largest error over n arguments is above limit.
func checkUlps(t *testing.T, name string, limit float64, n int, f func(i int) (args string, err float64)) {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	worst, at := 0.0, ""
	for i := range n {
		if a, e := f(i); !(e <= worst) {
			worst, at = e, a
		}
	}
	t.Logf("%s: largest error %.4f ulp, at %s", name, worst, at)
	if !(worst <= limit) {
		t.Errorf("%s: error of %.4f ulp at %s, want at most %v", name, worst, at, limit)
	}
}

// hard are arguments at the ends of the range or close to a multiple of π/2,
// the first closer than any other float64 (Muller, "Elementary Functions",
// chapter on range reduction).
var hard = []float64{6381956970095103 * 0x1p797, math.Pi / 2, math.Pi, 3 * math.Pi / 2, math.Pi / 4, 1e22, math.MaxFloat64,
	5e-324, 0x1p-1022, 1e-8, 0.5, 1, 22, 355, 0x1p24, 16777213, 8191, 131071, 52707178, 10402.5 * math.Pi}

func TestSincosError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	next := func(i int) float64 {
		switch {
		case i < len(hard):
			return hard[i]
		case i%4 == 0: // near a multiple of π/2
			return float64(r.IntN(1<<24)) * (math.Pi / 2)
		case i%4 == 1: // any size
			return math.Float64frombits(r.Uint64() % 0x7ff0000000000000)
		case i%4 == 2: // a position times an inverse frequency
			return float64(r.IntN(1<<24)) * math.Pow(1e5, -r.Float64())
		}
		return (2*r.Float64() - 1) * 0x1p24
	}
	checkUlps(t, "sin, cos", 0.85, 3000, func(i int) (string, float64) {
		x := next(i)
		sin, cos := fmath.Sincos(x)
		ws, wc := bigSincos(x)
		return fmt.Sprint(x), max(ulps(sin, ws), ulps(cos, wc))
	})
}

func TestExpError(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	checkUlps(t, "exp", 0.9, 2000, func(i int) (string, float64) {
		x := (2*r.Float64() - 1) * math.Pow(2, float64(r.IntN(12)-2))
		x = min(max(x, -745.1), 709.78)
		return fmt.Sprint(x), ulps(fmath.Exp(x), bigExp(num(x)))
	})
}

func TestLogError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	checkUlps(t, "log", 0.55, 500, func(i int) (string, float64) {
		x := math.Float64frombits(r.Uint64() % 0x7ff0000000000000)
		if i%2 == 0 {
			x = math.Exp(r.NormFloat64())
		}
		return fmt.Sprint(x), ulps(fmath.Log(x), bigLog(x))
	})
}

func TestPowError(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	checkUlps(t, "pow", 0.95, 500, func(i int) (string, float64) {
		x, y := math.Exp(4*r.NormFloat64()), 30*r.NormFloat64()
		if i%2 == 0 { // an inverse frequency
			x, y = []float64{1e4, 1e5, 5e5, 1e6, 1.5}[r.IntN(5)], -float64(r.IntN(128))/128
		}
		p := fmath.Pow(x, y)
		if p == 0 || p > math.MaxFloat64 {
			return "", 0
		}
		return fmt.Sprint(x, "^", y), ulps(p, bigExp(mul(num(y), bigLog(x))))
	})
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

func TestSpecialCases(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	negZero := math.Copysign(0, -1)
	for _, c := range []struct{ x, sin, cos float64 }{
		{0, 0, 1}, {negZero, negZero, 1}, {inf, nan, nan}, {-inf, nan, nan}, {nan, nan, nan}, {5e-324, 5e-324, 1},
	} {
		if s, k := fmath.Sincos(c.x); !same(s, c.sin) || !same(k, c.cos) {
			t.Errorf("Sincos(%v) = %v, %v, want %v, %v", c.x, s, k, c.sin, c.cos)
		}
	}
	for _, c := range []struct{ x, want float64 }{
		{0, 1}, {negZero, 1}, {inf, inf}, {-inf, 0}, {nan, nan}, {710, inf}, {-746, 0}, {1, math.E}, {-745.13321, 5e-324},
	} {
		if got := fmath.Exp(c.x); !same(got, c.want) {
			t.Errorf("Exp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	for _, c := range []struct{ x, want float64 }{
		{0, -inf}, {negZero, -inf}, {1, 0}, {-1, nan}, {-inf, nan}, {inf, inf}, {nan, nan}, {2, math.Ln2}, {5e-324, -1074 * math.Ln2},
	} {
		if got := fmath.Log(c.x); !same(got, c.want) {
			t.Errorf("Log(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	values := []float64{0, 0x1p-1074, 0.5, 1, 2, 3, 10, 1e300, inf, nan}
	for _, x := range values {
		for _, y := range append(values, -0.5, -1, -2, -1e300, -inf) {
			got, want := fmath.Pow(x, y), math.Pow(x, y)
			if !same(got, want) && !(math.Abs(got-want) <= 1e-15*want) {
				t.Errorf("Pow(%v, %v) = %v, want %v", x, y, got, want)
			}
		}
	}
	if got := fmath.Pow(-2, 2); got == got {
		t.Errorf("Pow(-2, 2) = %v, want NaN: it is defined for x ≥ 0", got)
	}
}

// TestDigest pins the bits of every function: it must hold on every
// architecture, GOAMD64 level and toolchain.
func TestDigest(t *testing.T) {
	const want = "1de884a91f115ca474356d1b651ee14282483192ec58f737157674a25ec41cd8"
	h := sha256.New()
	put := func(x float64) {
		var b [8]byte
		if x != x {
			x = 0 // NaN payloads may differ
		}
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		h.Write(b[:])
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		x := math.Float64frombits(r.Uint64())
		y := (2*r.Float64() - 1) * float64(uint(1)<<r.IntN(25))
		for _, v := range []float64{x, y} {
			s, c := fmath.Sincos(v)
			put(s)
			put(c)
			put(fmath.Exp(v))
			put(fmath.Log(v))
		}
		put(fmath.Pow(r.Float64()*1e6, y/1e6))
		put(fmath.Pow(r.Float64()*100, -r.Float64()))
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of the outputs is %s, want %s: the bits have changed", got, want)
	}
}

func BenchmarkSincos(b *testing.B) {
	x, sum := 0.0, 0.0
	for range b.N {
		s, c := fmath.Sincos(x)
		sum += s + c
		x += 1.234567
	}
	_ = sum
}
