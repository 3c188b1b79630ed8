// Package stats says what repeated measurements have in common.
package stats

import (
	"math"
	"slices"
)

// A Spread is the median and the range of repeated measurements; N of 0 means
// that there are none.
type Spread struct {
	Median, Least, Most float64
	N                   int
}

// Of returns the spread of values. Those that are no finite numbers are left
// out.
func Of(values []float64) Spread {
	v := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	if len(v) == 0 {
		return Spread{}
	}
	slices.Sort(v)
	n := len(v)
	return Spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Least: v[0], Most: v[n-1], N: n}
}

// Scaled returns the spread in another unit.
func (s Spread) Scaled(by float64) Spread {
	return Spread{s.Median * by, s.Least * by, s.Most * by, s.N}
}

// Overlaps tells whether the ranges of s and t have a value in common: then
// there is no measured difference.
func (s Spread) Overlaps(t Spread) bool { return s.Least <= t.Most && t.Least <= s.Most }
