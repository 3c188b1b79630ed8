package kernels

import (
	"cmp"
	"slices"

	"github.com/leveret-os/leveret/bench/stats"
)

// ours is the name of our kernel among the others.
const ours = "leveret"

// A row compares one workload on our kernel with one reference, by one clock.
type row struct {
	Workload, Unit, Reference string
	Clock                     clock
	Ours, Theirs              stats.Spread // of the medians of the rounds
	Ratio                     stats.Spread // theirs over ours, within rounds: above 1 we are cheaper
	Goal                      float64      // 0: none
}

// holds tells whether a row's goal is reached; a row without a goal holds when
// ours is not the dearer one.
func (r row) holds() bool {
	if r.Goal == 0 {
		return r.Ratio.Median >= 1
	}
	return r.Ratio.Median >= r.Goal
}

// differs tells whether the rounds of both kernels are apart.
func (r row) differs() bool { return !r.Ours.Overlaps(r.Theirs) }

// compare makes the rows of all workloads that have samples on our kernel and
// on another one in the same round; goals are those against main.
func compare(runs []run, main string) []row {
	type key struct {
		workload, kernel string
		clock            clock
	}
	medians := map[key]map[int]float64{} // by round
	units := map[string]string{}
	for _, r := range runs {
		for name, samples := range r.Samples {
			k := key{name, r.Kernel, r.Clock}
			if medians[k] == nil {
				medians[k] = map[int]float64{}
			}
			medians[k][r.Round] = stats.Of(samples).Median
			units[name] = r.Units[name]
		}
	}
	var rows []row
	for k, theirs := range medians {
		mine := medians[key{k.workload, ours, k.clock}]
		if k.kernel == ours || len(mine) == 0 {
			continue
		}
		var ratios []float64
		for round, x := range theirs {
			if y, ok := mine[round]; ok && y > 0 {
				ratios = append(ratios, x/y)
			}
		}
		r := row{
			Workload: k.workload, Unit: units[k.workload], Reference: k.kernel, Clock: k.clock,
			Ours: spread(mine), Theirs: spread(theirs), Ratio: stats.Of(ratios),
		}
		if g := goalOf(k.workload); g != nil && k.kernel == main {
			r.Goal = g.reached(k.clock)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Reference, b.Reference), cmp.Compare(a.Workload, b.Workload), cmp.Compare(b.Clock, a.Clock))
	})
	return rows
}

func spread(byRound map[int]float64) stats.Spread {
	var v []float64
	for _, x := range byRound {
		v = append(v, x)
	}
	return stats.Of(v)
}
