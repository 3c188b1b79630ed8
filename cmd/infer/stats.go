package main

import "slices"

// spread is the median and the range of repeated measurements.
type spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// newSpread returns the spread of at least one value.
func newSpread(values []float64) spread {
	v := slices.Clone(values)
	slices.Sort(v)
	n := len(v)
	return spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Least: v[0], Most: v[n-1]}
}
