package testmodel

// random makes the same numbers on every machine: SplitMix64 (Steele, Lea and
// Flood, 2014), and sums that are exact in float64.
type random struct{ state uint64 }

func (r *random) uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// normal returns a number of mean 0 and about unit deviation: the sum of
// twelve uniform numbers of 40 bits, less its mean.
func (r *random) normal() float64 {
	var sum uint64
	for range 12 {
		sum += r.uint64() >> 24
	}
	return (float64(sum) - 6*(1<<40)) / (1 << 40)
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
