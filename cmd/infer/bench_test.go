package main

import (
	"encoding/csv"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

func TestBench(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{DType: "BF16"})
	args := []string{"bench", "-m", dir, "-p", "16", "-n", "4", "-t", "1,2", "-r", "2"}
	o := invoke(t, append(args, "-o", "json")...).ok(t)
	if o.stderr != "" {
		t.Errorf("stderr %q", o.stderr)
	}
	var rows []benchRow
	for line := range strings.Lines(o.stdout) {
		var r benchRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	x := inspectJSON(t, dir)
	if len(rows) != 4 {
		t.Fatalf("%d rows, want prefill and decode for each of two numbers of threads", len(rows))
	}
	for i, r := range rows {
		s := r.TokensPerSecond
		if r.Threads != min(i/2+1, runtime.GOMAXPROCS(0)) || r.Depth != 0 || r.Sessions != 1 || r.Activations != "exact" || r.Format != "bf16" || r.Pages != "mapped" || !(0 < s.Least && s.Least <= s.Median && s.Median <= s.Most) {
			t.Errorf("row %+v", r)
		}
		switch {
		case i%2 == 0:
			if r.Test != "prefill" || r.Tokens != 16 || r.Ratio != nil {
				t.Errorf("row %+v", r)
			}
		case r.Test != "decode" || r.Tokens != 4 || r.BytesPerToken != x.Bytes || r.Ratio == nil || r.Ratio.Median <= 0 || r.Read.Median <= 0:
			t.Errorf("row %+v, want all %d bytes of weights read for a token", r, x.Bytes)
		}
	}

	lines, err := csv.NewReader(strings.NewReader(invoke(t, append(args, "-o", "csv")...).ok(t).stdout)).ReadAll()
	if err != nil || len(lines) != 5 || lines[0][0] != "test" || lines[2][12] == "" || lines[1][12] != "" {
		t.Errorf("csv %q (%v)", lines, err)
	}
	if table := invoke(t, args...).ok(t).stdout; strings.Count(table, "\nprefill ") != 2 || strings.Count(table, "\ndecode ") != 2 {
		t.Errorf("table:\n%s", table)
	}
	if only := invoke(t, "bench", "-m", dir, "-p", "0", "-n", "2", "-r", "1", "-t", "1", "--huge", "--isa", "portable", "-o", "json").ok(t).stdout; strings.Count(only, "\n") != 1 ||
		!strings.Contains(only, `"pages":"huge"`) || !strings.Contains(only, `"isa":"portable"`) {
		t.Errorf("got %s", only)
	}
	deep := invoke(t, "bench", "-m", dir, "-p", "8", "-n", "3", "-d", "20", "-np", "1,3", "-r", "1", "-t", "1", "-o", "csv").ok(t).stdout
	if lines := strings.Split(deep, "\n"); len(lines) != 5 || !strings.HasSuffix(lines[1], ",20,1,exact") || !strings.HasSuffix(lines[2], ",20,1,exact") || !strings.HasSuffix(lines[3], ",20,3,exact") {
		t.Errorf("got %s", deep)
	}
	invoke(t, "bench", "-m", dir, "-d", "250", "-p", "7", "-n", "0").fails(t, statusUsage, "256 positions")
	invoke(t, "bench", "-m", dir, "-np", "0").fails(t, statusUsage, "-np 0")
	invoke(t, "bench", "-m", dir, "-p", "257", "-n", "0").fails(t, statusUsage, "256 positions")
}
