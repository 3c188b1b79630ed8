package llama

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/checkpoint"
)

var dump = flag.String("dump", "", "write the tiny checkpoints for tools/reference/tiny_logits.py into this folder")

// TestTransformers holds every model family and RoPE scaling against the logits
// of transformers (tools/reference/tiny_logits.py).
func TestTransformers(t *testing.T) {
	prompt := append(arithmeticPrompt(), 40, 41, 42, 43)
	if *dump != "" {
		data, err := json.Marshal(prompt)
		if err == nil {
			err = os.WriteFile(filepath.Join(*dump, "prompt.json"), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile("testdata/transformers.json")
	if err != nil {
		t.Error(err)
	}
	var want struct {
		Logits map[string][][]float32
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Error(err)
	}
	for _, c := range arithmeticModels {
		if c.block != checkpoint.Keep {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.name)
			if *dump != "" {
				dir = filepath.Join(*dump, c.name)
			}
			m := open(t, testmodel.Tiny(t, dir, c.tiny), nil)
			s := newSession(t, m, nil)
			steps := want.Logits[c.name]
			if len(steps) != 5 {
				t.Fatalf("testdata holds %d steps, expected 5", len(steps))
			}
			worst := 0.0
			n := len(prompt) - len(steps) + 1
			for i, logits := range steps {
				next := prompt[:n]
				if i > 0 {
					next = prompt[n+i-1 : n+i]
				}
				if err := s.Append(context.Background(), next); err != nil {
					t.Fatal(err)
				}
				if len(logits) != len(s.Logits()) {
					t.Fatalf("%d logits, expected %d", len(s.Logits()), len(logits))
				}
				for j, x := range s.Logits() {
					worst = max(worst, math.Abs(float64(x-logits[j])))
				}
			}
			t.Logf("largest difference of a logit: %.2g", worst)
			if worst > 1e-4 {
				t.Errorf("a logit differs by %g, expected at most 1e-4", worst)
			}
		})
	}
}
