package native

import (
	"encoding/csv"
	"io"
	"strconv"
)

// csvMeasures are all values, those that no table shows too.
var csvMeasures = append(append([]measure{}, measures...),
	measure{key: keyWarmFirst, title: "First token, running process", unit: "ms", scale: 1e3, less: true},
	measure{key: keyFirstAll, title: "Start to first token, Python's start included", unit: "ms", scale: 1e3, less: true},
	measure{key: keyImport, title: "Import", unit: "ms", scale: 1e3, less: true},
	measure{key: keyDeepPrefill, title: "Prefill, 2,048 tokens", unit: "tokens/s", scale: 1},
	measure{key: keyRead, title: "Plain read of the weights", unit: "GB/s", scale: 1e-9},
	measure{key: keyRatio, title: "Decode over plain read", unit: "1", scale: 1},
	measure{key: keyBytes, title: "Weights read by a token", unit: "MB", scale: 1e-6, less: true},
	measure{key: keyCode, title: "Decode without drafts, code given back", unit: "tokens/s", scale: 1},
	measure{key: keyRewrite, title: "Decode without drafts, text given back", unit: "tokens/s", scale: 1},
	measure{key: keyProse, title: "Decode without drafts, nothing repeats", unit: "tokens/s", scale: 1},
	measure{key: keyBatchOne, title: "Decode, one session, beside eight", unit: "tokens/s", scale: 1},
	measure{key: keyFMA, title: "f32 multiply-adds", unit: "GFLOP/s", scale: 1e-9},
	measure{key: keyReadHuge, title: "Plain read, 2 MiB pages", unit: "GB/s", scale: 1e-9},
	measure{key: keyReadSmall, title: "Plain read, 4 KiB pages", unit: "GB/s", scale: 1e-9},
)

// writeCSV writes one line for each config and measure.
func writeCSV(w io.Writer, samples []sample) error {
	c := csv.NewWriter(w)
	c.Write([]string{"engine", "form", "class", "mode", "isa", "threads", "tokens", "measure", "title", "unit", "median", "least", "most", "samples", "disturbed"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, r := range results(samples) {
		for _, m := range csvMeasures {
			s := r.spread(m.key).Scaled(m.scale)
			if s.N == 0 {
				continue
			}
			c.Write([]string{
				r.Engine, r.Form, string(r.Class), r.Mode, r.ISA, strconv.Itoa(r.Threads), keepsMark(r.Agreement), m.key, m.title, m.unit,
				number(s.Median), number(s.Least), number(s.Most), strconv.Itoa(s.N), strconv.Itoa(r.Noisy),
			})
		}
	}
	c.Flush()
	return c.Error()
}
