// Package tiny has a very small language model in it, trained by this project
// for the agent of pkg/agent: it reads, lists, computes and writes, offline and
// at once. README.md is its model card: what it can do, what it cannot, and how
// it was made.
//
// The model is a folder as any other, that llama.Load opens: Llama's
// architecture, a byte-level BPE tokenizer of its own, a chat template, and
// weights in Q8B32. Whoever does not import this package does not carry it.
package tiny

import (
	"embed"
	"io/fs"

	"github.com/leveret-os/leveret/pkg/llama"
)

//go:embed model
var files embed.FS

// FS returns the model's folder: config.json, generation_config.json,
// model.safetensors, tokenizer.json and tokenizer_config.json.
func FS() fs.FS {
	sub, err := fs.Sub(files, "model")
	if err != nil { // of a path that is not valid
		panic(err)
	}
	return sub
}

// Open opens the model, as llama.Load does any other. opts may be nil.
func Open(opts *llama.Options) (*llama.Model, error) { return llama.Load(FS(), opts) }
