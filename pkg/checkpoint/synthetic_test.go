package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/gguf/gguftest"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// ggufOf writes a folder in Hugging Face's form as llama.cpp's converter does,
// but for the tokenizer, which is given. Matrices get the type that matrix
// chooses by their names in the folder; nil: as they are.
func ggufOf(t testing.TB, files fstest.MapFS, matrix func(name string) ggml.Type) *gguftest.File {
	t.Helper()
	var c struct {
		ModelType string `json:"model_type"`
		Hidden    int    `json:"hidden_size"`
		FFN       int    `json:"intermediate_size"`
		Layers    int    `json:"num_hidden_layers"`
		Heads     int    `json:"num_attention_heads"`
		KVHeads   int    `json:"num_key_value_heads"`
		HeadDim   *int   `json:"head_dim"`
		Context   int    `json:"max_position_embeddings"`
		Vocab     int    `json:"vocab_size"`
		Eps       float32
		Theta     float32 `json:"rope_theta"`
	}
	if err := json.Unmarshal(files["config.json"].Data, &c); err != nil {
		t.Fatal(err)
	}
	f := &gguftest.File{}
	f.Set("general.architecture", c.ModelType)
	set := func(key string, v any) { f.Set(c.ModelType+"."+key, v) }
	set("embedding_length", uint32(c.Hidden))
	set("feed_forward_length", uint32(c.FFN))
	set("block_count", uint32(c.Layers))
	set("attention.head_count", uint32(c.Heads))
	set("attention.head_count_kv", uint32(c.KVHeads))
	set("context_length", uint32(c.Context))
	set("attention.layer_norm_rms_epsilon", float32(1e-5))
	set("rope.freq_base", c.Theta)
	set("vocab_size", uint32(c.Vocab))
	if c.HeadDim != nil {
		set("attention.key_length", uint32(*c.HeadDim))
		set("attention.value_length", uint32(*c.HeadDim))
	}
	setTokenizer(t, f, files)

	in, err := safetensors.OpenFS(files, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range in.Names() {
		x, err := in.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, cols := 1, int(x.Shape[len(x.Shape)-1])
		if len(x.Shape) == 2 {
			rows = int(x.Shape[0])
		}
		heads := map[bool]int{strings.Contains(name, "q_proj"): c.Heads, strings.Contains(name, "k_proj"): c.KVHeads}[true]
		data := x.Data
		if heads > 0 && c.ModelType == "llama" {
			data = permuted(data, heads, int(x.Shape[0])/heads)
		}
		g := gguftest.Tensor{Name: ggufName(name), Type: map[safetensors.DType]ggml.Type{
			safetensors.F32: ggml.F32, safetensors.F16: ggml.F16, safetensors.BF16: ggml.BF16}[x.DType], Data: data}
		for i := range x.Shape {
			g.Dims = append(g.Dims, x.Shape[len(x.Shape)-1-i])
		}
		if matrix != nil && len(x.Shape) == 2 {
			if kind := matrix(name); kind != g.Type {
				g.Type, g.Data = kind, blocksOf(kind, rows*cols, name)
			}
		}
		f.Tensors = append(f.Tensors, g)
	}
	return f
}

// permuted is LlamaModel.permute of llama.cpp's conversion/llama.py: of each of
// the heads, [2, n/2] rows (or elements of a bias) become [n/2, 2].
func permuted(data []byte, heads, n int) []byte {
	row := len(data) / heads / n
	out := make([]byte, 0, len(data))
	for h := range heads {
		for i := range n / 2 {
			for half := range 2 {
				r := h*n + half*n/2 + i
				out = append(out, data[r*row:(r+1)*row]...)
			}
		}
	}
	return out
}

// blocksOf returns n weights of a type: bytes from the name, with scales that
// are small numbers.
func blocksOf(kind ggml.Type, n int, name string) []byte {
	size := kind.BlockBytes()
	data := make([]byte, n/kind.BlockSize()*size)
	state := uint32(len(name)) * 2654435761
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = byte(state >> 24)
	}
	scales := map[ggml.Type][]int{ggml.Q8_0: {0}, ggml.Q4_0: {0}, ggml.Q4_1: {0, 2}, ggml.Q4_K: {0, 2}, ggml.Q6_K: {208}, ggml.Q5_0: {0}}[kind]
	for b := 0; b < len(data); b += size {
		for _, s := range scales {
			data[b+s+1] = 0x20 | data[b+s+1]&0x87 // binary16 of ±2^-7 to 2^-6
		}
	}
	return data
}

func ggufName(hf string) string {
	names := map[string]string{
		embeddings: "token_embd.weight", finalNorm: "output_norm.weight", head: "output.weight",
		"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
		"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
		"self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
		"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
	}
	if n, ok := names[hf]; ok {
		return n
	}
	rest := strings.TrimPrefix(hf, "model.layers.")
	layer, rest, _ := strings.Cut(rest, ".")
	end := strings.LastIndexByte(rest, '.')
	return fmt.Sprintf("blk.%s.%s%s", layer, names[rest[:end]], rest[end:])
}

// setTokenizer takes the vocabulary over from tokenizer.json.
func setTokenizer(t testing.TB, f *gguftest.File, files fstest.MapFS) {
	t.Helper()
	var j struct {
		Added []struct{ ID int } `json:"added_tokens"`
		Model struct {
			Vocab  map[string]int
			Merges []string
		}
	}
	if err := json.Unmarshal(files["tokenizer.json"].Data, &j); err != nil {
		t.Fatal(err)
	}
	tokens, types := make([]string, len(j.Model.Vocab)), make([]int32, len(j.Model.Vocab))
	for token, id := range j.Model.Vocab {
		tokens[id], types[id] = token, tokenNormal
	}
	for _, a := range j.Added {
		types[a.ID] = tokenControl
	}
	f.Set("tokenizer.ggml.model", "gpt2")
	f.Set("tokenizer.ggml.pre", "smollm")
	f.Set("tokenizer.ggml.tokens", tokens)
	f.Set("tokenizer.ggml.token_type", types)
	f.Set("tokenizer.ggml.merges", j.Model.Merges)
	f.Set("tokenizer.ggml.bos_token_id", uint32(1))
	f.Set("tokenizer.ggml.eos_token_id", uint32(2))
	f.Set("tokenizer.ggml.unknown_token_id", uint32(0))
	f.Set("tokenizer.ggml.padding_token_id", uint32(2))
	f.Set("tokenizer.chat_template", "{{ messages }}")
}

// tiny is a tiny model's folder and the same as a GGUF file.
func tiny(t testing.TB, o testmodel.TinyOptions) (fstest.MapFS, *gguftest.File) {
	t.Helper()
	files := testmodel.TinyFS(o)
	return files, ggufOf(t, files, nil)
}

// openBytes opens a GGUF file that lies in memory.
func openBytes(data []byte) (*Checkpoint, error) {
	return OpenFS(fstest.MapFS{"model.gguf": {Data: data}}, nil)
}

func mustOpen(t testing.TB, data []byte) *Checkpoint {
	t.Helper()
	c, err := openBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// floats returns the weights of a tensor.
func floats(x Tensor) []float32 {
	rows, cols := rowsCols(x.Shape)
	all := make([]float32, rows*cols)
	read := rowReader(&x)
	for r := range rows {
		read(r, all[r*cols:(r+1)*cols])
	}
	return all
}

func sameBits(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}
