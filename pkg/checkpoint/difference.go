package checkpoint

import "math"

// difference gathers how far weights moved, row by row, so that goroutines
// need no lock and the sums do not depend on how they share the rows.
type difference []rowDifference

type rowDifference struct{ max, sum, squares float64 }

// compare sets row r. A weight that is not finite stays what it is and counts
// as unmoved.
func (d difference) compare(r int, before, after []float32) {
	var row rowDifference
	for i, b := range before {
		e := math.Abs(float64(b) - float64(after[i]))
		if e-e != 0 {
			continue
		}
		row.max = max(row.max, e)
		row.sum += e
		row.squares += float64(float64(b) * float64(b)) // not fused: the same on every machine
	}
	d[r] = row
}

func (d difference) report(r *TensorReport) {
	var all rowDifference
	for _, row := range d {
		all.max = max(all.max, row.max)
		all.sum += row.sum
		all.squares += row.squares
	}
	n := float64(max(elements(r.Shape), 1))
	r.MaxError, r.MeanError, r.Scale = all.max, all.sum/n, math.Sqrt(all.squares/n)
}
