package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigFMA is x·y+z in exact arithmetic, rounded once.
func bigFMA(x, y, z float32) float32 {
	p := float64(x) * float64(y) // exact
	a := float64(z)
	if s := p + a; s != s || math.IsInf(s, 0) || p == 0 || a == 0 || p == -a {
		return float32(s) // no rounding in s
	}
	const exact = 600 // bits between 2^256 and 2^-298, and a carry
	s := new(big.Float).SetPrec(exact).SetFloat64(p)
	f, _ := s.Add(s, new(big.Float).SetPrec(exact).SetFloat64(a)).Float32()
	return f
}

func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	check := func(x, y, z float32) {
		t.Helper()
		if got, want := FMA(x, y, z), bigFMA(x, y, z); !sameFloat(got, want) {
			t.Fatalf("FMA(%b, %b, %b) = %b, want %b", x, y, z, got, want)
		}
	}
	for _, x := range special {
		for _, y := range special {
			for _, z := range special {
				check(x, y, z)
			}
		}
	}
	twice := 0 // how often rounding twice would have been wrong
	for range 400000 {
		// A product very close to half a unit in z's last place.
		a := float64(r.IntN(64)) * 0x1p-23
		x, y := float32((1+a)*0x1p-12), float32((1-a)*0x1p-12)
		z := float32(1 + r.Float64())
		if r.IntN(2) == 0 {
			x = -x
		}
		check(x, y, z)
		if float32(math.FMA(float64(x), float64(y), float64(z))) != FMA(x, y, z) {
			twice++
		}
		scale := float32(math.Ldexp(1, -60-r.IntN(30)))
		check(x*scale, y*scale, z*scale*scale) // subnormal results
		check(x/scale, y/scale, z/scale/scale) // overflow
		check(math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()))
	}
	if twice == 0 {
		t.Error("no case where rounding twice differs: the test is too weak")
	}
	t.Logf("rounding twice would have been wrong %d times", twice)
}
