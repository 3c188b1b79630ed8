package checkpoint

import (
	"errors"
	"fmt"

	"github.com/leveret-os/leveret/internal/gguf"
)

// The architectures that are read, by their names in GGUF files. Mistral's
// models are "llama" there. Which of them have their Q and K rows permuted is
// a matter of llama.cpp's converter (conversion/llama.py and qwen.py of
// github.com/ggml-org/llama.cpp), which permutes where it derives from its
// class LlamaModel.
var architectures = map[string]architecture{
	"llama": {class: "LlamaForCausalLM", modelType: "llama", permuted: true},
	"qwen2": {class: "Qwen2ForCausalLM", modelType: "qwen2", biases: true},
	"qwen3": {class: "Qwen3ForCausalLM", modelType: "qwen3", headNorms: true},
}

type architecture struct {
	class, modelType string
	permuted         bool
	biases           bool // q, k and v always have biases
	headNorms        bool // q and k are normalised per head
}

// Bounds of sizes: far above any model, and no product of two overflows.
const (
	maxSize   = 1 << 28
	maxLayers = 1 << 12
)

// ggufModel is the model that a GGUF file describes.
type ggufModel struct {
	file *gguf.File
	architecture
	name string // of the architecture in the file

	hidden, ffn, layers, heads, kvHeads, headDim, vocab, context int
	window                                                       int // 0: none
	eps, theta                                                   float64
	tied, attentionBias, mlpBias                                 bool
}

// readModel reads the sizes of the model and checks them against each other.
func readModel(f *gguf.File) (*ggufModel, error) {
	m := &ggufModel{file: f}
	if err := m.readArchitecture(); err != nil {
		return nil, err
	}
	embedding, ok := f.Tensor("token_embd.weight")
	if !ok {
		return nil, fmt.Errorf("checkpoint: GGUF tensor %q (%s): %w", "token_embd.weight", embeddings, ErrNotFound)
	}
	_, untied := f.Tensor("output.weight")
	m.tied = !untied
	_, m.attentionBias = f.Tensor("blk.0.attn_q.bias")
	_, m.mlpBias = f.Tensor("blk.0.ffn_gate.bias")

	r := &metadataReader{file: f, prefix: m.name + "."}
	m.hidden = r.size("embedding_length", maxSize)
	m.ffn = r.size("feed_forward_length", maxSize)
	m.layers = r.size("block_count", maxLayers)
	m.heads = r.size("attention.head_count", maxSize)
	m.context = r.size("context_length", 1<<30)
	m.kvHeads = r.sizeOr("attention.head_count_kv", m.heads)
	m.window = r.sizeOr("attention.sliding_window", 0)
	m.eps = r.float("attention.layer_norm_rms_epsilon", nil)
	ten := 10000.0
	m.theta = r.float("rope.freq_base", &ten)
	if r.err != nil {
		return nil, r.err
	}

	m.headDim = r.sizeOr("attention.key_length", m.hidden/m.heads)
	if v := r.sizeOr("attention.value_length", m.headDim); v != m.headDim {
		r.fail("attention.value_length", ErrUnsupported, "%d, while keys have %d", v, m.headDim)
	}
	if rot := r.sizeOr("rope.dimension_count", m.headDim); rot != m.headDim {
		r.fail("rope.dimension_count", ErrUnsupported, "%d of the %d elements of a head are rotated, want all", rot, m.headDim)
	}
	if m.permuted && m.headDim%2 != 0 {
		r.fail("attention.key_length", ErrMetadata, "head size %d, want an even number", m.headDim)
	}
	for _, key := range []string{"expert_count", "expert_used_count"} {
		if n := r.sizeOr(key, 0); n != 0 {
			r.fail(key, ErrUnsupported, "%d: mixtures of experts are not", n)
		}
	}
	if len(embedding.Dims) == 2 && embedding.Dims[1] <= maxSize {
		m.vocab = int(embedding.Dims[1])
	}
	if v := r.sizeOr("vocab_size", m.vocab); v != m.vocab {
		r.fail("vocab_size", ErrMetadata, "%d, while tensor %q (%s) has dimensions %d", v, embedding.Name, embeddings, embedding.Dims)
	}
	return m, r.err
}

func (m *ggufModel) readArchitecture() error {
	f := m.file
	name, err := f.Text("general.architecture")
	if err != nil {
		return fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
	}
	a, ok := architectures[name]
	if !ok {
		return fmt.Errorf("checkpoint: GGUF key %q: %w: architecture %q, want llama, qwen2 or qwen3", "general.architecture", ErrUnsupported, name)
	}
	m.name, m.architecture = name, a
	if kind, err := f.Text("general.type"); err == nil && kind != "model" {
		return fmt.Errorf("checkpoint: GGUF key %q: %w: %q, want a model", "general.type", ErrUnsupported, kind)
	}
	if n, err := f.Uint("split.count"); err == nil && n > 1 {
		return fmt.Errorf("checkpoint: GGUF key %q: %w: one of %d files, want the model in one (llama-gguf-split --merge makes it)", "split.count", ErrUnsupported, n)
	}
	return nil
}

// metadataReader reads numbers from the metadata and keeps the first error.
type metadataReader struct {
	file   *gguf.File
	prefix string
	err    error
}

func (r *metadataReader) fail(key string, cause error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("checkpoint: GGUF key %q: %w: %s", r.prefix+key, cause, fmt.Sprintf(format, args...))
	}
}

// size reads a number from 1 to limit.
func (r *metadataReader) size(key string, limit uint64) int {
	n, ok := r.uint(key)
	if !ok {
		r.fail(key, ErrMetadata, "it is missing")
		return 1
	}
	if n < 1 || n > limit {
		r.fail(key, ErrMetadata, "%d, want 1 to %d", n, limit)
		return 1
	}
	return int(n)
}

// sizeOr reads a number that may be missing.
func (r *metadataReader) sizeOr(key string, missing int) int {
	n, ok := r.uint(key)
	if !ok {
		return missing
	}
	if n > maxSize {
		r.fail(key, ErrMetadata, "%d, want at most %d", n, maxSize)
		return missing
	}
	return int(n)
}

// uint reads an integer, or an array of them that are all the same: some
// converters write one number a layer.
func (r *metadataReader) uint(key string) (n uint64, ok bool) {
	v, ok := r.file.Value(r.prefix + key)
	if !ok {
		return 0, false
	}
	n, err := v.Uint()
	if err == nil {
		return n, true
	}
	list, arrayErr := v.Ints()
	if arrayErr != nil || len(list) == 0 {
		r.fail(key, ErrMetadata, "%v", err)
		return 0, true
	}
	for _, e := range list {
		if e != list[0] || e < 0 {
			r.fail(key, ErrUnsupported, "it differs from layer to layer")
			return 0, true
		}
	}
	return uint64(list[0]), true
}

// float reads a finite number; a missing one is an error where there is no
// other to take.
func (r *metadataReader) float(key string, missing *float64) float64 {
	f, err := r.file.Float(r.prefix + key)
	switch {
	case errors.Is(err, gguf.ErrNotFound) && missing != nil:
		return *missing
	case err != nil:
		r.fail(key, ErrMetadata, "%v", err)
	case f-f != 0:
		r.fail(key, ErrMetadata, "%v, want a finite number", f)
	}
	return f
}
