package quant

import (
	"math"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// TestCheckpoint: the real checkpoint's weights were Q4_1 blocks, its
// embeddings Q8_0; as float32 they are encoded to the very same values.
func TestCheckpoint(t *testing.T) {
	f, err := safetensors.Open(testmodel.Dir(t, "f32"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tested := 0
	for x, err := range f.Tensors() {
		if err != nil {
			t.Fatal(err)
		}
		format := Q4B32M
		switch {
		case x.Name == "model.embed_tokens.weight":
			format = Q8B32
		case len(x.Shape) != 2 || !strings.HasPrefix(x.Name, "model.layers.7."):
			continue
		}
		tested++
		rows, cols := min(int(x.Shape[0]), 4096), int(x.Shape[1])
		w := make([]float32, rows*cols)
		if err := x.DType.Float32s(w, x.Data, 0); err != nil {
			t.Fatal(err)
		}
		got := decode(format, encode(t, format, rows, cols, w), rows, cols)
		changed := 0
		for i := range w {
			if math.Float32bits(w[i]) != math.Float32bits(got[i]) && (w[i] != 0 || got[i] != 0) {
				changed++
			}
		}
		if changed > 0 {
			t.Errorf("%s: %d of %d weights changed", x.Name, changed, len(w))
		}
	}
	if tested != 8 {
		t.Errorf("%d tensors tested, want 8", tested)
	}
}
