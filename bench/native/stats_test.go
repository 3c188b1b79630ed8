package native

import (
	"github.com/leveret-os/leveret/bench/stats"
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{Median: 3, Least: 3, Most: 3, N: 1}},
		{[]float64{3, 1, 2}, spread{Median: 2, Least: 1, Most: 3, N: 3}},
		{[]float64{4, 1, 2, 3}, spread{Median: 2.5, Least: 1, Most: 4, N: 4}},
		{[]float64{math.NaN(), 1, math.Inf(1), 3}, spread{Median: 2, Least: 1, Most: 3, N: 2}},
		{[]float64{math.NaN()}, spread{}},
	} {
		if got := stats.Of(c.in); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.in, got, c.want)
		}
	}
	in := []float64{2, 1}
	stats.Of(in)
	if in[0] != 2 {
		t.Error("the values were sorted in place")
	}
	if got := (spread{Median: 2, Least: 1, Most: 3, N: 3}).Scaled(1e3); got != (spread{Median: 2000, Least: 1000, Most: 3000, N: 3}) {
		t.Errorf("scaled: %+v", got)
	}
}

func TestRatiosArePaired(t *testing.T) {
	over := map[int]float64{0: 10, 1: 40, 2: 9, 4: 1}
	under := map[int]float64{0: 5, 1: 10, 2: 3, 3: 1, 4: 0}
	if got := ratios(over, under); got != (spread{Median: 3, Least: 2, Most: 4, N: 3}) {
		t.Errorf("%+v, want the rounds that both have: 2, 4, 3", got)
	}
	if got := ratios(over, nil); got.N != 0 {
		t.Errorf("%+v without a partner", got)
	}
}
