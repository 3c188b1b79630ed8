package llama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

// realConfigs are the configurations of published models, without the keys that
// ParseConfig ignores, and what they must mean.
var realConfigs = []struct {
	name, config, generation string
	want                     Config
	context                  int
}{
	{
		name: "SmolLM2-135M-Instruct",
		config: `{"architectures":["LlamaForCausalLM"],"attention_bias":false,"bos_token_id":1,"eos_token_id":2,"hidden_act":"silu",
			"hidden_size":576,"intermediate_size":1536,"is_llama_config":true,"max_position_embeddings":8192,"mlp_bias":false,"model_type":"llama",
			"num_attention_heads":9,"num_hidden_layers":30,"num_key_value_heads":3,"pad_token_id":2,"pretraining_tp":1,"rms_norm_eps":1e-05,
			"rope_interleaved":false,"rope_scaling":null,"rope_theta":100000,"tie_word_embeddings":true,"torch_dtype":"bfloat16","vocab_size":49152}`,
		generation: `{"_from_model_config":true,"bos_token_id":1,"eos_token_id":2,"pad_token_id":2}`,
		want: Config{ModelType: "llama", Architecture: "LlamaForCausalLM", DType: "bfloat16", HiddenSize: 576, IntermediateSize: 1536,
			NumHiddenLayers: 30, NumAttentionHeads: 9, NumKeyValueHeads: 3, HeadDim: 64, VocabSize: 49152, MaxPositionEmbeddings: 8192,
			RMSNormEps: 1e-5, RopeTheta: 1e5, TieWordEmbeddings: true, BOSTokenID: ptr(1), EOSTokenIDs: []int{2}, PadTokenID: ptr(2)},
		context: 8192,
	},
	{
		name: "Llama-3.2-1B-Instruct",
		config: `{"architectures":["LlamaForCausalLM"],"attention_bias":false,"bos_token_id":128000,"eos_token_id":[128001,128008,128009],
			"head_dim":64,"hidden_act":"silu","hidden_size":2048,"intermediate_size":8192,"max_position_embeddings":131072,"mlp_bias":false,
			"model_type":"llama","num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"rms_norm_eps":1e-05,
			"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,"original_max_position_embeddings":8192,"rope_type":"llama3"},
			"rope_theta":500000.0,"tie_word_embeddings":true,"torch_dtype":"bfloat16","vocab_size":128256}`,
		generation: `{"bos_token_id":128000,"do_sample":true,"eos_token_id":[128001,128008,128009],"temperature":0.6,"top_p":0.9}`,
		want: Config{ModelType: "llama", Architecture: "LlamaForCausalLM", DType: "bfloat16", HiddenSize: 2048, IntermediateSize: 8192,
			NumHiddenLayers: 16, NumAttentionHeads: 32, NumKeyValueHeads: 8, HeadDim: 64, VocabSize: 128256, MaxPositionEmbeddings: 131072,
			RMSNormEps: 1e-5, RopeTheta: 5e5, RopeScaling: &RopeScaling{Type: RopeLlama3, Factor: 32, OriginalMaxPositionEmbeddings: 8192, LowFreqFactor: 1, HighFreqFactor: 4},
			TieWordEmbeddings: true, BOSTokenID: ptr(128000), EOSTokenIDs: []int{128001, 128008, 128009},
			Generation: GenerationConfig{DoSample: true, Temperature: ptr[float32](0.6), TopP: ptr[float32](0.9)}},
		context: 131072,
	},
	{
		name: "Meta-Llama-3-8B-Instruct: eos in two files",
		config: `{"architectures":["LlamaForCausalLM"],"bos_token_id":128000,"eos_token_id":128009,"hidden_act":"silu","hidden_size":4096,
			"intermediate_size":14336,"max_position_embeddings":8192,"model_type":"llama","num_attention_heads":32,"num_hidden_layers":32,
			"num_key_value_heads":8,"rms_norm_eps":1e-05,"rope_scaling":null,"rope_theta":500000.0,"tie_word_embeddings":false,"vocab_size":128256}`,
		generation: `{"bos_token_id":128000,"eos_token_id":[128009,128001],"do_sample":true,"temperature":0.6,"max_length":4096,"top_p":0.9}`,
		want: Config{ModelType: "llama", Architecture: "LlamaForCausalLM", HiddenSize: 4096, IntermediateSize: 14336,
			NumHiddenLayers: 32, NumAttentionHeads: 32, NumKeyValueHeads: 8, HeadDim: 128, VocabSize: 128256, MaxPositionEmbeddings: 8192,
			RMSNormEps: 1e-5, RopeTheta: 5e5, BOSTokenID: ptr(128000), EOSTokenIDs: []int{128001, 128009},
			Generation: GenerationConfig{DoSample: true, Temperature: ptr[float32](0.6), TopP: ptr[float32](0.9)}},
		context: 8192,
	},
	{
		name: "Llama-2-7b: no num_key_value_heads, no rope_theta",
		config: `{"architectures":["LlamaForCausalLM"],"bos_token_id":1,"eos_token_id":2,"hidden_act":"silu","hidden_size":4096,"intermediate_size":11008,
			"max_position_embeddings":4096,"model_type":"llama","num_attention_heads":32,"num_hidden_layers":32,"rms_norm_eps":1e-05,"rope_scaling":null,"vocab_size":32000}`,
		want: Config{ModelType: "llama", Architecture: "LlamaForCausalLM", HiddenSize: 4096, IntermediateSize: 11008,
			NumHiddenLayers: 32, NumAttentionHeads: 32, NumKeyValueHeads: 32, HeadDim: 128, VocabSize: 32000, MaxPositionEmbeddings: 4096,
			RMSNormEps: 1e-5, RopeTheta: 1e4, BOSTokenID: ptr(1), EOSTokenIDs: []int{2}},
		context: 4096,
	},
	{
		name: "Mistral-7B-v0.1: a sliding window limits the context",
		config: `{"architectures":["MistralForCausalLM"],"bos_token_id":1,"eos_token_id":2,"hidden_act":"silu","hidden_size":4096,"intermediate_size":14336,
			"max_position_embeddings":32768,"model_type":"mistral","num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,
			"rms_norm_eps":1e-05,"rope_theta":10000.0,"sliding_window":4096,"tie_word_embeddings":false,"torch_dtype":"bfloat16","vocab_size":32000}`,
		want: Config{ModelType: "mistral", Architecture: "MistralForCausalLM", DType: "bfloat16", HiddenSize: 4096, IntermediateSize: 14336,
			NumHiddenLayers: 32, NumAttentionHeads: 32, NumKeyValueHeads: 8, HeadDim: 128, VocabSize: 32000, MaxPositionEmbeddings: 32768,
			RMSNormEps: 1e-5, RopeTheta: 1e4, SlidingWindow: 4096, BOSTokenID: ptr(1), EOSTokenIDs: []int{2}},
		context: 4096,
	},
	{
		name: "Mistral-Nemo: explicit head_dim, window null",
		config: `{"architectures":["MistralForCausalLM"],"bos_token_id":1,"eos_token_id":2,"head_dim":128,"hidden_act":"silu","hidden_size":5120,
			"intermediate_size":14336,"max_position_embeddings":131072,"model_type":"mistral","num_attention_heads":32,"num_hidden_layers":40,
			"num_key_value_heads":8,"rms_norm_eps":1e-05,"rope_theta":1000000.0,"sliding_window":null,"tie_word_embeddings":false,"vocab_size":131072}`,
		want: Config{ModelType: "mistral", Architecture: "MistralForCausalLM", HiddenSize: 5120, IntermediateSize: 14336,
			NumHiddenLayers: 40, NumAttentionHeads: 32, NumKeyValueHeads: 8, HeadDim: 128, VocabSize: 131072, MaxPositionEmbeddings: 131072,
			RMSNormEps: 1e-5, RopeTheta: 1e6, BOSTokenID: ptr(1), EOSTokenIDs: []int{2}},
		context: 131072,
	},
	{
		name: "Qwen2.5-0.5B-Instruct: biases without a key, an unused window",
		config: `{"architectures":["Qwen2ForCausalLM"],"bos_token_id":151643,"eos_token_id":151645,"hidden_act":"silu","hidden_size":896,
			"intermediate_size":4864,"max_position_embeddings":32768,"max_window_layers":21,"model_type":"qwen2","num_attention_heads":14,
			"num_hidden_layers":24,"num_key_value_heads":2,"rms_norm_eps":1e-06,"rope_theta":1000000.0,"sliding_window":32768,
			"tie_word_embeddings":true,"use_sliding_window":false,"vocab_size":151936}`,
		generation: `{"bos_token_id":151643,"pad_token_id":151643,"do_sample":true,"eos_token_id":[151645,151643],"repetition_penalty":1.1,"temperature":0.7,"top_p":0.8,"top_k":20}`,
		want: Config{ModelType: "qwen2", Architecture: "Qwen2ForCausalLM", HiddenSize: 896, IntermediateSize: 4864,
			NumHiddenLayers: 24, NumAttentionHeads: 14, NumKeyValueHeads: 2, HeadDim: 64, VocabSize: 151936, MaxPositionEmbeddings: 32768,
			RMSNormEps: 1e-6, RopeTheta: 1e6, TieWordEmbeddings: true, AttentionBias: true,
			BOSTokenID: ptr(151643), EOSTokenIDs: []int{151643, 151645}, PadTokenID: ptr(151643),
			Generation: GenerationConfig{DoSample: true, Temperature: ptr[float32](0.7), TopP: ptr[float32](0.8), TopK: ptr(20), RepetitionPenalty: ptr[float32](1.1)}},
		context: 32768,
	},
	{
		name: "Qwen2.5-7B-Instruct with YaRN as its card says",
		config: `{"architectures":["Qwen2ForCausalLM"],"bos_token_id":151643,"eos_token_id":151645,"hidden_act":"silu","hidden_size":3584,
			"intermediate_size":18944,"max_position_embeddings":32768,"max_window_layers":28,"model_type":"qwen2","num_attention_heads":28,
			"num_hidden_layers":28,"num_key_value_heads":4,"rms_norm_eps":1e-06,"rope_theta":1000000.0,"sliding_window":131072,
			"tie_word_embeddings":false,"use_sliding_window":false,"vocab_size":152064,
			"rope_scaling":{"factor":4.0,"original_max_position_embeddings":32768,"type":"yarn"}}`,
		want: Config{ModelType: "qwen2", Architecture: "Qwen2ForCausalLM", HiddenSize: 3584, IntermediateSize: 18944,
			NumHiddenLayers: 28, NumAttentionHeads: 28, NumKeyValueHeads: 4, HeadDim: 128, VocabSize: 152064, MaxPositionEmbeddings: 32768,
			RMSNormEps: 1e-6, RopeTheta: 1e6, AttentionBias: true, RopeScaling: &RopeScaling{Type: RopeYarn, Factor: 4,
				OriginalMaxPositionEmbeddings: 32768, BetaFast: 32, BetaSlow: 1, AttentionFactor: 1.138629436111989},
			BOSTokenID: ptr(151643), EOSTokenIDs: []int{151645}},
		context: 131072,
	},
	{
		name: "Qwen3-4B: head norms, head_dim 128 of hidden 2560",
		config: `{"architectures":["Qwen3ForCausalLM"],"attention_bias":false,"bos_token_id":151643,"eos_token_id":151645,"head_dim":128,
			"hidden_act":"silu","hidden_size":2560,"intermediate_size":9728,"max_position_embeddings":40960,"max_window_layers":36,"model_type":"qwen3",
			"num_attention_heads":32,"num_hidden_layers":36,"num_key_value_heads":8,"rms_norm_eps":1e-06,"rope_scaling":null,"rope_theta":1000000,
			"sliding_window":null,"tie_word_embeddings":true,"use_sliding_window":false,"vocab_size":151936}`,
		generation: `{"bos_token_id":151643,"do_sample":true,"eos_token_id":[151645,151643],"pad_token_id":151643,"temperature":0.6,"top_k":20,"top_p":0.95}`,
		want: Config{ModelType: "qwen3", Architecture: "Qwen3ForCausalLM", HiddenSize: 2560, IntermediateSize: 9728,
			NumHiddenLayers: 36, NumAttentionHeads: 32, NumKeyValueHeads: 8, HeadDim: 128, VocabSize: 151936, MaxPositionEmbeddings: 40960,
			RMSNormEps: 1e-6, RopeTheta: 1e6, TieWordEmbeddings: true, QKNorm: true,
			BOSTokenID: ptr(151643), EOSTokenIDs: []int{151643, 151645}, PadTokenID: ptr(151643),
			Generation: GenerationConfig{DoSample: true, Temperature: ptr[float32](0.6), TopK: ptr(20), TopP: ptr[float32](0.95)}},
		context: 40960,
	},
	{
		name: "as transformers 5 writes it",
		config: `{"architectures":["LlamaForCausalLM"],"dtype":"float32","eos_token_id":null,"bos_token_id":null,"head_dim":null,"hidden_size":32,
			"intermediate_size":64,"max_position_embeddings":256.0,"model_type":"llama","num_attention_heads":4,"num_hidden_layers":2,
			"num_key_value_heads":null,"rope_parameters":{"rope_theta":20000.0,"rope_type":"default"},"vocab_size":100,"attention_bias":true,"mlp_bias":true}`,
		want: Config{ModelType: "llama", Architecture: "LlamaForCausalLM", DType: "float32", HiddenSize: 32, IntermediateSize: 64,
			NumHiddenLayers: 2, NumAttentionHeads: 4, NumKeyValueHeads: 4, HeadDim: 8, VocabSize: 100, MaxPositionEmbeddings: 256,
			RMSNormEps: 1e-6, RopeTheta: 20000, AttentionBias: true, OBias: true, MLPBias: true},
		context: 256,
	},
}

func TestConfigReal(t *testing.T) {
	for _, test := range realConfigs {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseConfig([]byte(test.config), []byte(test.generation))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if n := got.ContextLength(); n != test.context {
				t.Errorf("context %d, want %d", n, test.context)
			}
			if !strings.HasPrefix(got.ContextLimit(), fmt.Sprint(test.context)) {
				t.Errorf("ContextLimit() = %q, want it to begin with %d", got.ContextLimit(), test.context)
			}
		})
	}
}

// base is a small valid configuration to change keys of.
const base = `{"model_type":"llama","hidden_size":32,"intermediate_size":64,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,"max_position_embeddings":64}`

// with returns base with members added or replaced; "-" as a value removes one.
func with(t testing.TB, pairs ...string) []byte {
	t.Helper()
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(base), &members); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i]] = json.RawMessage(pairs[i+1])
		if pairs[i+1] == "-" {
			delete(members, pairs[i])
		}
	}
	data, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestConfigVariants(t *testing.T) {
	tests := []struct {
		name       string
		pairs      []string
		generation string
		ok         func(*Config) bool
	}{
		{"explicit head_dim wins", []string{"head_dim", "16"}, "", func(c *Config) bool { return c.HeadDim == 16 }},
		{"mistral without num_key_value_heads", []string{"model_type", `"mistral"`, "num_attention_heads", "16", "num_key_value_heads", "-"}, "", func(c *Config) bool { return c.NumKeyValueHeads == 8 }},
		{"mistral with null", []string{"model_type", `"mistral"`, "num_attention_heads", "16", "num_key_value_heads", "null"}, "", func(c *Config) bool { return c.NumKeyValueHeads == 16 }},
		{"mistral's default window", []string{"model_type", `"mistral"`, "max_position_embeddings", "8192"}, "", func(c *Config) bool { return c.SlidingWindow == 4096 && c.ContextLength() == 4096 }},
		{"qwen3 without head_dim", []string{"model_type", `"qwen3"`}, "", func(c *Config) bool { return c.HeadDim == 128 && c.QKNorm && !c.AttentionBias }},
		{"qwen2 ignores attention_bias false", []string{"model_type", `"qwen2"`, "attention_bias", "false"}, "", func(c *Config) bool { return c.AttentionBias && !c.OBias }},
		{"qwen2's window in use", []string{"model_type", `"qwen2"`, "use_sliding_window", "true", "sliding_window", "16", "max_window_layers", "1"}, "", func(c *Config) bool { return c.ContextLength() == 16 }},
		{"qwen2's window above the last layer", []string{"model_type", `"qwen2"`, "use_sliding_window", "true", "sliding_window", "16", "max_window_layers", "2"}, "", func(c *Config) bool { return c.SlidingWindow == 0 }},
		{"layer_types all full", []string{"model_type", `"qwen3"`, "use_sliding_window", "true", "layer_types", `["full_attention","full_attention"]`}, "", func(c *Config) bool { return c.SlidingWindow == 0 }},
		{"layer_types one sliding", []string{"model_type", `"qwen3"`, "use_sliding_window", "true", "sliding_window", "8", "layer_types", `["full_attention","sliding_attention"]`}, "", func(c *Config) bool { return c.SlidingWindow == 8 }},
		{"type from architectures", []string{"model_type", "-", "architectures", `["Qwen2ForCausalLM"]`}, "", func(c *Config) bool { return c.ModelType == "qwen2" }},
		{"eos only in generation_config", nil, `{"eos_token_id":[7,3]}`, func(c *Config) bool { return cmp.Equal(c.EOSTokenIDs, []int{3, 7}) }},
		{"eos by default", nil, "", func(c *Config) bool { return c.IsEOS(2) && !c.IsEOS(3) && *c.BOSTokenID == 1 }},
		{"eos null", []string{"eos_token_id", "null"}, "", func(c *Config) bool { return c.EOSTokenIDs == nil }},
		{"pad -1 is none", []string{"pad_token_id", "-1"}, "", func(c *Config) bool { return c.PadTokenID == nil }},
		{"linear multiplies the context", []string{"rope_scaling", `{"type":"linear","factor":2.5}`}, "", func(c *Config) bool { return c.ContextLength() == 160 && c.RopeScaling.Factor == 2.5 }},
		{"empty rope_scaling", []string{"rope_scaling", `{}`}, "", func(c *Config) bool { return c.RopeScaling == nil }},
		{"rope_theta in rope_parameters wins", []string{"rope_theta", "5", "rope_parameters", `{"rope_type":"default","rope_theta":7.5}`}, "", func(c *Config) bool { return c.RopeTheta == 7.5 }},
		{"both rope objects agree", []string{"rope_parameters", `{"rope_type":"linear","factor":2}`, "rope_scaling", `{"type":"linear","factor":2.0}`}, "", func(c *Config) bool { return c.RopeScaling.Factor == 2 }},
		{"original context of the top level", []string{"original_max_position_embeddings", "32", "rope_scaling", `{"type":"yarn","factor":2,"original_max_position_embeddings":16}`}, "", func(c *Config) bool { return c.RopeScaling.OriginalMaxPositionEmbeddings == 32 }},
		{"byte order mark", nil, "\xef\xbb\xbf{}", func(c *Config) bool { return true }},
		{"swish is silu", []string{"hidden_act", `"swish"`}, "", func(c *Config) bool { return true }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := ParseConfig(with(t, test.pairs...), []byte(test.generation))
			if err != nil {
				t.Fatal(err)
			}
			if !test.ok(c) {
				t.Errorf("got %+v", c)
			}
		})
	}
}

// TestConfigErrors: each error wraps ErrConfig and names key and value.
func TestConfigErrors(t *testing.T) {
	tests := []struct {
		config, generation string
		want               []string
	}{
		{"", "", []string{"config.json", "missing"}},
		{"null", "", []string{"null"}},
		{"[]", "", []string{"array"}},
		{"{", "", []string{"config.json", "EOF"}},
		{`{"a":1}x`, "", []string{"invalid character"}},
		{`{"hidden_size":1,"hidden_size":2}`, "", []string{"duplicate key", "hidden_size"}},
		{`{"a":[{"b":1,"c":{},"b":2}]}`, "", []string{"duplicate key", `"b"`}},
		{strings.Repeat(`[`, 20000), "", []string{"config.json"}},
		{strings.Repeat(` `, maxConfigBytes+1), "", []string{"at most"}},
		{string(with(t, "model_type", `"gpt2"`)), "", []string{"model_type", "gpt2", "llama, mistral, qwen2, qwen3"}},
		{string(with(t, "model_type", `"mixtral"`)), "", []string{"mixtral"}},
		{string(with(t, "model_type", "-")), "", []string{"model_type", "architectures"}},
		{string(with(t, "model_type", "5")), "", []string{"model_type", "string", "5"}},
		{string(with(t, "architectures", `["LlamaForSequenceClassification"]`)), "", []string{"LlamaForSequenceClassification"}},
		{string(with(t, "architectures", `[null]`)), "", []string{"architectures", "element 0"}},
		{string(with(t, "hidden_act", `"gelu"`)), "", []string{"hidden_act", "gelu"}},
		{string(with(t, "hidden_size", `"32"`)), "", []string{"hidden_size", "integer", `"32"`}},
		{string(with(t, "hidden_size", `32.5`)), "", []string{"hidden_size", "32.5"}},
		{string(with(t, "hidden_size", `0`)), "", []string{"hidden_size", "0"}},
		{string(with(t, "hidden_size", `-4`)), "", []string{"hidden_size", "-4"}},
		{string(with(t, "hidden_size", `null`)), "", []string{"hidden_size", "missing"}},
		{string(with(t, "vocab_size", "-")), "", []string{"vocab_size", "missing"}},
		{string(with(t, "vocab_size", "4611686018427387905")), "", []string{"vocab_size", "4611686018427387905"}},
		{string(with(t, "num_hidden_layers", "99999999999999999999")), "", []string{"num_hidden_layers", "integer"}},
		{string(with(t, "intermediate_size", "1e300")), "", []string{"intermediate_size"}},
		{string(with(t, "hidden_size", "33")), "", []string{"33", "multiple", "num_attention_heads"}},
		{string(with(t, "num_key_value_heads", "3")), "", []string{"num_key_value_heads", "3"}},
		{string(with(t, "head_dim", "7")), "", []string{"head_dim", "odd"}},
		{string(with(t, "head_dim", "16384", "num_attention_heads", "16384")), "", []string{"query rows"}},
		{string(with(t, "rms_norm_eps", `-1`)), "", []string{"rms_norm_eps", "-1"}},
		{string(with(t, "rms_norm_eps", `1e300`)), "", []string{"rms_norm_eps"}},
		{string(with(t, "tie_word_embeddings", `"yes"`)), "", []string{"tie_word_embeddings", "yes"}},
		{string(with(t, "partial_rotary_factor", `0.5`)), "", []string{"partial_rotary_factor", "0.5"}},
		{string(with(t, "quantization_config", `{"quant_method":"gptq"}`)), "", []string{"quantization_config", "gptq"}},
		{string(with(t, "num_local_experts", `8`)), "", []string{"num_local_experts", "8"}},
		{string(with(t, "is_encoder_decoder", `true`)), "", []string{"is_encoder_decoder"}},
		{string(with(t, "rope_theta", `"x"`)), "", []string{"rope_theta", "number"}},
		{string(with(t, "rope_theta", `1`)), "", []string{"rope_theta", "1"}},
		{string(with(t, "rope_theta", `1e400`)), "", []string{"rope_theta"}},
		{string(with(t, "rope_scaling", `[]`)), "", []string{"rope_scaling", "object"}},
		{string(with(t, "rope_scaling", `{"type":"dynamic","factor":2}`)), "", []string{"rope_scaling.type", "dynamic"}},
		{string(with(t, "rope_scaling", `{"rope_type":"longrope","factor":2}`)), "", []string{"rope_scaling.rope_type", "longrope"}},
		{string(with(t, "rope_scaling", `{"type":"linear"}`)), "", []string{"rope_scaling.factor", "missing"}},
		{string(with(t, "rope_scaling", `{"type":"linear","factor":0.5}`)), "", []string{"rope_scaling.factor", "0.5"}},
		{string(with(t, "rope_scaling", `{"type":"linear","rope_type":"yarn","factor":2}`)), "", []string{"linear", "yarn"}},
		{string(with(t, "rope_scaling", `{"type":"default","mrope_section":[1,2,3]}`)), "", []string{"rope_scaling.mrope_section"}},
		{string(with(t, "rope_scaling", `{"type":"llama3","factor":2,"low_freq_factor":1}`)), "", []string{"rope_scaling.high_freq_factor", "missing"}},
		{string(with(t, "rope_scaling", `{"type":"llama3","factor":2,"low_freq_factor":4,"high_freq_factor":4}`)), "", []string{"high_freq_factor", "4"}},
		{string(with(t, "rope_scaling", `{"type":"yarn","factor":2,"beta_fast":1,"beta_slow":2}`)), "", []string{"beta_fast"}},
		{string(with(t, "rope_scaling", `{"type":"yarn","factor":2,"attention_factor":-1}`)), "", []string{"attention_factor", "-1"}},
		{string(with(t, "rope_scaling", `{"type":"yarn","factor":2,"original_max_position_embeddings":0}`)), "", []string{"original_max_position_embeddings", "0"}},
		{string(with(t, "rope_parameters", `{"rope_type":"linear","factor":2}`, "rope_scaling", `{"type":"linear","factor":3}`)), "", []string{"rope_scaling", "rope_parameters"}},
		{string(with(t, "rope_parameters", `{"full_attention":{"rope_type":"default"}}`)), "", []string{"rope_parameters.full_attention"}},
		{string(with(t, "model_type", `"mistral"`, "sliding_window", "-5")), "", []string{"sliding_window", "-5"}},
		{string(with(t, "model_type", `"qwen2"`, "layer_types", `["full_attention","linear_attention"]`)), "", []string{"layer_types", "linear_attention"}},
		{string(with(t, "model_type", `"qwen2"`, "layer_types", `["full_attention"]`)), "", []string{"layer_types", "1", "2"}},
		{string(with(t, "model_type", `"qwen2"`, "layer_types", `["full_attention","sliding_attention"]`)), "", []string{"layer_types", "sliding_attention"}},
		{string(with(t, "eos_token_id", `100`)), "", []string{"eos_token_id", "100"}},
		{string(with(t, "eos_token_id", `"end"`)), "", []string{"eos_token_id", "end"}},
		{string(with(t, "eos_token_id", `[1,"x"]`)), "", []string{"eos_token_id", "x"}},
		{string(with(t, "bos_token_id", `[1,2]`)), "", []string{"bos_token_id"}},
		{base, `{"eos_token_id":-3}`, []string{"generation_config.json", "eos_token_id", "-3"}},
		{base, `{"temperature":-1}`, []string{"generation_config.json", "temperature", "-1"}},
		{base, `{"top_p":1.5}`, []string{"generation_config.json", "top_p", "1.5"}},
		{base, `{"top_k":-1}`, []string{"generation_config.json", "top_k", "-1"}},
		{base, `{"top_k":1,"top_k":1}`, []string{"generation_config.json", "duplicate"}},
		{base, `nonsense`, []string{"generation_config.json"}},
	}
	for _, test := range tests {
		name := test.config
		if len(name) > 300 {
			name = name[:300]
		}
		c, err := ParseConfig([]byte(test.config), []byte(test.generation))
		if !errors.Is(err, ErrConfig) {
			t.Errorf("%s %s: got %+v and error %v, want ErrConfig", name, test.generation, c, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: error %q does not name %q", name, test.generation, err, want)
			}
		}
		if len(err.Error()) > 600 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, c := range realConfigs {
		f.Add([]byte(c.config), []byte(c.generation))
	}
	f.Add([]byte(base), []byte(`{"eos_token_id":[1,2],"top_k":3.0}`))
	f.Fuzz(func(t *testing.T, config, generation []byte) {
		c, err := ParseConfig(config, generation)
		if err != nil {
			if !errors.Is(err, ErrConfig) {
				t.Fatalf("error %v does not wrap ErrConfig", err)
			}
			return
		}
		if c.HiddenSize < 1 || c.NumAttentionHeads%c.NumKeyValueHeads != 0 || c.HeadDim%2 != 0 || c.ContextLength() < 1 || c.ContextLength() > maxPositions {
			t.Fatalf("accepted %+v", c)
		}
		for _, id := range c.EOSTokenIDs {
			if id < 0 || id >= c.VocabSize {
				t.Fatalf("EOS %d outside %d", id, c.VocabSize)
			}
		}
		if !json.Valid(bytes.TrimPrefix(config, []byte("\xef\xbb\xbf"))) {
			t.Fatal("accepted what is no JSON")
		}
		if _, err := newRopeTable(c); err != nil && !errors.Is(err, ErrConfig) {
			t.Fatal(err)
		}
	})
}
