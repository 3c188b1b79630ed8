package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/gguf"
	"github.com/leveret-os/leveret/internal/gguf/gguftest"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// A folder written as GGUF and read again is the same tensors, bit for bit, and
// the same configuration.
func TestGGUFEqualsFolder(t *testing.T) {
	for name, o := range map[string]testmodel.TinyOptions{
		"llama":           {},
		"llama, untied":   {Untied: true, DType: "F16", ExtraVocab: 3},
		"llama, biases":   {Bias: true, DType: "BF16"},
		"llama, head_dim": {Hidden: 60, Heads: 4, KVHeads: 4, HeadDim: 24, Intermediate: 50},
		"qwen2":           {ModelType: "qwen2", Bias: true, DType: "BF16"},
		"qwen3":           {ModelType: "qwen3", HeadNorm: true, HeadDim: 32, Untied: true, DType: "F16"},
	} {
		t.Run(name, func(t *testing.T) {
			files, file := tiny(t, o)
			want, err := OpenFS(files, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			got := mustOpen(t, file.Bytes())
			a, b := slices.Sorted(slices.Values(want.Names())), slices.Sorted(slices.Values(got.Names()))
			if d := cmp.Diff(a, b); d != "" {
				t.Fatal(d)
			}
			for _, name := range a {
				w, err := want.Tensor(name)
				if err != nil {
					t.Fatal(err)
				}
				g, err := got.Tensor(name)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(w, g); d != "" {
					t.Errorf("%s: %s", name, d)
				}
			}
			but := []string{"attention_dropout", "head_dim", "pad_token_id", "rope_scaling", "use_cache", "attention_bias", "mlp_bias"}
			if o.ModelType != "" { // <|endoftext|> ends Qwen's texts too
				but = append(but, "eos_token_id")
			}
			sameJSON(t, want.Config(), got.Config(), but...)
			sameJSON(t, want.GenerationConfig(), got.GenerationConfig(), but...)
		})
	}
}

// sameJSON compares two objects but for some keys.
func sameJSON(t *testing.T, want, got []byte, but ...string) {
	t.Helper()
	var w, g map[string]any
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	for _, k := range but {
		delete(w, k)
		delete(g, k)
	}
	if d := cmp.Diff(w, g); d != "" {
		t.Error(d)
	}
}

// Quantised types are repacked or converted without change of any value, the
// queries and keys in Hugging Face's order of rows.
func TestGGUFQuantised(t *testing.T) {
	for _, c := range []struct {
		kind ggml.Type
		to   Type
		wide int // columns are a multiple of this
	}{{ggml.Q8_0, Q8B32, 64}, {ggml.Q4_0, Q4B32, 64}, {ggml.Q4_1, Q4B32M, 64}, {ggml.Q5_0, F32, 64}, {ggml.Q4_K, F32, 256}, {ggml.Q6_K, F32, 256}} {
		t.Run(c.kind.String(), func(t *testing.T) {
			files := testmodel.TinyFS(testmodel.TinyOptions{Hidden: c.wide, Intermediate: c.wide, Layers: 1, Untied: true})
			file := ggufOf(t, files, func(string) ggml.Type { return c.kind })
			ck := mustOpen(t, file.Bytes())
			for _, name := range ck.Names() {
				x, err := ck.Tensor(name)
				if err != nil {
					t.Fatal(err)
				}
				if len(x.Shape) == 1 {
					continue
				}
				if x.Type != c.to {
					t.Errorf("%s is %v, want %v", name, x.Type, c.to)
				}
				want := dequantised(t, file, name)
				if heads := map[bool]int{strings.Contains(name, "q_proj"): 4, strings.Contains(name, "k_proj"): 2}[true]; heads > 0 {
					want = unpermuted(want, heads, x.Shape[0]/heads, x.Shape[1])
				}
				if !sameBits(floats(x), want) {
					t.Errorf("%s: the weights differ", name)
				}
				again, err := ck.Tensor(name)
				if err != nil || &again.Data[0] != &x.Data[0] {
					t.Errorf("%s: a second call gives other memory", name)
				}
			}
			info := ck.Info()
			if info.Format != c.to.String() || info.Stored != c.kind.String() || info.Kind != "gguf" {
				t.Errorf("info %+v", info)
			}
			if n := info.Repacked.Tensors + info.Converted.Tensors; n != 9 {
				t.Errorf("%d tensors are not in place, want 9: %+v", n, info)
			}
		})
	}
}

func dequantised(t *testing.T, file *gguftest.File, name string) []float32 {
	t.Helper()
	for _, x := range file.Tensors {
		if x.Name == ggufName(name) {
			dst := make([]float32, x.Dims[0]*x.Dims[1])
			if err := ggml.Dequantize(x.Type, dst, x.Data); err != nil {
				t.Fatal(err)
			}
			return dst
		}
	}
	t.Fatalf("no tensor %s", name)
	return nil
}

// unpermuted undoes permuted: reshape to [heads, n/2, 2], swap the last two.
func unpermuted(x []float32, heads, n, cols int) []float32 {
	out := make([]float32, 0, len(x))
	for h := range heads {
		for half := range 2 {
			for i := range n / 2 {
				r := h*n + 2*i + half
				out = append(out, x[r*cols:(r+1)*cols]...)
			}
		}
	}
	return out
}

// What needs no other order of rows stays in the mapping.
func TestGGUFStaysInPlace(t *testing.T) {
	_, file := tiny(t, testmodel.TinyOptions{DType: "F16"})
	c := mustOpen(t, file.Bytes())
	s := c.source.(*ggufSource)
	for _, name := range c.Names() {
		x, err := c.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		e := s.entries[s.byName[name]]
		inFile := &x.Data[0] == &s.data[e.at]
		if moves := strings.Contains(name, "q_proj") || strings.Contains(name, "k_proj"); inFile == moves {
			t.Errorf("%s: in the file's memory: %v", name, inFile)
		}
	}
	if i := c.Info(); i.Converted.Tensors != 4 || i.Repacked.Tensors != 0 || i.Format != "f16" || i.Bytes != int64(len(file.Bytes())) {
		t.Errorf("info %+v", i)
	}
}

// Files are mapped, read or copied to huge pages, with the same result.
func TestGGUFMemory(t *testing.T) {
	dir := t.TempDir()
	files := testmodel.TinyFS(testmodel.TinyOptions{})
	path := write(t, dir, "a.gguf", ggufOf(t, files, func(string) ggml.Type { return ggml.Q8_0 }).Bytes())
	var sums [][32]byte
	for _, m := range []safetensors.Memory{safetensors.Mapped, safetensors.Private, safetensors.Huge} {
		for _, p := range []string{path, dir} {
			c, err := Open(p, &Options{Memory: m})
			if err != nil {
				t.Fatal(err)
			}
			if m == safetensors.Mapped {
				m = mapped()
			}
			if c.Info().Memory != m {
				t.Errorf("memory is %v, want %v", c.Info().Memory, m)
			}
			x, err := c.Tensor(embeddings)
			if err != nil || x.Type != Q8B32 {
				t.Fatal(x.Type, err)
			}
			norm, err := c.Tensor(finalNorm)
			if err != nil || len(norm.Data) != 4*64 {
				t.Fatal(len(norm.Data), err)
			}
			pinned, err := c.Pin()
			if err != nil || pinned.Wanted == 0 || pinned.Bytes > pinned.Wanted || (pinned.Bytes < pinned.Wanted) != (pinned.Reason != nil) {
				t.Errorf("%v: pinned %+v, %v", m, pinned, err)
			}
			sum, err := c.Digest()
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, sum)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := c.Close(); !errors.Is(err, ErrClosed) {
				t.Errorf("second Close: %v", err)
			}
			if _, err := c.Tensor(embeddings); !errors.Is(err, ErrClosed) {
				t.Errorf("Tensor after Close: %v", err)
			}
		}
	}
	for _, s := range sums {
		if s != sums[0] {
			t.Error("the digests differ")
		}
	}
}

func TestGGUFConcurrent(t *testing.T) {
	files := testmodel.TinyFS(testmodel.TinyOptions{})
	c := mustOpen(t, ggufOf(t, files, func(string) ggml.Type { return ggml.Q4_1 }).Bytes())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, name := range c.Names() {
				if _, err := c.Tensor(name); err != nil {
					t.Error(err)
				}
			}
			if _, err := c.Digest(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// A model whose file breaks a rule is refused, and the error names the place.
func TestGGUFHostile(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *gguftest.File)
		want   error
		text   string
	}{
		{"no architecture", func(f *gguftest.File) { f.Pairs[0].Key = "x" }, ErrMetadata, "general.architecture"},
		{"another architecture", func(f *gguftest.File) { f.Set("general.architecture", "gemma2") }, ErrUnsupported, `"gemma2"`},
		{"architecture of another type", func(f *gguftest.File) { f.Set("general.architecture", uint32(1)) }, ErrMetadata, "uint32"},
		{"an adapter", func(f *gguftest.File) { f.Set("general.type", "adapter") }, ErrUnsupported, `"adapter"`},
		{"one of several files", func(f *gguftest.File) { f.Set("split.count", uint16(3)) }, ErrUnsupported, "one of 3 files"},
		{"mixture of experts", func(f *gguftest.File) { f.Set("llama.expert_count", uint32(8)) }, ErrUnsupported, "llama.expert_count"},
		{"no heads", func(f *gguftest.File) { f.Set("llama.attention.head_count", uint32(0)) }, ErrMetadata, "llama.attention.head_count"},
		{"many layers", func(f *gguftest.File) { f.Set("llama.block_count", uint32(1<<31)) }, ErrMetadata, "2147483648, want 1 to 4096"},
		{"more layers", func(f *gguftest.File) { f.Set("llama.block_count", uint32(3)) }, ErrNotFound, "blk.2.attn_norm.weight"},
		{"fewer layers", func(f *gguftest.File) { f.Set("llama.block_count", uint32(1)) }, ErrUnsupported, "blk.1."},
		{"huge size", func(f *gguftest.File) { f.Set("llama.embedding_length", uint64(1<<40)) }, ErrMetadata, "llama.embedding_length"},
		{"negative size", func(f *gguftest.File) { f.Set("llama.embedding_length", int32(-1)) }, ErrMetadata, "llama.embedding_length"},
		{"size as text", func(f *gguftest.File) { f.Set("llama.embedding_length", "64") }, ErrMetadata, "string"},
		{"other size", func(f *gguftest.File) { f.Set("llama.embedding_length", uint32(32)) }, ErrShape, "model.embed_tokens.weight"},
		{"other ffn", func(f *gguftest.File) { f.Set("llama.feed_forward_length", uint32(95)) }, ErrShape, `GGUF tensor "blk.0.ffn_gate.weight" (model.layers.0.mlp.gate_proj.weight)`},
		{"other vocabulary", func(f *gguftest.File) { f.Set("llama.vocab_size", uint32(5)) }, ErrMetadata, "vocab_size"},
		{"eps is NaN", func(f *gguftest.File) { f.Set("llama.attention.layer_norm_rms_epsilon", float32(math.NaN())) }, ErrMetadata, "NaN"},
		{"no eps", func(f *gguftest.File) { f.Pairs[7].Key = "x" }, ErrMetadata, "layer_norm_rms_epsilon"},
		{"values of another size", func(f *gguftest.File) { f.Set("llama.attention.value_length", uint32(8)) }, ErrUnsupported, "value_length"},
		{"partial rotation", func(f *gguftest.File) { f.Set("llama.rope.dimension_count", uint32(8)) }, ErrUnsupported, "rope.dimension_count"},
		{"heads that differ", func(f *gguftest.File) { f.Set("llama.attention.head_count_kv", []int32{2, 4}) }, ErrUnsupported, "layer to layer"},
		{"no embedding", func(f *gguftest.File) { f.Tensors[0].Name = "x" }, ErrNotFound, "token_embd.weight"},
		{"unknown tensor", func(f *gguftest.File) {
			f.Tensors = append(f.Tensors, gguftest.Tensor{Name: "blk.0.attn_sinks", Type: ggml.F32, Dims: []uint64{1}, Data: make([]byte, 4)})
		}, ErrUnsupported, `"blk.0.attn_sinks" of type F32`},
		{"bias of one layer", func(f *gguftest.File) {
			f.Tensors = append(f.Tensors, gguftest.Tensor{Name: "blk.0.attn_q.bias", Type: ggml.F32, Dims: []uint64{64}, Data: make([]byte, 256)})
		}, ErrNotFound, "blk.0.attn_k.bias"},
		{"bos out of range", func(f *gguftest.File) { f.Set("tokenizer.ggml.bos_token_id", uint32(1<<20)) }, ErrMetadata, "tokenizer.ggml.bos_token_id"},
		{"longrope", func(f *gguftest.File) { f.Set("llama.rope.scaling.type", "longrope") }, ErrUnsupported, `"longrope"`},
		{"linear without a factor", func(f *gguftest.File) { f.Set("llama.rope.scaling.type", "linear") }, ErrMetadata, "rope.scaling.factor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := tiny(t, testmodel.TinyOptions{})
			c.change(f)
			ck, err := openBytes(f.Bytes())
			if err == nil {
				ck.Close()
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "model.gguf") {
				t.Errorf("error %q does not name %q and the file", err, c.text)
			}
		})
	}
}

// One number a layer is taken where they are all the same.
func TestGGUFHeadsByLayer(t *testing.T) {
	_, f := tiny(t, testmodel.TinyOptions{})
	f.Set("llama.attention.head_count_kv", []uint32{2, 2})
	c := mustOpen(t, f.Bytes())
	if !bytes.Contains(c.Config(), []byte(`"num_key_value_heads": 2`)) {
		t.Errorf("config %s", c.Config())
	}
}

// A tensor of a type that is not read is listed, and an error where it is used.
func TestGGUFUnreadableType(t *testing.T) {
	_, f := tiny(t, testmodel.TinyOptions{Hidden: 256, Heads: 4, KVHeads: 4})
	const iq4xs = 23
	for i := range f.Tensors {
		if f.Tensors[i].Name == "blk.1.attn_v.weight" {
			f.Tensors[i].Type, f.Tensors[i].Data = iq4xs, make([]byte, 256*136)
		}
	}
	c := mustOpen(t, f.Bytes())
	const name = "model.layers.1.self_attn.v_proj.weight"
	if !slices.Contains(c.Names(), name) {
		t.Errorf("%s is not listed", name)
	}
	_, err := c.Tensor(name)
	if !errors.Is(err, ErrUnsupported) || !errors.Is(err, gguf.ErrTensorType) || !strings.Contains(err.Error(), "IQ4_XS") || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v", err)
	}
	if _, err := c.Tensor("model.layers.1.self_attn.q_proj.weight"); err != nil {
		t.Error(err)
	}
	if _, err := c.Tensor("model.layers.9.self_attn.q_proj.weight"); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent tensor: %v", err)
	}
}

// A block whose scale is no number has no place in a block format.
func TestGGUFNonFiniteScale(t *testing.T) {
	files := testmodel.TinyFS(testmodel.TinyOptions{})
	f := ggufOf(t, files, func(string) ggml.Type { return ggml.Q8_0 })
	f.Tensors[0].Data[1] = 0x7c // infinity
	f.Tensors[0].Data[0] = 0
	c := mustOpen(t, f.Bytes())
	if _, err := c.Tensor(embeddings); err == nil || !strings.Contains(err.Error(), embeddings) || !strings.Contains(err.Error(), "token_embd.weight") {
		t.Errorf("error %v, want one that names the tensor", err)
	}
}

// seed is a model of one layer and six tokens in few bytes: the fuzzer is slow
// with long inputs.
func seed(t testing.TB, o testmodel.TinyOptions) *gguftest.File {
	o.Hidden, o.Intermediate, o.Heads, o.KVHeads, o.Layers = 2, 1, 1, 1, 1
	_, f := tiny(t, o)
	tokens := []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "b", "ab"}
	f.Set(f.Pairs[0].Value.(string)+".vocab_size", uint32(len(tokens)))
	f.Set("tokenizer.ggml.tokens", tokens)
	f.Set("tokenizer.ggml.token_type", []int32{tokenControl, tokenControl, tokenControl, tokenNormal, tokenNormal, tokenNormal})
	f.Set("tokenizer.ggml.merges", []string{"a b"})
	for i := range f.Tensors {
		x := &f.Tensors[i]
		if x.Name == "token_embd.weight" || x.Name == "output.weight" {
			x.Data = x.Data[:len(x.Data)/int(x.Dims[1])*len(tokens)]
			x.Dims[1] = uint64(len(tokens))
		}
	}
	return f
}

func FuzzGGUF(f *testing.F) {
	for _, o := range []testmodel.TinyOptions{{}, {ModelType: "qwen2", Bias: true, DType: "BF16"}, {ModelType: "qwen3", HeadNorm: true, Untied: true, DType: "F16"}} {
		file := seed(f, o)
		if c, err := openBytes(file.Bytes()); err != nil {
			f.Fatal(err)
		} else if _, err := c.Tokenizer(); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
		file.Set(file.Pairs[0].Value.(string)+".rope.scaling.type", "yarn")
		file.Set(file.Pairs[0].Value.(string)+".rope.scaling.factor", float32(4))
		file.Set("tokenizer.ggml.pre", "llama-bpe")
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := OpenFS(fstest.MapFS{"model.gguf": {Data: data}}, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for _, config := range [][]byte{c.Config(), c.GenerationConfig()} {
			if !json.Valid(config) {
				t.Errorf("not JSON: %s", config)
			}
		}
		if tc := c.TokenizerConfig(); tc != nil && !json.Valid(tc) {
			t.Errorf("not JSON: %s", tc)
		}
		for _, name := range c.Names() {
			x, err := c.Tensor(name)
			if err == nil && int64(len(x.Data)) != tensorBytes(x.Type, x.Shape) {
				t.Errorf("%s: %d bytes", name, len(x.Data))
			}
		}
		_, _ = c.Tokenizer()
		_ = c.ChatTemplate()
	})
}
