package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/pkg/checkpoint"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

func inspectCommand() *command {
	return &command{
		name:  "inspect",
		args:  modelArgument,
		short: "show what a checkpoint holds",
		long: `
The model's configuration, and its tensors with type, shape and size. Only
headers are read. The tensors of a GGUF file are shown by the names and types
that they are read as. A safetensors file that is no model is shown too.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			i := &inspectFlags{}
			f.string(&i.path, "m,model", modelArgument, "the checkpoint, instead of an argument")
			f.bool(&i.brief, "brief", "no table of tensors")
			f.bool(&i.json, "json", "one JSON object")
			return i.run
		},
	}
}

type inspectFlags struct {
	path        string
	brief, json bool
}

// inspection is what `infer inspect --json` prints.
type inspection struct {
	Path    string             `json:"path"`
	Kind    string             `json:"kind"`   // "safetensors" or "gguf"
	Format  string             `json:"format"` // of most weights; "" if the tensors are no model's
	Stored  string             `json:"stored,omitempty"`
	Count   int                `json:"tensor_count"`
	Weights int64              `json:"weights"`
	Bytes   int64              `json:"bytes"` // of the tensors
	Bits    float64            `json:"bits_per_weight"`
	Config  *inspectedConfig   `json:"config"`         // null if it cannot be run
	Problem string             `json:"problem"`        // why not
	Meta    map[string]string  `json:"metadata"`       // of the safetensors header
	Memory  *inspectedMemory   `json:"memory"`         // per position of the context
	Tensors []inspectedTensor  `json:"tensors"`        // in the order of their data
	Convert *inspectedRepacked `json:"made_in_memory"` // what does not stay in the mapping
}

type inspectedConfig struct {
	ModelType         string  `json:"model_type"`
	HiddenSize        int     `json:"hidden_size"`
	IntermediateSize  int     `json:"intermediate_size"`
	NumHiddenLayers   int     `json:"num_hidden_layers"`
	NumAttentionHeads int     `json:"num_attention_heads"`
	NumKeyValueHeads  int     `json:"num_key_value_heads"`
	HeadDim           int     `json:"head_dim"`
	VocabSize         int     `json:"vocab_size"`
	ContextLength     int     `json:"context_length"`
	RopeTheta         float64 `json:"rope_theta"`
	RopeScaling       string  `json:"rope_scaling"` // "" for none
	TiedEmbeddings    bool    `json:"tie_word_embeddings"`
	EOSTokenIDs       []int   `json:"eos_token_ids"`
	ChatTemplate      bool    `json:"chat_template"`
}

// inspectedMemory is what a session's cache takes.
type inspectedMemory struct {
	BytesPerPosition int64 `json:"kv_cache_bytes_per_position"`
	BytesOfContext   int64 `json:"kv_cache_bytes_of_whole_context"`
}

// inspectedRepacked is what is repacked or converted when the model runs.
type inspectedRepacked struct {
	RepackedTensors  int   `json:"repacked_tensors"`
	RepackedBytes    int64 `json:"repacked_bytes"`
	ConvertedTensors int   `json:"converted_tensors"`
	ConvertedBytes   int64 `json:"converted_bytes"`
}

type inspectedTensor struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	Bytes int64  `json:"bytes"`
}

func (i *inspectFlags) run(_ context.Context, c *console, args []string) error {
	if i.path != "" {
		args = append(args, i.path)
	}
	switch len(args) {
	case 0:
		return usagef("nothing to inspect: give a %s", modelArgument)
	case 1:
	default:
		return usagef("expected one checkpoint, found %d", len(args))
	}
	if args[0] == "" {
		return usagef("the checkpoint's name is empty")
	}
	x, err := inspect(args[0])
	if err != nil {
		return err
	}
	x.Count = len(x.Tensors)
	if i.brief {
		x.Tensors = nil
	}
	if i.json {
		return writeJSON(c.stdout, x)
	}
	return writeInspection(c.stdout, x)
}

// inspect reads the headers of a checkpoint.
func inspect(path string) (*inspection, error) {
	x := &inspection{Path: path}
	c, err := checkpoint.Open(path, nil)
	if err != nil {
		raw, rawErr := safetensors.Open(path, nil)
		if rawErr != nil {
			return nil, err
		}
		defer raw.Close()
		x.Kind, x.Problem, x.Meta = "safetensors", err.Error(), raw.Metadata()
		return x, x.addRaw(raw, nil)
	}
	defer c.Close()
	info := c.Info()
	x.Kind, x.Format, x.Stored, x.Weights = info.Kind, info.Format, info.Stored, info.Weights
	if n := info.Repacked.Tensors + info.Converted.Tensors; n > 0 {
		x.Convert = &inspectedRepacked{info.Repacked.Tensors, info.Repacked.Bytes, info.Converted.Tensors, info.Converted.Bytes}
	}
	x.addConfig(c)
	if info.Kind == "gguf" {
		err = x.addTensors(c)
	} else {
		var raw *safetensors.File
		if raw, err = safetensors.Open(path, nil); err == nil {
			defer raw.Close()
			x.Meta = raw.Metadata()
			err = x.addRaw(raw, c)
		}
	}
	if x.Weights > 0 {
		x.Bits = 8 * float64(x.Bytes) / float64(x.Weights)
	}
	return x, err
}

// addConfig adds what the model's configuration says, or why it cannot be run.
func (x *inspection) addConfig(c *checkpoint.Checkpoint) {
	if c.Config() == nil {
		x.Problem = "no config.json"
		return
	}
	m, err := llama.ParseConfig(c.Config(), c.GenerationConfig())
	if err != nil {
		x.Problem = err.Error()
		return
	}
	x.Config = &inspectedConfig{
		ModelType: m.ModelType, HiddenSize: m.HiddenSize, IntermediateSize: m.IntermediateSize,
		NumHiddenLayers: m.NumHiddenLayers, NumAttentionHeads: m.NumAttentionHeads, NumKeyValueHeads: m.NumKeyValueHeads,
		HeadDim: m.HeadDim, VocabSize: m.VocabSize, ContextLength: m.ContextLength(), RopeTheta: m.RopeTheta,
		TiedEmbeddings: m.TieWordEmbeddings, EOSTokenIDs: notNil(m.EOSTokenIDs), ChatTemplate: c.ChatTemplate() != "",
	}
	if m.RopeScaling != nil {
		x.Config.RopeScaling = fmt.Sprintf("%s, factor %g", m.RopeScaling.Type, m.RopeScaling.Factor)
	}
	per := int64(2*m.NumHiddenLayers*m.NumKeyValueHeads*m.HeadDim) * 4 // keys and values in float32
	x.Memory = &inspectedMemory{per, per * int64(m.ContextLength())}
}

// addTensors adds the tensors as they are read.
func (x *inspection) addTensors(c *checkpoint.Checkpoint) error {
	for _, name := range c.Names() {
		t, err := c.Stat(name)
		if errors.Is(err, checkpoint.ErrUnsupported) {
			x.Problem = err.Error()
			x.Tensors = append(x.Tensors, inspectedTensor{Name: name, Type: "?"})
			continue
		}
		if err != nil {
			return err
		}
		n := tensorBytes(t)
		x.Bytes += n
		x.Tensors = append(x.Tensors, inspectedTensor{name, t.Type.String(), notNil(t.Shape), n})
	}
	return nil
}

// addRaw adds the tensors of safetensors files, by the header's types except
// where a block format hides behind U8.
func (x *inspection) addRaw(raw *safetensors.File, c *checkpoint.Checkpoint) error {
	for _, name := range raw.Names() {
		info, err := raw.Stat(name)
		if err != nil {
			return err
		}
		t := inspectedTensor{Name: name, Type: strings.ToLower(info.DType.String()), Shape: []int{}, Bytes: info.Bytes}
		for _, d := range info.Shape {
			t.Shape = append(t.Shape, int(d))
		}
		if c != nil {
			if logical, err := c.Stat(name); err == nil && logical.Type.Blocks() {
				t.Type, t.Shape = logical.Type.String(), slices.Clone(logical.Shape)
			}
		}
		x.Bytes += t.Bytes
		x.Tensors = append(x.Tensors, t)
	}
	return nil
}

// tensorBytes is the size of a tensor's data by its type and shape.
func tensorBytes(t checkpoint.Tensor) int64 {
	n := int64(t.Elements())
	switch t.Type {
	case checkpoint.F32:
		return 4 * n
	case checkpoint.F16, checkpoint.BF16:
		return 2 * n
	}
	kinds := map[checkpoint.Type]blocks.Kind{checkpoint.Q8B32: blocks.Q8B32, checkpoint.Q4B32: blocks.Q4B32, checkpoint.Q4B32M: blocks.Q4B32M}
	kind, ok := kinds[t.Type]
	if !ok || len(t.Shape) != 2 {
		return 0
	}
	return int64(kind.MatrixBytes(t.Shape[0], t.Shape[1]))
}
