package checkpoint

import (
	"fmt"

	"github.com/leveret-os/leveret/internal/gguf"
)

// The names of the embedding and of the head in Hugging Face's checkpoints.
const (
	embeddings = "model.embed_tokens.weight"
	head       = "lm_head.weight"
	finalNorm  = "model.norm.weight"
)

// ropeFactors is the tensor by which llama.cpp's converter writes Llama 3's
// RoPE scaling; it becomes a part of the configuration.
const ropeFactors = "rope_freqs.weight"

// place is a tensor that a model has: its names and its shape.
type place struct {
	gguf, hf string
	shape    []int
	// heads is the number of heads whose rows llama.cpp's converter has
	// permuted, 0 for none.
	heads int
}

// places lists every tensor that the model has.
func (m *ggufModel) places() []place {
	list := []place{
		{gguf: "token_embd.weight", hf: embeddings, shape: []int{m.vocab, m.hidden}},
		{gguf: "output_norm.weight", hf: finalNorm, shape: []int{m.hidden}},
	}
	if !m.tied {
		list = append(list, place{gguf: "output.weight", hf: head, shape: []int{m.vocab, m.hidden}})
	}
	q, kv := m.heads*m.headDim, m.kvHeads*m.headDim
	for layer := range m.layers {
		add := func(from, to string, heads int, shape ...int) {
			if !m.permuted {
				heads = 0
			}
			list = append(list, place{fmt.Sprintf("blk.%d.%s", layer, from), fmt.Sprintf("model.layers.%d.%s", layer, to), shape, heads})
		}
		add("attn_norm.weight", "input_layernorm.weight", 0, m.hidden)
		add("attn_q.weight", "self_attn.q_proj.weight", m.heads, q, m.hidden)
		add("attn_k.weight", "self_attn.k_proj.weight", m.kvHeads, kv, m.hidden)
		add("attn_v.weight", "self_attn.v_proj.weight", 0, kv, m.hidden)
		add("attn_output.weight", "self_attn.o_proj.weight", 0, m.hidden, q)
		if m.attentionBias || m.biases {
			add("attn_q.bias", "self_attn.q_proj.bias", m.heads, q)
			add("attn_k.bias", "self_attn.k_proj.bias", m.kvHeads, kv)
			add("attn_v.bias", "self_attn.v_proj.bias", 0, kv)
		}
		if m.attentionBias && !m.biases {
			add("attn_output.bias", "self_attn.o_proj.bias", 0, m.hidden)
		}
		if m.headNorms {
			add("attn_q_norm.weight", "self_attn.q_norm.weight", 0, m.headDim)
			add("attn_k_norm.weight", "self_attn.k_norm.weight", 0, m.headDim)
		}
		add("ffn_norm.weight", "post_attention_layernorm.weight", 0, m.hidden)
		add("ffn_gate.weight", "mlp.gate_proj.weight", 0, m.ffn, m.hidden)
		add("ffn_up.weight", "mlp.up_proj.weight", 0, m.ffn, m.hidden)
		add("ffn_down.weight", "mlp.down_proj.weight", 0, m.hidden, m.ffn)
		if m.mlpBias {
			add("ffn_gate.bias", "mlp.gate_proj.bias", 0, m.ffn)
			add("ffn_up.bias", "mlp.up_proj.bias", 0, m.ffn)
			add("ffn_down.bias", "mlp.down_proj.bias", 0, m.hidden)
		}
	}
	return list
}

// checkTensors checks that the file has every tensor of the model, each in its
// shape, and no other, since one that is left out would change the answers.
func (m *ggufModel) checkTensors(places []place) error {
	known := make(map[string]bool, len(places))
	for _, p := range places {
		known[p.gguf] = true
		t, ok := m.file.Tensor(p.gguf)
		if !ok {
			return fmt.Errorf("checkpoint: GGUF tensor %q (%s): %w", p.gguf, p.hf, ErrNotFound)
		}
		if !sameShape(t.Dims, p.shape) {
			return fmt.Errorf("checkpoint: GGUF tensor %q (%s): %w: dimensions %d in the file's order, want the shape %d, reversed",
				p.gguf, p.hf, ErrShape, t.Dims, p.shape)
		}
	}
	for _, t := range m.file.Tensors() {
		if !known[t.Name] && t.Name != ropeFactors {
			return fmt.Errorf("checkpoint: GGUF tensor %q of type %s: %w: %s models have no such tensor here", t.Name, gguf.TypeName(t.Type), ErrUnsupported, m.name)
		}
	}
	return nil
}

// sameShape compares a shape with dimensions in the reverse order; dimensions
// of 1 at the end do not count.
func sameShape(dims []uint64, shape []int) bool {
	for len(dims) > len(shape) && dims[len(dims)-1] == 1 {
		dims = dims[:len(dims)-1]
	}
	if len(dims) != len(shape) {
		return false
	}
	for i, d := range dims {
		if d != uint64(shape[len(shape)-1-i]) {
			return false
		}
	}
	return true
}
