package native

import (
	"cmp"
	"github.com/leveret-os/leveret/bench/stats"
	"slices"
)

// A result is what all samples of one config say.
type result struct {
	config
	Values    map[string]map[int]float64 // by key and round
	Samples   int
	Noisy     int
	Errors    []string // without repetitions
	Version   string
	Agreement agreement
}

// spread returns the spread of a value over the rounds.
func (r *result) spread(key string) spread {
	var v []float64
	for _, x := range r.Values[key] {
		v = append(v, x)
	}
	return stats.Of(v)
}

// results gathers samples by config, in the order of tables.
func results(samples []sample) []*result {
	of := map[config][]sample{}
	for _, s := range last(samples) {
		of[s.config] = append(of[s.config], s)
	}
	var all []*result
	for c, list := range of {
		r := &result{config: c, Values: map[string]map[int]float64{}, Agreement: agree(list)}
		for _, s := range list {
			if s.Error != "" {
				if !slices.Contains(r.Errors, s.Error) {
					r.Errors = append(r.Errors, s.Error)
				}
				continue
			}
			r.Samples++
			if s.Noisy {
				r.Noisy++
			}
			r.Version = cmp.Or(s.Version, r.Version)
			for key, v := range s.Values {
				if r.Values[key] == nil {
					r.Values[key] = map[int]float64{}
				}
				r.Values[key][s.Round] = v
			}
		}
		slices.Sort(r.Errors)
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *result) int { return order(a.config, b.config) })
	return all
}
