package llama

import (
	"errors"
	"fmt"

	"github.com/leveret-os/leveret/pkg/checkpoint"
)

// ErrWeights is the cause of errors about a checkpoint's tensors: one that is
// missing, or whose shape or type is not what the configuration says.
var ErrWeights = errors.New("llama: weights")

// weights are a model's tensors, in place.
type weights struct {
	embed  matrix // vocab×hidden
	layers []layer
	norm   []float32 // hidden
	head   matrix    // vocab×hidden; the embedding, if tied
}

// blocked reports whether a matrix is multiplied in a block format.
func (w *weights) blocked() bool {
	if w.head.block != 0 {
		return true
	}
	for i := range w.layers {
		for _, m := range w.layers[i].matrices() {
			if m.block != 0 {
				return true
			}
		}
	}
	return false
}

// A layer is one transformer block. Biases and head norms are nil where the
// model has none.
type layer struct {
	inputNorm, postNorm []float32 // hidden
	q, k, v, o          matrix
	gate, up, down      matrix
	qBias, kBias, vBias []float32
	oBias               []float32
	gateBias, upBias    []float32
	downBias            []float32
	qNorm, kNorm        []float32 // head_dim
}

func (y *layer) matrices() [7]*matrix {
	return [...]*matrix{&y.q, &y.k, &y.v, &y.o, &y.gate, &y.up, &y.down}
}

// loadWeights finds every tensor that the configuration asks for.
func loadWeights(c *Config, ck *checkpoint.Checkpoint) (*weights, error) {
	l := loader{ck: ck}
	w := &weights{layers: make([]layer, c.NumHiddenLayers)}
	w.embed = l.matrix("model.embed_tokens.weight", c.VocabSize, c.HiddenSize)
	w.norm = l.vector("model.norm.weight", c.HiddenSize)
	w.head = w.embed
	if !c.TieWordEmbeddings {
		w.head = l.matrix("lm_head.weight", c.VocabSize, c.HiddenSize)
	}
	qDim, kvDim := c.NumAttentionHeads*c.HeadDim, c.NumKeyValueHeads*c.HeadDim
	for i := range w.layers {
		if l.err != nil {
			break
		}
		p := fmt.Sprintf("model.layers.%d.", i)
		linear := func(name string, rows, cols int, bias bool) (matrix, []float32) {
			m := l.matrix(p+name+".weight", rows, cols)
			if !bias {
				return m, nil
			}
			return m, l.vector(p+name+".bias", rows)
		}
		y := &w.layers[i]
		y.inputNorm = l.vector(p+"input_layernorm.weight", c.HiddenSize)
		y.postNorm = l.vector(p+"post_attention_layernorm.weight", c.HiddenSize)
		y.q, y.qBias = linear("self_attn.q_proj", qDim, c.HiddenSize, c.AttentionBias)
		y.k, y.kBias = linear("self_attn.k_proj", kvDim, c.HiddenSize, c.AttentionBias)
		y.v, y.vBias = linear("self_attn.v_proj", kvDim, c.HiddenSize, c.AttentionBias)
		y.o, y.oBias = linear("self_attn.o_proj", c.HiddenSize, qDim, c.OBias)
		y.gate, y.gateBias = linear("mlp.gate_proj", c.IntermediateSize, c.HiddenSize, c.MLPBias)
		y.up, y.upBias = linear("mlp.up_proj", c.IntermediateSize, c.HiddenSize, c.MLPBias)
		y.down, y.downBias = linear("mlp.down_proj", c.HiddenSize, c.IntermediateSize, c.MLPBias)
		if c.QKNorm {
			y.qNorm = l.vector(p+"self_attn.q_norm.weight", c.HeadDim)
			y.kNorm = l.vector(p+"self_attn.k_norm.weight", c.HeadDim)
		}
	}
	if l.err != nil {
		return nil, l.err
	}
	return w, nil
}

// loader reads tensors until the first error.
type loader struct {
	ck  *checkpoint.Checkpoint
	err error
}

func (l *loader) tensor(name string) (t checkpoint.Tensor) {
	if l.err == nil {
		if t, l.err = l.ck.Tensor(name); l.err != nil {
			l.err = fmt.Errorf("%w: %w", ErrWeights, l.err)
		}
	}
	return t
}

func (l *loader) matrix(name string, rows, cols int) (m matrix) {
	if t := l.tensor(name); l.err == nil {
		m, l.err = newMatrix(t, rows, cols)
	}
	return m
}

func (l *loader) vector(name string, n int) (v []float32) {
	if t := l.tensor(name); l.err == nil {
		v, l.err = newVector(t, n)
	}
	return v
}
