package llama

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrConfig is the cause of every error of ParseConfig: a config.json or
// generation_config.json that is malformed, contradicts itself, or describes a
// model that this package does not run. The error names file, key and value.
var ErrConfig = errors.New("llama: configuration")

// Config describes a model of the Llama architecture. Its fields are those of
// Hugging Face's config.json, with the differences between model families
// resolved: code that runs a model looks at these fields, never at ModelType.
type Config struct {
	ModelType    string // "llama", "mistral", "qwen2" or "qwen3"
	Architecture string // "LlamaForCausalLM"; as stated, or that of the model type
	DType        string // torch_dtype or dtype, as stated; "" if it is not

	HiddenSize            int // width of the residual stream
	IntermediateSize      int // width of the MLP
	NumHiddenLayers       int
	NumAttentionHeads     int // query heads
	NumKeyValueHeads      int // divides NumAttentionHeads
	HeadDim               int // even; need not be HiddenSize/NumAttentionHeads
	VocabSize             int // rows of the embedding, perhaps more than the tokenizer has tokens
	MaxPositionEmbeddings int // as stated; see ContextLength

	RMSNormEps  float32
	RopeTheta   float64
	RopeScaling *RopeScaling // nil: plain RoPE

	TieWordEmbeddings bool // the head is the embedding
	AttentionBias     bool // q_proj, k_proj and v_proj have biases
	OBias             bool // o_proj has one
	MLPBias           bool // gate_proj, up_proj and down_proj have biases
	QKNorm            bool // each query and key head is normalised (q_norm, k_norm)

	// SlidingWindow is the number of positions that a layer with sliding-window
	// attention sees, itself included; 0 where no layer has it. Within a context
	// of that length such a layer computes full attention, so this package limits
	// the context (ContextLength) and treats all layers alike.
	SlidingWindow int

	BOSTokenID  *int  // nil: none
	EOSTokenIDs []int // all of them end a generation; ascending, from config.json and generation_config.json
	PadTokenID  *int  // nil: none

	// Generation holds what generation_config.json recommends.
	Generation GenerationConfig
}

// Upper bounds of sizes, far above any model that exists: products of two or
// three of them fit an int64, so later code may multiply without checks.
const (
	maxHiddenSize = 1 << 20
	maxMLPSize    = 1 << 22
	maxLayers     = 1 << 12
	maxHeads      = 1 << 14
	maxHeadDim    = 1 << 14
	maxVocabSize  = 1 << 24
	maxPositions  = 1 << 30
)

// family holds what the configuration classes of Hugging Face's transformers
// (models/*/configuration_*.py, version 5.24) and their modeling files fix or
// assume for one model type.
type family struct {
	architecture string
	kvHeads      int // num_key_value_heads where the key is absent; 0: as many as heads
	headDim      int // head_dim where the key is absent; 0: hidden_size/num_attention_heads
	positions    int // max_position_embeddings where the key is absent
	bos, eos     int // where the keys are absent; -1: none
	qkvBias      bool
	biasKeys     bool // attention_bias is read, for all four projections
	mlpBiasKey   bool
	qkNorm       bool
	window       windowRule
}

type windowRule uint8

const (
	windowNone  windowRule = iota // the class has no window
	windowAll                     // all layers, unless sliding_window is null
	windowUpper                   // layers from max_window_layers on, if use_sliding_window
)

var families = map[string]family{
	"llama":   {architecture: "LlamaForCausalLM", positions: 2048, bos: 1, eos: 2, biasKeys: true, mlpBiasKey: true},
	"mistral": {architecture: "MistralForCausalLM", kvHeads: 8, positions: 4096 * 32, bos: 1, eos: 2, window: windowAll},
	"qwen2":   {architecture: "Qwen2ForCausalLM", kvHeads: 32, positions: 32768, bos: -1, eos: -1, qkvBias: true, window: windowUpper},
	"qwen3":   {architecture: "Qwen3ForCausalLM", kvHeads: 32, headDim: 128, positions: 32768, bos: -1, eos: -1, biasKeys: true, qkNorm: true, window: windowUpper},
}

// ParseConfig reads config.json and, where a model has one, its
// generation_config.json (nil otherwise). Keys that this package does not know
// are ignored, as transformers does; known keys with values that would change
// the computation in a way that it does not implement are errors. All errors
// wrap ErrConfig.
func ParseConfig(config, generationConfig []byte) (*Config, error) {
	if len(config) == 0 {
		return nil, fmt.Errorf("%w: config.json: missing or empty", ErrConfig)
	}
	o, err := parseObject("config.json", config)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	f := c.readFamily(o)
	refuseUnsupported(o)
	c.readSizes(o, f)
	c.readRope(o)
	c.readWindow(o, f)
	c.DType = o.text("dtype", o.text("torch_dtype", ""))
	c.TieWordEmbeddings = o.boolean("tie_word_embeddings", false)
	c.AttentionBias = f.qkvBias
	if f.biasKeys {
		c.AttentionBias = o.boolean("attention_bias", false)
		c.OBias = c.AttentionBias
	}
	if f.mlpBiasKey {
		c.MLPBias = o.boolean("mlp_bias", false)
	}
	c.QKNorm = f.qkNorm
	eps := o.number("rms_norm_eps", 1e-6)
	c.RMSNormEps = float32(eps)
	if !(eps >= 0) || math.IsInf(float64(c.RMSNormEps), 0) {
		o.failf("rms_norm_eps", "want a small number of at least 0, found %v", eps)
	}
	if *o.err != nil {
		return nil, *o.err
	}

	g := &jsonObject{file: "generation_config.json", err: new(error)}
	if len(generationConfig) > 0 {
		if g, err = parseObject(g.file, generationConfig); err != nil {
			return nil, err
		}
	}
	c.readTokens(o, g, f)
	c.readGeneration(g)
	if *o.err != nil {
		return nil, *o.err
	}
	if *g.err != nil {
		return nil, *g.err
	}
	return c, nil
}

// readFamily finds the model's family by model_type, or by architectures where
// that is absent, and checks that the two agree.
func (c *Config) readFamily(o *jsonObject) family {
	c.ModelType = o.text("model_type", "")
	architectures := o.texts("architectures")
	if c.ModelType == "" {
		for name, f := range families {
			if slices.Contains(architectures, f.architecture) {
				c.ModelType = name
			}
		}
		if c.ModelType == "" {
			o.failf("model_type", "absent, and architectures %q names none of %s", architectures, supportedTypes())
			return family{}
		}
	}
	f, ok := families[c.ModelType]
	if !ok {
		o.failf("model_type", "%q is not supported; supported are %s", c.ModelType, supportedTypes())
		return family{}
	}
	c.Architecture = f.architecture
	if len(architectures) > 0 && !slices.Contains(architectures, f.architecture) {
		o.failf("architectures", "%q is not supported with model_type %q; want %q", architectures, c.ModelType, f.architecture)
	}
	return f
}

func supportedTypes() string {
	var names []string
	for name := range families {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// refuseUnsupported names keys whose values change the computation.
func refuseUnsupported(o *jsonObject) {
	if act := o.text("hidden_act", "silu"); act != "silu" && act != "swish" {
		o.failf("hidden_act", "%q is not supported; want \"silu\"", act)
	}
	if f := o.number("partial_rotary_factor", 1); f != 1 {
		o.failf("partial_rotary_factor", "%v is not supported; want 1", f)
	}
	for _, key := range []string{"quantization_config", "compression_config"} {
		if q := o.object(key); q != nil {
			o.failf(key, "weights quantised by another tool (quant_method %q) are not supported", q.text("quant_method", ""))
		}
	}
	for _, key := range []string{"num_local_experts", "num_experts", "n_routed_experts"} {
		if n := o.integer(key, 0); n > 0 {
			o.failf(key, "%d: mixtures of experts are not supported", n)
		}
	}
	if o.boolean("is_encoder_decoder", false) {
		o.failf("is_encoder_decoder", "true is not supported")
	}
}

// size reads a count that must be within [1, most].
func (o *jsonObject) size(key string, def, most int) int {
	n := o.integer(key, def)
	if _, ok := o.raw(key); !ok && def == 0 {
		o.failf(key, "missing")
		return 1
	}
	if n < 1 || n > most {
		o.failf(key, "want 1 to %d, found %d", most, n)
		return 1
	}
	return n
}

func (c *Config) readSizes(o *jsonObject, f family) {
	c.HiddenSize = o.size("hidden_size", 0, maxHiddenSize)
	c.IntermediateSize = o.size("intermediate_size", 0, maxMLPSize)
	c.NumHiddenLayers = o.size("num_hidden_layers", 0, maxLayers)
	c.NumAttentionHeads = o.size("num_attention_heads", 0, maxHeads)
	c.VocabSize = o.size("vocab_size", 0, maxVocabSize)
	c.MaxPositionEmbeddings = o.size("max_position_embeddings", max(f.positions, 1), maxPositions)

	kv := c.NumAttentionHeads // where the key is null
	if f.kvHeads > 0 && !o.present("num_key_value_heads") {
		kv = f.kvHeads
	}
	c.NumKeyValueHeads = o.size("num_key_value_heads", kv, maxHeads)
	if c.NumAttentionHeads%c.NumKeyValueHeads != 0 {
		o.failf("num_attention_heads", "%d is not a multiple of num_key_value_heads, %d", c.NumAttentionHeads, c.NumKeyValueHeads)
	}

	dim := f.headDim
	if _, stated := o.raw("head_dim"); dim == 0 && !stated {
		dim = c.HiddenSize / c.NumAttentionHeads
		if dim*c.NumAttentionHeads != c.HiddenSize {
			o.failf("hidden_size", "%d is not a multiple of num_attention_heads, %d, and head_dim is absent", c.HiddenSize, c.NumAttentionHeads)
		}
	}
	c.HeadDim = o.size("head_dim", max(dim, 1), maxHeadDim)
	if c.HeadDim%2 != 0 {
		o.failf("head_dim", "%d is odd; rotary embeddings need pairs", c.HeadDim)
	}
	if n := c.NumAttentionHeads * c.HeadDim; n > maxMLPSize {
		o.failf("num_attention_heads", "%d heads of %d: want at most %d query rows, found %d", c.NumAttentionHeads, c.HeadDim, maxMLPSize, n)
	}
}

// readWindow finds out whether any layer slides, following each class.
func (c *Config) readWindow(o *jsonObject, f family) {
	if f.window == windowNone {
		return
	}
	window := 4096 // of the classes, where the key is absent
	if o.present("sliding_window") {
		window = o.integer("sliding_window", 0) // null: none
	}
	slides := window != 0
	if f.window == windowUpper {
		slides = slides && o.boolean("use_sliding_window", false)
		types := o.texts("layer_types")
		for i, t := range types {
			if t != "full_attention" && t != "sliding_attention" {
				o.failf("layer_types", "element %d: %q is not supported", i, t)
			}
		}
		switch {
		case types == nil:
			slides = slides && o.integer("max_window_layers", 28) < c.NumHiddenLayers
		case len(types) != c.NumHiddenLayers:
			o.failf("layer_types", "%d elements for %d layers", len(types), c.NumHiddenLayers)
		case slides:
			slides = slices.Contains(types, "sliding_attention")
		case slices.Contains(types, "sliding_attention"):
			o.failf("layer_types", "\"sliding_attention\" without use_sliding_window and sliding_window")
		}
	}
	if !slides {
		return
	}
	if window < 1 || window > maxPositions {
		o.failf("sliding_window", "want 1 to %d, found %d", maxPositions, window)
		return
	}
	c.SlidingWindow = window
}

// ContextLength returns the largest number of positions of a session: what the
// model was made for, by MaxPositionEmbeddings and RopeScaling, and within the
// sliding window where it has one.
func (c *Config) ContextLength() int {
	n := c.MaxPositionEmbeddings
	if s := c.RopeScaling; s != nil {
		n = max(n, s.contextLength(c.MaxPositionEmbeddings))
	}
	if c.SlidingWindow > 0 {
		n = min(n, c.SlidingWindow)
	}
	return n
}

// ContextLimit says in words what limits the context, for messages to users.
func (c *Config) ContextLimit() string {
	if n := c.ContextLength(); n == c.SlidingWindow {
		return fmt.Sprintf("%d positions, the model's sliding window", n)
	} else if n != c.MaxPositionEmbeddings {
		return fmt.Sprintf("%d positions, by the model's %s RoPE scaling", n, c.RopeScaling.Type)
	}
	return fmt.Sprintf("%d positions, the model's max_position_embeddings", c.MaxPositionEmbeddings)
}

// IsEOS reports whether a token ends a generation.
func (c *Config) IsEOS(id int) bool { return slices.Contains(c.EOSTokenIDs, id) }

// readTokens merges the special tokens of both files. A class's default counts
// only where neither file has the key.
func (c *Config) readTokens(o, g *jsonObject, f family) {
	one := func(key string, def int) *int {
		for _, from := range []*jsonObject{o, g} {
			if !from.present(key) {
				continue
			}
			switch ids := from.tokenIDs(key); {
			case len(ids) == 1 && ids[0] >= 0:
				c.checkToken(from, key, ids[0])
				return &ids[0]
			case len(ids) > 1:
				from.failf(key, "want one token id, found %v", ids)
			}
			def = -1 // null, an empty list or a negative id: none
		}
		if def < 0 || def >= c.VocabSize {
			return nil
		}
		return &def
	}
	c.BOSTokenID = one("bos_token_id", f.bos)
	c.PadTokenID = one("pad_token_id", -1)

	const key = "eos_token_id"
	for _, from := range []*jsonObject{o, g} {
		for _, id := range from.tokenIDs(key) {
			c.checkToken(from, key, id)
			c.EOSTokenIDs = append(c.EOSTokenIDs, id)
		}
	}
	if !o.present(key) && !g.present(key) && f.eos >= 0 && f.eos < c.VocabSize {
		c.EOSTokenIDs = []int{f.eos}
	}
	slices.Sort(c.EOSTokenIDs)
	c.EOSTokenIDs = slices.Compact(c.EOSTokenIDs)
}

func (c *Config) checkToken(o *jsonObject, key string, id int) {
	if id < 0 || id >= c.VocabSize {
		o.failf(key, "token id %d is outside the vocabulary of %d", id, c.VocabSize)
	}
}
