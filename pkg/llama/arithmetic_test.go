package llama

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/leveret-os/leveret/internal/simd"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/checkpoint"
)

var updateDigests = flag.Bool("update-digests", false, "write testdata/digests.json")

// arithmeticModels are tiny checkpoints that together use every part of the
// forward pass, with sizes that fit no vector.
var arithmeticModels = []struct {
	name  string
	tiny  testmodel.TinyOptions
	block checkpoint.Type // quantised to this format, if any
	acts  string          // Options.Activations
}{
	{name: "llama-f32", tiny: testmodel.TinyOptions{Seed: 1}},
	{name: "llama-f16-odd", tiny: testmodel.TinyOptions{Seed: 2, DType: "F16", Hidden: 54, Intermediate: 75, Heads: 6, KVHeads: 3, HeadDim: 10, Untied: true, ExtraVocab: 5}},
	{name: "llama-bf16-bias", tiny: testmodel.TinyOptions{Seed: 3, DType: "BF16", Bias: true, RopeScaling: llama3Scaling}},
	{name: "qwen2-bf16", tiny: testmodel.TinyOptions{Seed: 4, ModelType: "qwen2", DType: "BF16", Bias: true}},
	{name: "qwen3-f32", tiny: testmodel.TinyOptions{Seed: 5, ModelType: "qwen3", HeadNorm: true, HeadDim: 24, Untied: true}},
	{name: "mistral-yarn", tiny: testmodel.TinyOptions{Seed: 6, ModelType: "mistral", RopeScaling: map[string]any{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}}},
	{name: "llama-linear", tiny: testmodel.TinyOptions{Seed: 10, RopeScaling: map[string]any{"rope_type": "linear", "factor": 4.0}}},
	{name: "llama-q8b32", tiny: testmodel.TinyOptions{Seed: 7, Intermediate: 160}, block: checkpoint.Q8B32},
	{name: "llama-q4b32", tiny: testmodel.TinyOptions{Seed: 8, Untied: true, ExtraVocab: 3}, block: checkpoint.Q4B32},
	{name: "llama-q4b32m", tiny: testmodel.TinyOptions{Seed: 9, Hidden: 96, Heads: 3, KVHeads: 1}, block: checkpoint.Q4B32M},
	{name: "llama-q8b32-int8", tiny: testmodel.TinyOptions{Seed: 7, Intermediate: 160}, block: checkpoint.Q8B32, acts: "int8"},
	{name: "llama-q4b32-int8", tiny: testmodel.TinyOptions{Seed: 8, Untied: true, ExtraVocab: 3}, block: checkpoint.Q4B32, acts: "int8"},
	{name: "llama-q4b32m-int8", tiny: testmodel.TinyOptions{Seed: 9, Hidden: 96, Heads: 3, KVHeads: 1}, block: checkpoint.Q4B32M, acts: "int8"},
}

var llama3Scaling = map[string]any{"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}

// arithmeticModel makes one of the models and returns its folder.
func arithmeticModel(t *testing.T, i int) string {
	t.Helper()
	c := arithmeticModels[i]
	dir := testmodel.Tiny(t, filepath.Join(t.TempDir(), "model"), c.tiny)
	if c.block == checkpoint.Keep {
		return dir
	}
	ck, err := checkpoint.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ck.Close()
	out := filepath.Join(t.TempDir(), c.block.String())
	if _, err := checkpoint.Convert(out, ck, &checkpoint.ConvertOptions{Type: c.block}); err != nil {
		t.Fatal(err)
	}
	return out
}

// arithmeticPrompt is long enough for several chunks of a prefill.
func arithmeticPrompt() []int {
	r := rand.New(rand.NewPCG(1, 2))
	ids := make([]int, 150)
	for i := range ids {
		ids[i] = r.IntN(256)
	}
	return ids
}

// digest is the SHA-256 of the logits after the prompt, appended in the given
// chunks, and of four more tokens.
func digest(t *testing.T, m *Model, prompt []int, chunks ...int) string {
	t.Helper()
	s := newSession(t, m, nil)
	h := sha256.New()
	sum := func() {
		for _, x := range s.Logits() {
			binary.Write(h, binary.LittleEndian, math.Float32bits(x))
		}
	}
	ctx := context.Background()
	for _, n := range append(chunks, len(prompt)) {
		n = min(n, len(prompt))
		if err := s.Append(ctx, prompt[:n]); err != nil {
			t.Fatal(err)
		}
		prompt = prompt[n:]
	}
	sum()
	for id := range 4 {
		if err := s.Append(ctx, []int{id + 40}); err != nil {
			t.Fatal(err)
		}
		sum()
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestOneArithmetic holds the logits of every instruction set that runs here,
// every number of threads, and any split of a prompt, against one committed
// digest a model.
func TestOneArithmetic(t *testing.T) {
	const file = "testdata/digests.json"
	want := map[string]string{}
	if data, err := os.ReadFile(file); err != nil {
		t.Error(err)
	} else if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	prompt := arithmeticPrompt()
	for i, c := range arithmeticModels {
		t.Run(c.name, func(t *testing.T) {
			dir := arithmeticModel(t, i)
			for isa := simd.Portable; isa <= simd.AVX512; isa++ {
				if !simd.Supported(isa) {
					t.Logf("%v cannot run here", isa)
					continue
				}
				threadCounts := []int{1, 2, 4}
				if testing.Short() { // under an emulator
					threadCounts = []int{1, 4}
				}
				for _, threads := range threadCounts {
					m := open(t, dir, &Options{Threads: threads, ISA: isa.String(), Activations: c.acts})
					if got := m.Info(); got.ISA != isa.String() || got.Threads != threads || got.Activations != cmp.Or(c.acts, "exact") {
						t.Fatalf("runs %s on %d threads with %s activations, asked for %v on %d, %q", got.ISA, got.Threads, got.Activations, isa, threads, c.acts)
					}
					splits := [][]int{nil, {1, 2, 3, 128}, {149}}
					switch {
					case testing.Short() && threads == 1:
						splits = splits[1:2]
					case testing.Short():
						splits = splits[:1]
					case threads == 1:
						one := make([]int, len(prompt))
						for j := range one {
							one[j] = 1
						}
						splits = append(splits, one)
					}
					for _, chunks := range splits {
						got := digest(t, m, prompt, chunks...)
						if *updateDigests && isa == simd.Portable && threads == 1 && chunks == nil {
							want[c.name] = got
						}
						if got != want[c.name] {
							t.Errorf("%v, %d threads, chunks %v: digest %s, expected %s", isa, threads, fmt.Sprint(chunks)[:min(20, len(fmt.Sprint(chunks)))], got, want[c.name])
						}
					}
					m.Close()
				}
			}
		})
	}
	if *updateDigests {
		data, err := json.MarshalIndent(want, "", "  ")
		if err == nil {
			err = os.WriteFile(file, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
