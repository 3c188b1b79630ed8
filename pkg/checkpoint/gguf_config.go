package checkpoint

import (
	"encoding/json"
	"slices"
)

// float32Number writes a number that the file holds as a float32 with as few
// digits as tell it from its neighbours: 1e-05, not 9.999999747378752e-06.
type float32Number float64

func (f float32Number) MarshalJSON() ([]byte, error) {
	return json.Marshal(float32(f))
}

// config returns Hugging Face's config.json of the model; dtype is the type of
// its weights.
func (m *ggufModel) config(dtype string, tokens *ggufTokens) (object, error) {
	scaling, err := m.ropeScaling()
	if err != nil {
		return nil, err
	}
	class, modelType := m.class, m.modelType
	if m.window > 0 && modelType == "llama" {
		class, modelType = "MistralForCausalLM", "mistral"
	}
	c := object{
		{"architectures", []string{class}},
		{"model_type", modelType},
	}
	if modelType != "mistral" {
		c.set("attention_bias", m.attentionBias)
	}
	c.set("attention_dropout", json.RawMessage("0.0"))
	tokens.ids(&c)
	c = append(c, object{
		{"head_dim", m.headDim},
		{"hidden_act", "silu"},
		{"hidden_size", m.hidden},
		{"intermediate_size", m.ffn},
		{"max_position_embeddings", m.context},
	}...)
	if modelType == "llama" {
		c.set("mlp_bias", m.mlpBias)
	}
	c = append(c, object{
		{"num_attention_heads", m.heads},
		{"num_hidden_layers", m.layers},
		{"num_key_value_heads", m.kvHeads},
		{"rms_norm_eps", float32Number(m.eps)},
		{"rope_scaling", scaling},
		{"rope_theta", float32Number(m.theta)},
	}...)
	if m.window > 0 {
		c.set("sliding_window", m.window)
		if modelType != "mistral" {
			c.set("use_sliding_window", true)
			c.set("max_window_layers", 0)
		}
	}
	c = append(c, object{
		{"tie_word_embeddings", m.tied},
		{"torch_dtype", dtype},
		{"use_cache", true},
		{"vocab_size", m.vocab},
	}...)
	return c, nil
}

// ids adds the ids of the special tokens to a configuration.
func (t *ggufTokens) ids(c *object) {
	one := func(key string, id int) {
		if id < 0 {
			c.set(key, nil)
		} else {
			c.set(key, id)
		}
	}
	one("bos_token_id", t.bos)
	switch eos := t.endIDs(); len(eos) {
	case 0:
		c.set("eos_token_id", nil)
	case 1:
		c.set("eos_token_id", eos[0])
	default:
		c.set("eos_token_id", eos)
	}
	one("pad_token_id", t.pad)
}

// generationConfig returns Hugging Face's generation_config.json.
func (t *ggufTokens) generationConfig() object {
	c := object{{"_from_model_config", true}}
	t.ids(&c)
	return slices.DeleteFunc(c, func(m member) bool { return m.value == nil })
}
