package testmodel

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// TinyOptions describe a tiny checkpoint. The zero value is a Llama model with
// two layers, grouped-query attention, a tied head and f32 weights, whose every
// row is a multiple of 32.
type TinyOptions struct {
	Seed uint64 // of the weights

	ModelType string // config.json's model_type; default "llama"
	DType     string // "F32" (default), "F16" or "BF16", of every tensor
	Untied    bool   // lm_head.weight is a tensor of its own
	Bias      bool   // q, k and v projections have biases, as in Qwen2
	HeadNorm  bool   // q and k are normalised per head, as in Qwen3

	Hidden       int // default 64
	Intermediate int // default 96
	Layers       int // default 2
	Heads        int // default 4
	KVHeads      int // default 2
	HeadDim      int // default Hidden/Heads; written to config.json when given
	Context      int // max_position_embeddings; default 256
	ExtraVocab   int // rows of the embedding beyond the tokenizer's ids

	RopeTheta   float64        // default 10000
	RopeScaling map[string]any // config.json's rope_scaling; nil for none

	Shards int            // above 1: that many files and an index
	Config map[string]any // further keys of config.json; they win
}

func (o TinyOptions) withDefaults() TinyOptions {
	set := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	set(&o.Hidden, 64)
	set(&o.Intermediate, 96)
	set(&o.Layers, 2)
	set(&o.Heads, 4)
	set(&o.KVHeads, 2)
	set(&o.Context, 256)
	set(&o.Shards, 1)
	if o.ModelType == "" {
		o.ModelType = "llama"
	}
	if o.DType == "" {
		o.DType = "F32"
	}
	if o.RopeTheta == 0 {
		o.RopeTheta = 10000
	}
	return o
}

func (o TinyOptions) headDim() int {
	if o.HeadDim != 0 {
		return o.HeadDim
	}
	return o.Hidden / o.Heads
}

// Tiny writes a tiny checkpoint into the folder dir, which it makes, and
// returns dir. Equal options give equal bytes.
func Tiny(t testing.TB, dir string, o TinyOptions) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, file := range TinyFS(o) {
		if err := os.WriteFile(filepath.Join(dir, name), file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TinyFS returns the files of a tiny checkpoint in memory. It panics when the
// options contradict each other: only tests call it.
func TinyFS(o TinyOptions) fstest.MapFS {
	o = o.withDefaults()
	files := fstest.MapFS{}
	put := func(name string, data []byte) { files[name] = &fstest.MapFile{Data: data, Mode: 0o644} }
	putJSON := func(name string, v any) {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			panic(err)
		}
		put(name, append(data, '\n'))
	}
	putJSON("config.json", o.config())
	putJSON("generation_config.json", map[string]any{
		"_from_model_config": true, "bos_token_id": idBOS, "eos_token_id": idEOS, "pad_token_id": idEOS,
	})
	putJSON("tokenizer.json", tokenizerJSON())
	putJSON("vocab.json", vocabulary())
	put("merges.txt", mergesTXT())
	putJSON("tokenizer_config.json", tokenizerConfig(o.Context))
	putJSON("special_tokens_map.json", map[string]any{
		"bos_token": specials[idBOS], "eos_token": specials[idEOS], "pad_token": specials[idEOS], "unk_token": specials[idUnknown],
	})
	for name, data := range safetensorsFiles(o.tensors(), o.DType, o.Shards) {
		put(name, data)
	}
	return files
}

func (o TinyOptions) config() map[string]any {
	architectures := map[string]string{
		"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM",
	}
	c := map[string]any{
		"model_type":              o.ModelType,
		"architectures":           []string{architectures[o.ModelType]},
		"hidden_act":              "silu",
		"hidden_size":             o.Hidden,
		"intermediate_size":       o.Intermediate,
		"num_hidden_layers":       o.Layers,
		"num_attention_heads":     o.Heads,
		"num_key_value_heads":     o.KVHeads,
		"max_position_embeddings": o.Context,
		"rms_norm_eps":            1e-5,
		"rope_theta":              o.RopeTheta,
		"tie_word_embeddings":     !o.Untied,
		"vocab_size":              VocabSize() + o.ExtraVocab,
		"bos_token_id":            idBOS,
		"eos_token_id":            idEOS,
		"torch_dtype":             map[string]string{"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[o.DType],
	}
	if o.HeadDim != 0 {
		c["head_dim"] = o.HeadDim
	}
	if o.ModelType == "llama" {
		c["attention_bias"] = o.Bias
		c["mlp_bias"] = false
	}
	if o.RopeScaling != nil {
		c["rope_scaling"] = o.RopeScaling
	}
	for k, v := range o.Config {
		c[k] = v
	}
	return c
}

// tensors returns the tensors of the model in the order of their names'
// appearance in the forward pass. Matrices are [outputs, inputs].
func (o TinyOptions) tensors() []tensor {
	var list []tensor
	add := func(name string, mean, deviation float64, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		r := random{state: o.Seed ^ hash(name)}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(mean + float64(deviation*r.normal()))
		}
		list = append(list, tensor{name, shape, values})
	}
	matrix := func(name string, rows, cols int) { add(name, 0, 1/math.Sqrt(float64(cols)), rows, cols) }
	norm := func(name string, n int) { add(name, 1, 0.1, n) }

	h, d := o.Hidden, o.headDim()
	q, kv := o.Heads*d, o.KVHeads*d
	matrix("model.embed_tokens.weight", VocabSize()+o.ExtraVocab, h)
	for l := range o.Layers {
		layer := fmt.Sprintf("model.layers.%d.", l)
		norm(layer+"input_layernorm.weight", h)
		for _, p := range []struct {
			name string
			rows int
		}{{"q_proj", q}, {"k_proj", kv}, {"v_proj", kv}} {
			matrix(layer+"self_attn."+p.name+".weight", p.rows, h)
			if o.Bias {
				add(layer+"self_attn."+p.name+".bias", 0, 0.1, p.rows)
			}
		}
		if o.HeadNorm {
			norm(layer+"self_attn.q_norm.weight", d)
			norm(layer+"self_attn.k_norm.weight", d)
		}
		matrix(layer+"self_attn.o_proj.weight", h, q)
		if o.Bias && o.ModelType == "llama" {
			add(layer+"self_attn.o_proj.bias", 0, 0.1, h)
		}
		norm(layer+"post_attention_layernorm.weight", h)
		matrix(layer+"mlp.gate_proj.weight", o.Intermediate, h)
		matrix(layer+"mlp.up_proj.weight", o.Intermediate, h)
		matrix(layer+"mlp.down_proj.weight", h, o.Intermediate)
	}
	norm("model.norm.weight", h)
	if o.Untied {
		matrix("lm_head.weight", VocabSize()+o.ExtraVocab, h)
	}
	return list
}
