package native

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	samples := testSamples()
	noisy := rowsOf(config{Engine: "OpenVINO GenAI", Form: "f16", Class: class16, Threads: 1}, true, map[string][]float64{keyDecode: {50}})
	noisy[0].Noisy = true
	samples = append(samples, noisy...)
	samples = append(samples, sample{item: item{config: config{Engine: "CTranslate2", Form: "bfloat16", Class: class16, Threads: 1}, Task: taskShort}, Error: "refuses | this\nprocessor"})
	var b bytes.Buffer
	if err := writeTable(&b, testHeader, samples); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	at := 0
	for _, part := range []string{
		"1 of them were disturbed", "## What does not hold", "peak memory | 1 | llama.cpp Q8_0 | 1.05 | ≤ 1.00",
		"## Where another engine is ahead", "## What holds", "q8b32, huge | 1 | llama.cpp Q8_0 | 1.60 (1.50–1.70) | ≥ 1.50",
		"## Not measured", "## All figures", "### Decode, context 128", "OpenVINO GenAI f16 ~ |", "## Tokens",
		"## What could not be had", "CTranslate2 bfloat16, 1 thread | refuses \\| this processor |",
	} {
		i := strings.Index(text[at:], part)
		if i < 0 {
			t.Fatalf("%q is missing after byte %d of:\n%s", part, at, text)
		}
		at += i
	}
	if strings.Contains(text, "quick run") {
		t.Error("not a quick run")
	}
	// Every row of a table has as many cells as its head.
	columns := 0
	for line := range strings.Lines(text) {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if n > 0 && columns > 0 && n != columns {
			t.Errorf("%d cells instead of %d: %s", n, columns, line)
		}
		columns = n
	}

	quick := testHeader
	quick.Quick = true
	b.Reset()
	if err := writeTable(&b, quick, nil); err != nil || !strings.Contains(b.String(), "Its figures mean nothing") {
		t.Errorf("quick run without samples (%v):\n%s", err, b.String())
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := writeCSV(&b, testSamples()); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, l := range lines {
		found = found || strings.Join(l, ",") == "leveret,q8b32,8-bit,huge,,1,kept,decode,Decode, context 128,tokens/s,160,150,170,3,0"
	}
	if !found || len(lines) < 10 {
		t.Errorf("%q", lines)
	}
}

func TestCell(t *testing.T) {
	for _, c := range []struct {
		s    spread
		want string
	}{{spread{}, "—"}, {spread{Median: 1.25, Least: 1.25, Most: 1.25, N: 1}, "1.2"}, {spread{Median: 2, Least: 1, Most: 3, N: 3}, "2.0 (1.0–3.0)"}} {
		if got := cell(c.s, 1); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
}
