package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/checkpoint"
)

// A folder, a .safetensors file or a .gguf file is opened the same way.
func ExampleOpen() {
	c, err := checkpoint.Open("models/smollm2.gguf", nil)
	if err != nil {
		fmt.Println("no model here")
		return
	}
	defer c.Close()
	info := c.Info()
	fmt.Println(info.Kind, info.Format, info.Weights)
	// Output: no model here
}

func ExampleOpenFS() {
	var fsys fstest.MapFS = testmodel.TinyFS(testmodel.TinyOptions{DType: "BF16"})
	c, err := checkpoint.OpenFS(fsys, nil)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	t, err := c.Tensor("model.layers.0.self_attn.q_proj.weight")
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Type, t.Shape, len(t.Data), "bytes")
	// Output: bf16 [64 64] 8192 bytes
}

// Quantise a model: the matrices get 4 bits and a minimum a block, embedding
// and head 8 bits.
func ExampleConvert() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	c, err := checkpoint.OpenFS(testmodel.TinyFS(testmodel.TinyOptions{}), nil)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	report, err := checkpoint.Convert(filepath.Join(dir, "q4"), c, &checkpoint.ConvertOptions{Type: checkpoint.Q4B32M})
	if err != nil {
		panic(err)
	}
	for _, t := range report.Tensors[:3] {
		fmt.Println(t.Name, t.From, "→", t.To)
	}
	fmt.Println(report.Files)
	// Output:
	// model.embed_tokens.weight f32 → q8b32
	// model.layers.0.input_layernorm.weight f32 → f32
	// model.layers.0.self_attn.q_proj.weight f32 → q4b32m
	// [config.json generation_config.json merges.txt model.safetensors special_tokens_map.json tokenizer.json tokenizer_config.json vocab.json]
}

func ExampleParseType() {
	t, err := checkpoint.ParseType("Q8B32")
	fmt.Println(t, t.Blocks(), err)
	// Output: q8b32 true <nil>
}
