package stats

import (
	"math"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{math.NaN(), math.Inf(1)}, Spread{}},
		{[]float64{3}, Spread{3, 3, 3, 1}},
		{[]float64{4, 1, math.NaN(), 2}, Spread{2, 1, 4, 3}},
		{[]float64{4, 1, 2, 3}, Spread{2.5, 1, 4, 4}},
	} {
		if got := Of(c.values); got != c.want {
			t.Errorf("Of(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestOverlaps(t *testing.T) {
	a, b, c := Spread{2, 1, 3, 5}, Spread{4, 3, 5, 5}, Spread{7, 6, 8, 5}
	if !a.Overlaps(b) || !b.Overlaps(a) || a.Overlaps(c) || c.Overlaps(b) {
		t.Error("Overlaps")
	}
}
