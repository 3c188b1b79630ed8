package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/gguf/gguftest"
	"github.com/leveret-os/leveret/internal/testmodel"
)

// member returns a member of config.json.
func configMember(t *testing.T, c *Checkpoint, key string) any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(c.Config(), &o); err != nil {
		t.Fatal(err)
	}
	return o[key]
}

// The rows of the field's cases: a tied head is one that is absent, an explicit
// head size wins over hidden/heads.
func TestGGUFConfig(t *testing.T) {
	_, f := tiny(t, testmodel.TinyOptions{Hidden: 60, Heads: 4, KVHeads: 2, HeadDim: 24})
	c := mustOpen(t, f.Bytes())
	if d := configMember(t, c, "head_dim"); d != 24.0 {
		t.Errorf("head_dim %v, want 24", d)
	}
	if x, err := c.Stat("model.layers.0.self_attn.q_proj.weight"); err != nil || x.Shape[0] != 96 || x.Shape[1] != 60 {
		t.Errorf("q_proj %v, %v, want [96 60]", x.Shape, err)
	}
	if v := configMember(t, c, "tie_word_embeddings"); v != true {
		t.Errorf("tie_word_embeddings %v without a head", v)
	}
	_, f = tiny(t, testmodel.TinyOptions{Untied: true, Bias: true})
	c = mustOpen(t, f.Bytes())
	for key, want := range map[string]any{"tie_word_embeddings": false, "attention_bias": true, "mlp_bias": false, "head_dim": 16.0, "model_type": "llama"} {
		if v := configMember(t, c, key); v != want {
			t.Errorf("%s %v, want %v", key, v, want)
		}
	}
	f.Set("llama.attention.sliding_window", uint32(128))
	f.Tensors = f.Tensors[:0]
	_, plain := tiny(t, testmodel.TinyOptions{})
	plain.Set("llama.attention.sliding_window", uint32(128))
	c = mustOpen(t, plain.Bytes())
	if m, w := configMember(t, c, "model_type"), configMember(t, c, "sliding_window"); m != "mistral" || w != 128.0 {
		t.Errorf("model_type %v, sliding_window %v, want mistral, 128", m, w)
	}
}

// float32 numbers are written as short as they are meant.
func TestFloat32Number(t *testing.T) {
	for f, want := range map[float32]string{1e-5: "0.00001", 1e-6: "0.000001", 5e5: "500000", 0.1: "0.1"} {
		b, err := json.Marshal(float32Number(f))
		if err != nil || string(b) != want {
			t.Errorf("%v: %s, %v, want %s", f, b, err, want)
		}
	}
}

func TestRopeScaling(t *testing.T) {
	for _, c := range []struct {
		name string
		set  map[string]any
		want map[string]any
	}{
		{"none", nil, nil},
		{"said to be none", map[string]any{"rope.scaling.type": "none", "rope.scaling.factor": float32(4)}, nil},
		{"linear", map[string]any{"rope.scaling.type": "linear", "rope.scaling.factor": float32(2.5)}, map[string]any{"rope_type": "linear", "factor": 2.5}},
		{"linear, no type", map[string]any{"rope.scaling.factor": float32(4)}, map[string]any{"rope_type": "linear", "factor": 4.0}},
		{"linear, old key", map[string]any{"rope.scale_linear": float32(4)}, map[string]any{"rope_type": "linear", "factor": 4.0}},
		{"yarn", map[string]any{"rope.scaling.type": "yarn", "rope.scaling.factor": float32(4), "rope.scaling.original_context_length": uint32(32768)},
			map[string]any{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768.0}},
		{"yarn, all", map[string]any{"rope.scaling.type": "yarn", "rope.scaling.factor": float32(40), "rope.scaling.yarn_beta_fast": float32(32),
			"rope.scaling.yarn_beta_slow": float32(1), "rope.scaling.yarn_attn_factor": float32(0.1), "rope.scaling.yarn_ext_factor": float32(1)},
			map[string]any{"rope_type": "yarn", "factor": 40.0, "beta_fast": 32.0, "beta_slow": 1.0, "attention_factor": 0.1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := tiny(t, testmodel.TinyOptions{})
			for k, v := range c.set {
				f.Set("llama."+k, v)
			}
			got, _ := configMember(t, mustOpen(t, f.Bytes()), "rope_scaling").(map[string]any)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for _, set := range []map[string]any{
		{"rope.scaling.attn_factor": float32(1.2)},
		{"rope.scaling.type": "yarn", "rope.scaling.factor": float32(4), "rope.scaling.yarn_ext_factor": float32(0.5)},
		{"rope.scaling.type": "su"},
	} {
		_, f := tiny(t, testmodel.TinyOptions{})
		for k, v := range set {
			f.Set("llama."+k, v)
		}
		if _, err := openBytes(f.Bytes()); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v: error %v", set, err)
		}
	}
}

// ropeFactorsOf is generate_extra_tensors of llama.cpp's conversion/llama.py,
// in float32 as there.
func ropeFactorsOf(dim int, theta float32, factor, low, high, original float64) []byte {
	var b []byte
	for i := range dim / 2 {
		freq := float32(1 / math.Pow(float64(theta), float64(float32(2*i)/float32(dim))))
		wavelength := 2 * math.Pi / float64(freq)
		f := factor
		switch {
		case wavelength < original/high:
			f = 1
		case wavelength > original/low:
		default:
			smooth := (original/wavelength - low) / (high - low)
			f = 1 / ((1-smooth)/factor + smooth)
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
	}
	return b
}

// Llama 3's scaling is found from the factors that the file holds.
func TestLlama3Scaling(t *testing.T) {
	for _, c := range []struct {
		name                        string
		dim                         int
		theta                       float64
		factor, low, high, original float64
		found                       [3]float64 // low, high, original
	}{
		{"Llama 3.1", 128, 5e5, 8, 1, 4, 8192, [3]float64{1, 4, 8192}},
		{"Llama 3.2", 64, 5e5, 32, 1, 4, 8192, [3]float64{1, 4, 8192}},
		{"other frequencies", 128, 5e5, 16, 2, 8, 8192, [3]float64{2, 8, 8192}},
		{"a shorter original, the same factors", 128, 5e5, 8, 1, 4, 4096, [3]float64{2, 8, 8192}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := tiny(t, testmodel.TinyOptions{HeadDim: c.dim, Heads: 1, KVHeads: 1, Layers: 1, RopeTheta: c.theta})
			factors := ropeFactorsOf(c.dim, float32(c.theta), c.factor, c.low, c.high, c.original)
			f.Tensors = append(f.Tensors, gguftest.Tensor{Name: ropeFactors, Type: ggml.F32, Dims: []uint64{uint64(c.dim / 2)}, Data: factors})
			got, _ := configMember(t, mustOpen(t, f.Bytes()), "rope_scaling").(map[string]any)
			want := map[string]any{"rope_type": "llama3", "factor": c.factor, "low_freq_factor": c.found[0],
				"high_freq_factor": c.found[1], "original_max_position_embeddings": c.found[2]}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRopeFactors(t *testing.T) {
	set := func(data []byte, dims ...uint64) *gguftest.File {
		_, f := tiny(t, testmodel.TinyOptions{}) // a head of 16, 8 pairs
		f.Tensors = append(f.Tensors, gguftest.Tensor{Name: ropeFactors, Type: ggml.F32, Dims: dims, Data: data})
		return f
	}
	put := func(v ...float32) (b []byte) {
		for _, f := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		return b
	}
	ones := put(1, 1, 1, 1, 1, 1, 1, 1)
	if got := configMember(t, mustOpen(t, set(ones, 8).Bytes()), "rope_scaling"); got != nil {
		t.Errorf("factors of 1 give %v", got)
	}
	for _, c := range []struct {
		name string
		file *gguftest.File
		want error
	}{
		{"another shape", set(put(1, 1), 2), ErrShape},
		{"not a number", set(put(1, 1, 1, 1, 1, 1, 1, float32(math.NaN())), 8), ErrMetadata},
		{"infinite", set(put(1, 1, 1, 1, 1, 1, 1, float32(math.Inf(1))), 8), ErrMetadata},
		{"below 1", set(put(1, 1, 1, 1, 1, 1, 1, 0.5), 8), ErrMetadata},
		{"no ramp", set(put(1, 3, 1, 2, 7, 1, 4, 8), 8), ErrUnsupported},
	} {
		if _, err := openBytes(c.file.Bytes()); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	both := set(ones, 8)
	both.Set("llama.rope.scaling.factor", float32(2))
	if _, err := openBytes(both.Bytes()); !errors.Is(err, ErrUnsupported) {
		t.Errorf("factors and linear scaling: %v", err)
	}
}

// Every id that the file names ends a generation, and so do the tokens that
// are known to end a turn, where the file does not say which one does.
func TestEndIDs(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   map[string]any
		arch  string
		names map[int]string
		want  any
	}{
		{"one", nil, "llama", nil, 2.0},
		{"with eot", map[string]any{"tokenizer.ggml.eot_token_id": uint32(5)}, "llama", nil, []any{2.0, 5.0}},
		{"with eot and eom", map[string]any{"tokenizer.ggml.eot_token_id": uint32(5), "tokenizer.ggml.eom_token_id": uint32(2)}, "llama", nil, []any{2.0, 5.0}},
		{"by name", nil, "llama", map[int]string{0: "<|eot_id|>", 1: "<|end_of_text|>"}, []any{0.0, 1.0, 2.0}},
		{"by name, but eot is said", map[string]any{"tokenizer.ggml.eot_token_id": uint32(2)}, "llama", map[int]string{0: "<|eot_id|>"}, 2.0},
		{"a name that is no control token", nil, "llama", map[int]string{7: "<|eot_id|>"}, 2.0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := tiny(t, testmodel.TinyOptions{})
			for k, v := range c.set {
				f.Set(k, v)
			}
			for i := range f.Pairs {
				if tokens, ok := f.Pairs[i].Value.([]string); ok && f.Pairs[i].Key == "tokenizer.ggml.tokens" {
					for id, name := range c.names {
						tokens[id] = name
					}
				}
			}
			ck := mustOpen(t, f.Bytes())
			if d := cmp.Diff(c.want, configMember(t, ck, "eos_token_id")); d != "" {
				t.Error(d)
			}
			var g map[string]any
			if err := json.Unmarshal(ck.GenerationConfig(), &g); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, g["eos_token_id"]); d != "" {
				t.Error(d)
			}
		})
	}
}
