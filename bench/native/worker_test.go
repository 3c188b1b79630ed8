package native

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/llama"
)

// TestWorker runs our side of the protocol on a tiny model.
func TestWorker(t *testing.T) {
	dir := testmodel.Tiny(t, t.TempDir(), testmodel.TinyOptions{})
	r := &request{Model: dir, Threads: 1, Mode: modeHuge, ISA: "portable", Context: 40, Steps: []step{
		{Name: "first", IDs: []int{1, 2, 3}, Tokens: 8}, {Name: "decode", IDs: []int{4, 5}, Tokens: 4}, {Name: "prefill", IDs: make([]int, 16), Tokens: 1},
		{Name: keyBatch, IDs: []int{6, 7, 8, 9}, Tokens: 5, Sessions: 3},
		{Name: keyCode, IDs: []int{6, 7, 8, 6, 7, 8, 6}, Tokens: 20}, {Name: keyCodeDraft, IDs: []int{6, 7, 8, 6, 7, 8, 6}, Tokens: 20, Draft: true},
	}}
	arg, err := r.jsonArg()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := worker(t.Context(), arg, &out); err != nil {
		t.Fatal(err)
	}
	events, err := readEvents(&out)
	if err != nil {
		t.Fatal(err)
	}
	x := sample{item: testItem(0)}
	if err := values(&x, events, 0, false); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{keyLoad, keyDecode, keyPrefill, keyRead, keyRatio, keyBytes, keyMemory, keyBatch, keyCode, keyCodeDraft} {
		if x.Values[key] <= 0 {
			t.Errorf("%s: %v", key, x.Values[key])
		}
	}
	if len(x.Tokens["first"]) != 8 {
		t.Errorf("tokens %v", x.Tokens)
	}
	r.Model = filepath.Join(dir, "none")
	arg, _ = r.jsonArg()
	if err := worker(t.Context(), arg, &out); err == nil {
		t.Error("no model is no error")
	}
	if err := worker(t.Context(), "text", &out); err == nil {
		t.Error("no request is no error")
	}
}

func TestPrefillFlops(t *testing.T) {
	// One layer: 2·(8·8 + 2·8·4 + 8·8 + 3·8·16) for matrices, 2·2·8·(n+1)/2 for
	// attention, 2·8·100/n for the head.
	c := &llama.Config{HiddenSize: 8, IntermediateSize: 16, NumHiddenLayers: 1, NumAttentionHeads: 2, NumKeyValueHeads: 1, HeadDim: 4, VocabSize: 100}
	if got, want := prefillFlops(c, 3), 2.0*(64+64+64+384)+32*2+1600./3; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSteps(t *testing.T) {
	model, err := llama.Open(testmodel.Dir(t, "f32"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	for task, want := range map[string]struct {
		steps   []int
		context int
	}{
		taskShort: {[]int{5, 128, 512, 512, len(reference.Chat.IDs)}, 513},
		taskDeep:  {[]int{5, 2048}, 2176},
		taskBusy:  {[]int{5, 128}, 256},
		taskBatch: {[]int{5, 128, 128, 128, 128}, 192},
	} {
		list, context, err := steps(model.Tokenizer(), task, true)
		if err != nil {
			t.Fatal(err)
		}
		if context != want.context || len(list) != len(want.steps) {
			t.Errorf("%s: %d steps in a context of %d", task, len(list), context)
			continue
		}
		for i, s := range list {
			if len(s.IDs) != want.steps[i] {
				t.Errorf("%s: step %s has a prompt of %d tokens", task, s.Name, len(s.IDs))
			}
		}
		// No prompt begins like another, but those of pairs.
		for i, a := range list {
			for _, b := range list[i+1:] {
				if a.IDs[0] == b.IDs[0] && task != taskBatch {
					t.Errorf("%s: %s and %s begin alike", task, a.Name, b.Name)
				}
			}
		}
		if _, err := json.Marshal(list); err != nil {
			t.Error(err)
		}
	}
}
