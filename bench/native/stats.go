package native

import (
	"math"
	"slices"
)

// spread is the median and the range of repeated measurements; N of 0 means
// that there are none.
type spread struct {
	Median, Least, Most float64
	N                   int
}

// newSpread returns the spread of values. Those that are no finite numbers are
// left out.
func newSpread(values []float64) spread {
	v := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	if len(v) == 0 {
		return spread{}
	}
	slices.Sort(v)
	n := len(v)
	return spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Least: v[0], Most: v[n-1], N: n}
}

// scaled returns the spread in another unit.
func (s spread) scaled(by float64) spread {
	return spread{s.Median * by, s.Least * by, s.Most * by, s.N}
}

// ratios divides what has the same round in both. Measurements of one round
// are minutes apart at most, so the median of their ratios says more than the
// ratio of medians that may come from different states of the machine.
func ratios(over, under map[int]float64) spread {
	var r []float64
	for round, x := range over {
		if y, ok := under[round]; ok && y != 0 {
			r = append(r, x/y)
		}
	}
	return newSpread(r)
}
