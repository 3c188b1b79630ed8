package simd

import (
	"math"
	"os"
	"testing"
)

// TestExpError measures the error of expPortable against the standard library
// in float64, on every 97th float32; on all of them with
// LEVERET_LONG, on fewer with -short.
func TestExpError(t *testing.T) {
	step := uint32(97)
	switch {
	case os.Getenv("LEVERET_LONG") != "":
		step = 1
	case testing.Short():
		step = 9973
	}
	worst, at := 0.0, float32(0)
	for b := uint64(0); b < 1<<32; b += uint64(step) {
		x := math.Float32frombits(uint32(b))
		if !(x >= expMin && x <= expMax) || math.Abs(float64(x)) < 1e-9 {
			continue
		}
		got, want := float64(expPortable(x)), math.Exp(float64(x))
		_, e := math.Frexp(want)
		if err := math.Abs(got-want) / math.Ldexp(1, e-24); err > worst {
			worst, at = err, x
		}
	}
	t.Logf("largest error %.3f ulp, at %v", worst, at)
	if worst > 1.02 {
		t.Errorf("error of %.3f ulp at %v, want at most 1.02", worst, at)
	}
}

func TestExpEnds(t *testing.T) {
	inf := float32(math.Inf(1))
	up, down := math.Nextafter32, func(x float32) float32 { return math.Nextafter32(x, -inf) }
	for _, c := range []struct{ x, want float32 }{
		{0, 1}, {float32(math.Copysign(0, -1)), 1}, {inf, inf}, {-inf, 0}, {float32(math.NaN()), float32(math.NaN())},
		{1e-30, 1}, {-1e-30, 1}, {up(expMax, inf), inf}, {down(expMin), 0}, {1e30, inf}, {-1e30, 0},
	} {
		if got := expPortable(c.x); !sameFloat(got, c.want) {
			t.Errorf("exp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if e := expPortable(expMax); !(e > 3.4e38 && e <= math.MaxFloat32) {
		t.Errorf("exp(%v) = %v, want close to the largest float32", expMax, e)
	}
	if e := expPortable(expMin); !(e >= 1.17e-38 && e < 1.18e-38) {
		t.Errorf("exp(%v) = %v, want close to the smallest normal float32", expMin, e)
	}
}
