package kernels

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	var r run
	err := r.parse("\x1bcRESULT getppid 100.5000 ns\r\nINFO thp never\r\nRESULT getppid 99.5 ns\r\nSKIP pipe function not implemented\r\nBENCH DONE\r\nEXIT status=1\r\n")
	if err != nil {
		t.Fatal(err)
	}
	want := run{
		Samples: map[string][]float64{"getppid": {100.5, 99.5}},
		Units:   map[string]string{"getppid": "ns"},
		Skipped: map[string]string{"pipe": "function not implemented"},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if err := r.parse("RESULT getppid 1 ns\n"); !errors.Is(err, errCut) {
		t.Errorf("a console that was cut: %v", err)
	}
	for _, bad := range []string{"RESULT getppid 1\nBENCH DONE\n", "RESULT getppid x ns\nBENCH DONE\n"} {
		if err := r.parse(bad); err == nil {
			t.Errorf("parse(%q): no error", bad)
		}
	}
}
