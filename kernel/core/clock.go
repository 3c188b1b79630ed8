//go:build amd64

package main

func getTimespec(c *CPU, t *Thread, a uint64) (uint64, bool) {
	as := asFor(t, a)
	if as == nil {
		return 0, false
	}
	p := as.pageFor(c, a, false)
	q := as.pageFor(c, a+8, false)
	if p == 0 || q == 0 {
		return 0, false
	}
	return rd64(p)*1000000000 + rd64(q), true
}
