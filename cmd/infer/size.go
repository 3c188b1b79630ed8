package main

import "fmt"

// size shows a number of bytes in decimal units.
func size(n int64) string {
	const units = "kMGTP"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n)/1000, 0
	for v >= 999.95 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	return fmt.Sprintf("%.1f %cB", v, units[u])
}
