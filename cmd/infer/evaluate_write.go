package main

import (
	"fmt"
	"io"
	"strings"
)

// writeEvaluations writes the table, one line a form and prompt, and a note.
func writeEvaluations(w io.Writer, rows []evaluation, note string) error {
	name, format := len("model"), 8
	kind := func(r *evaluation) string {
		if r.Activations == "exact" {
			return r.Format
		}
		return r.Format + "+" + r.Activations
	}
	for _, r := range rows {
		name, format = max(name, len([]rune(r.Model))), max(format, len(kind(&r)))
	}
	var b strings.Builder
	line := fmt.Sprintf("%%-%ds  %%-%ds %%6s  %%-8s  %%17s  %%17s  %%17s  %%7s\n", name, format)
	fmt.Fprintf(&b, line, "", "", "bits/", "", "weights", "run time", "total", "tokens")
	fmt.Fprintf(&b, line, "model", "format", "weight", "prompt", "largest    mean", "largest    mean", "largest    mean", "equal")
	show := func(d *difference) string {
		if d == nil {
			return "-       -"
		}
		return fmt.Sprintf("%8.5f %8.5f", d.Largest, d.Mean)
	}
	for _, r := range rows {
		fmt.Fprintf(&b, line, oneLine(r.Model), kind(&r), fmt.Sprintf("%.2f", r.BitsPerWeight), r.Prompt,
			show(r.Weights), show(r.RunTime), show(&r.Total), fmt.Sprintf("%d/%d", r.TokensEqual, r.Tokens))
	}
	if note != "" {
		b.WriteString("\n" + note + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
