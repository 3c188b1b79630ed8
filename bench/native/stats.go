package native

import "github.com/leveret-os/leveret/bench/stats"

// spread is the median and the range of repeated measurements.
type spread = stats.Spread

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
	return stats.Of(r)
}
