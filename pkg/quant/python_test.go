package quant

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// TestPython: the decoder that knows docs/quantization.md alone reads the same
// bits from a file.
func TestPython(t *testing.T) {
	python := testmodel.Python(t)
	rnd := rand.New(rand.NewPCG(6, 6))
	const rows, cols = 35, 96
	want := map[string][]float32{}
	meta := Metadata{}
	var tensors []safetensors.Source
	for _, f := range Formats() {
		data := encode(t, f, rows, cols, normal(rnd, rows*cols, 0.02))
		want[f.String()] = decode(f, data, rows, cols)
		meta[f.String()] = Matrix{f, rows, cols}
		shape := f.Shape(rows, cols)
		tensors = append(tensors, safetensors.Source{
			Name: f.String(), DType: safetensors.U8, Shape: shape[:], Data: data,
		})
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := safetensors.Write(path, tensors, map[string]string{MetadataKey: meta.String()}, nil); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		cmd := exec.Command(python, "testdata/decode.py", path, name)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, stderr.Bytes())
		}
		if len(out) != 4*len(w) {
			t.Fatalf("%s: %d bytes, want %d", name, len(out), 4*len(w))
		}
		for i, v := range w {
			if got := float32At(out, i); math.Float32bits(got) != math.Float32bits(v) {
				t.Fatalf("%s: weight %d is %v, want %v", name, i, got, v)
			}
		}
	}
}
