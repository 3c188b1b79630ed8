package safetensors

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rejected gives the cause for which a case of testdata/safetensors.json must
// be refused.
var rejected = map[string]error{
	"empty-file":          ErrTruncated,
	"hdr-zero":            ErrSyntax,
	"hdr-not-utf8":        ErrSyntax,
	"hdr-not-json":        ErrSyntax,
	"hdr-array":           ErrSyntax,
	"hdr-null":            ErrSyntax,
	"scalar-empty-data":   ErrSize,
	"zero-dim-huge-first": ErrOverflow,
	"wrap-to-size":        ErrOverflow,
	"size-mismatch":       ErrSize,
	"reversed-offsets":    ErrOffsets,
	"negative-offset":     ErrSyntax,
	"exp-dim":             ErrSyntax,
	"string-dim":          ErrSyntax,
	"offsets-1":           ErrSyntax,
	"missing-dtype":       ErrSyntax,
	"dup-tensor":          ErrDuplicateKey,
	"dup-tensor-2":        ErrDuplicateKey,
	"dup-tensor-esc":      ErrDuplicateKey,
	"dup-dtype":           ErrDuplicateKey,
	"overlap":             ErrOffsets,
	"start-hole":          ErrOffsets,
	"trailing-data":       ErrUncovered,
	"metadata-twice":      ErrDuplicateKey,
}

// TestCases runs the given cases, whose answers are the reference
// implementation's (and the format text's, where it is stricter), through
// every way to open a file.
func TestCases(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Hex, Want string
			Detail        json.RawMessage
		}
	}
	readJSON(t, "safetensors.json", &file)
	if len(file.Cases) != 38 {
		t.Fatalf("%d cases, want 38", len(file.Cases))
	}
	refused := 0
	for _, c := range file.Cases {
		data, err := hex.DecodeString(c.Hex)
		if err != nil {
			t.Fatal(err)
		}
		if c.Want == "reject" {
			refused++
		}
		for _, o := range openers {
			t.Run(c.ID+"/"+o.name, func(t *testing.T) {
				f, err := o.open(t, data, nil)
				if c.Want == "reject" {
					if want := rejected[c.ID]; want == nil || !errors.Is(err, want) {
						t.Fatalf("error %v, want %v", err, want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				checkDetail(t, f, c.Detail)
			})
		}
	}
	if refused != len(rejected) {
		t.Errorf("%d cases are to be refused, the table has %d", refused, len(rejected))
	}
}

// checkDetail compares with the reference's [name, dtype, shape, bytes].
func checkDetail(t *testing.T, f *File, detail json.RawMessage) {
	t.Helper()
	var rows [][4]json.RawMessage
	if err := json.Unmarshal(detail, &rows); err != nil {
		t.Fatal(err)
	}
	type info struct {
		DType string
		Shape []uint64
		Bytes int
	}
	want := make(map[string]info)
	for _, row := range rows {
		var name string
		var i info
		for j, v := range []any{&name, &i.DType, &i.Shape, &i.Bytes} {
			if err := json.Unmarshal(row[j], v); err != nil {
				t.Fatal(err)
			}
		}
		want[name] = i
	}
	got := make(map[string]info)
	for name, tensor := range tensors(t, f) {
		got[name] = info{tensor.DType.String(), tensor.Shape, len(tensor.Data)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
