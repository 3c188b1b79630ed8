// Package checkpoint opens the weights of a language model in any form that
// this project reads, as tensors by the names of Hugging Face's checkpoints
// together with the JSON files that describe the model, and writes it in
// another form.
//
// A checkpoint is a folder (config.json and safetensors files, or one .gguf
// file), a .safetensors file with its companions beside it, or a .gguf file.
// Of a GGUF file config.json and its like are made from the metadata, tensors
// are renamed, and the row order that llama.cpp's converter gives to the
// queries and keys of Llama models is undone.
//
// # Memory
//
// Tensors stay in the file's mapping as they are. The exceptions are in GGUF
// files alone, and [Checkpoint.Info] counts them:
//
//   - Q8_0, Q4_0 and Q4_1 matrices are repacked, without change of any value,
//     into the block formats that the kernels take;
//   - other quantised tensors (Q4_K, Q6_K and their like) become float32,
//     exactly;
//   - the queries and keys of Llama models in F32, F16 or BF16 are copied in
//     another order of rows.
//
// That happens when a tensor is asked for the first time; its memory belongs
// to the checkpoint until [Checkpoint.Close].
//
// All data is read-only, and gone after Close: the same rules hold as in
// package safetensors.
package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// Options are the options of [Open] and [OpenFS]. Nil means the zero value.
type Options struct {
	// Memory is where the weights are to lie.
	Memory safetensors.Memory
	// MaxHeader is the greatest length in bytes of a safetensors header; 0
	// means safetensors.DefaultMaxHeader.
	MaxHeader int64
}

func (o *Options) memory() safetensors.Memory {
	if o == nil {
		return safetensors.Mapped
	}
	return o.Memory
}

func (o *Options) safetensors() *safetensors.Options {
	if o == nil {
		return nil
	}
	return &safetensors.Options{Memory: o.Memory, MaxHeader: o.MaxHeader}
}

// Checkpoint is an opened checkpoint. Its methods may be called from several
// goroutines at once; Close waits for those that are at work.
type Checkpoint struct {
	source source
	// life is held for reading while the file's memory may be read, and for
	// writing by Close.
	life   sync.RWMutex
	closed bool

	tokenizerOnce sync.Once
	tok           *bpe.Tokenizer
	tokErr        error

	digestOnce sync.Once
	sum        [32]byte
	sumErr     error
}

// use reports whether the checkpoint is open, and keeps it so until
// life.RUnlock.
func (c *Checkpoint) use() bool {
	c.life.RLock()
	open := !c.closed
	if !open {
		c.life.RUnlock()
	}
	return open
}

// Names returns the names of the tensors in the order of their data.
func (c *Checkpoint) Names() []string { return slices.Clone(c.source.names()) }

// Stat returns a tensor without its data, which costs no memory.
// Errors: [ErrNotFound], [ErrUnsupported], [ErrClosed].
func (c *Checkpoint) Stat(name string) (Tensor, error) {
	if !c.use() {
		return Tensor{}, fmt.Errorf("checkpoint: tensor %q: %w", name, ErrClosed)
	}
	defer c.life.RUnlock()
	return c.source.stat(name)
}

// Tensor returns a tensor, by its name in Hugging Face's checkpoints. Its data
// is read-only and stays until Close.
// Errors: [ErrNotFound], [ErrUnsupported] for a type that no kernel takes,
// [ErrClosed].
func (c *Checkpoint) Tensor(name string) (Tensor, error) {
	if !c.use() {
		return Tensor{}, fmt.Errorf("checkpoint: tensor %q: %w", name, ErrClosed)
	}
	defer c.life.RUnlock()
	return c.source.tensor(name)
}

// Config returns config.json, nil where there is none.
func (c *Checkpoint) Config() []byte { return slices.Clone(c.source.config()) }

// GenerationConfig returns generation_config.json, nil where there is none.
func (c *Checkpoint) GenerationConfig() []byte { return slices.Clone(c.source.generationConfig()) }

// TokenizerConfig returns tokenizer_config.json, nil where there is none, and
// after Close.
func (c *Checkpoint) TokenizerConfig() []byte {
	if !c.use() {
		return nil
	}
	defer c.life.RUnlock()
	return slices.Clone(c.source.tokenizerConfig())
}

// ChatTemplate returns the model's chat template, in Jinja: chat_template.jinja,
// or else chat_template of tokenizer_config.json, of several the one named
// "default"; of a GGUF file tokenizer.chat_template. It is empty where there is
// none, and after Close.
func (c *Checkpoint) ChatTemplate() string {
	if !c.use() {
		return ""
	}
	defer c.life.RUnlock()
	return c.source.chatTemplate()
}

// Tokenizer returns the model's tokenizer. It is read at the first call.
// Errors: those of package bpe, [ErrUnsupported] for a GGUF file whose
// tokenizer is not a byte-level BPE.
func (c *Checkpoint) Tokenizer() (*bpe.Tokenizer, error) {
	c.tokenizerOnce.Do(func() {
		if !c.use() {
			c.tokErr = fmt.Errorf("checkpoint: tokenizer: %w", ErrClosed)
			return
		}
		defer c.life.RUnlock()
		c.tok, c.tokErr = c.source.tokenizer()
	})
	return c.tok, c.tokErr
}

// Info says what a checkpoint is and what it takes.
type Info struct {
	// Kind is "safetensors" or "gguf".
	Kind string
	// Format is the type of most of the weights: "bf16", "q8b32", ….
	Format string
	// Stored is the name of that type in the file, where it differs: "Q4_1".
	Stored string
	// Tensors and Weights are the numbers of tensors and of weights.
	Tensors int
	Weights int64
	// Bytes is the size of the files' data: what is mapped, or copied to
	// memory with safetensors.Private and Huge.
	Bytes int64
	// Memory is where that data lies.
	Memory safetensors.Memory
	// Repacked is what is repacked into block formats, Converted what is
	// turned into another type or order of rows, once every tensor has been
	// asked for. Bytes of memory are taken besides the mapping.
	Repacked, Converted Copied
}

// Copied counts tensors that do not stay in the mapping.
type Copied struct {
	Tensors int
	Bytes   int64
}

// Info says what the checkpoint is and what it takes. It reads no weights.
func (c *Checkpoint) Info() Info { return c.source.info() }

// Pin locks the weights in memory, which reads all of them: the mapping, and
// what has been or will be repacked. What the system refuses is left and said
// in the result. Errors: [ErrClosed].
func (c *Checkpoint) Pin() (safetensors.Pinned, error) {
	if !c.use() {
		return safetensors.Pinned{}, fmt.Errorf("checkpoint: pin: %w", ErrClosed)
	}
	defer c.life.RUnlock()
	return c.source.pin()
}

// Close gives the memory of the weights back: every Tensor's data is gone. A
// second Close does nothing and returns [ErrClosed].
func (c *Checkpoint) Close() error {
	c.life.Lock()
	defer c.life.Unlock()
	if c.closed {
		return fmt.Errorf("checkpoint: %w", ErrClosed)
	}
	c.closed = true
	return c.source.close()
}

// Digest returns a SHA-256 that tells the model from others: of config.json
// and, in the order of their names, of every tensor's name, type, shape and
// data as stored. It reads all weights at the first call and is kept.
//
// Shards and the order of tensors in a file do not change it; another form of
// the same weights, such as a GGUF file converted, has another digest.
func (c *Checkpoint) Digest() ([32]byte, error) {
	c.digestOnce.Do(func() { c.sum, c.sumErr = c.digest() })
	return c.sum, c.sumErr
}

func (c *Checkpoint) digest() (sum [32]byte, err error) {
	if !c.use() {
		return sum, fmt.Errorf("checkpoint: digest: %w", ErrClosed)
	}
	defer c.life.RUnlock()
	h := sha256.New()
	// Every part comes with its length, so that no two models are spelled alike.
	part := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte("leveret checkpoint 1"))
	part(c.source.config())
	names := slices.Sorted(slices.Values(c.source.names()))
	for _, name := range names {
		kind, shape, data, err := c.source.stored(name)
		if err != nil {
			return sum, err
		}
		part([]byte(name))
		part([]byte(kind))
		part(fmt.Append(nil, shape))
		part(data)
	}
	h.Sum(sum[:0])
	return sum, nil
}
