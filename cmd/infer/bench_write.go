package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// benchWriter returns what writes a row in the form of that name.
func benchWriter(w io.Writer, form string) (func(benchRow) error, error) {
	first := true
	switch form {
	case "", "table":
		return func(r benchRow) error {
			if first {
				first = false
				if err := benchHead(w, r); err != nil {
					return err
				}
			}
			return benchLine(w, r)
		}, nil
	case "json":
		return func(r benchRow) error { return writeJSON(w, r) }, nil
	case "csv":
		out := csv.NewWriter(w)
		return func(r benchRow) error {
			if first {
				first = false
				out.Write([]string{"test", "tokens", "threads", "isa", "format", "pages", "tokens_per_second", "least", "most",
					"bytes_per_token", "stream_bytes_per_second", "read_bytes_per_second", "ratio", "depth", "sessions", "activations"})
			}
			f := func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
			t := r.TokensPerSecond
			line := []string{r.Test, strconv.Itoa(r.Tokens), strconv.Itoa(r.Threads), r.ISA, r.Format, r.Pages,
				f(t.Median), f(t.Least), f(t.Most), "", "", "", "", strconv.Itoa(r.Depth), strconv.Itoa(r.Sessions), r.Activations}
			if r.Ratio != nil {
				copy(line[9:], []string{strconv.FormatInt(r.BytesPerToken, 10), f(r.Stream.Median), f(r.Read.Median), f(r.Ratio.Median)})
			}
			out.Write(line)
			out.Flush()
			return out.Error()
		}, nil
	}
	return nil, usagef("-o %s: expected table, csv or json", form)
}

const benchColumns = "%-8s %7s %6s %9s %8s %10s  %-16s %10s %10s %7s\n"

func benchHead(w io.Writer, r benchRow) error {
	activations := ""
	if r.Activations != "exact" {
		activations = ", " + r.Activations + " activations"
	}
	if _, err := fmt.Fprintf(w, "%s weights, %s, %s%s\n\n", r.Format, r.Pages, r.ISA, activations); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, benchColumns, "test", "tokens", "depth", "sessions", "threads", "tokens/s", "(range)", "weights/s", "plain read", "ratio")
	return err
}

func benchLine(w io.Writer, r benchRow) error {
	t := r.TokensPerSecond
	stream, read, ratio := "", "", ""
	if r.Ratio != nil {
		stream, read = size(int64(r.Stream.Median)), size(int64(r.Read.Median))
		ratio = fmt.Sprintf("%.2f", r.Ratio.Median)
	}
	line := fmt.Sprintf(benchColumns, r.Test, strconv.Itoa(r.Tokens), strconv.Itoa(r.Depth), strconv.Itoa(r.Sessions), strconv.Itoa(r.Threads),
		fmt.Sprintf("%.1f", t.Median), fmt.Sprintf("(%.1f–%.1f)", t.Least, t.Most), stream, read, ratio)
	_, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n")
	return err
}
