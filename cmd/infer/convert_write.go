package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/pkg/checkpoint"
)

// change is what became of all tensors of one type.
type change struct {
	from, to    checkpoint.Type
	tensors     int
	bytes       int64
	largest     float64 // of all errors
	mean, scale float64 // weighted by the numbers of weights
	weights     float64
}

// changes sums a report up, in the order in which the changes first occur.
func changes(r *checkpoint.Report) []*change {
	var all []*change
	for _, t := range r.Tensors {
		var c *change
		for _, x := range all {
			if x.from == t.From && x.to == t.To {
				c = x
			}
		}
		if c == nil {
			c = &change{from: t.From, to: t.To}
			all = append(all, c)
		}
		n := 1.0
		for _, d := range t.Shape {
			n *= float64(d)
		}
		c.tensors++
		c.bytes += t.Bytes
		c.largest = max(c.largest, t.MaxError)
		c.mean += n * t.MeanError
		c.scale += n * t.Scale
		c.weights += n
	}
	return all
}

// writeConversion says what was written: how many tensors became what and how
// far they moved, and which could not be quantised.
func writeConversion(w io.Writer, out string, r *checkpoint.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d weights", oneLine(filepath.Clean(out)), count(len(r.Files), "file"), r.Weights)
	if r.Weights > 0 {
		fmt.Fprintf(&b, " in %s, %.2f bits each", size(r.Bytes), 8*float64(r.Bytes)/float64(r.Weights))
	}
	b.WriteString("\n")
	for _, c := range changes(r) {
		what := c.from.String()
		if c.to != c.from {
			what += " to " + c.to.String()
		}
		fmt.Fprintf(&b, "  %4d of %-15s %10s", c.tensors, what, size(c.bytes))
		if c.largest > 0 {
			fmt.Fprintf(&b, "  largest error %.3g", c.largest)
			if c.scale > 0 {
				fmt.Fprintf(&b, ", mean %.2f %% of a weight's root mean square", 100*c.mean/c.scale)
			}
		}
		b.WriteString("\n")
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(&b, "  not quantised, as their rows are no multiple of 32: %s\n", strings.Join(r.Left, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
