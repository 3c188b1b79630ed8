package checkpoint

import (
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// source is one kind of checkpoint.
type source interface {
	// names returns the tensors' names in the order of the data.
	names() []string
	// stat returns a tensor without its data.
	stat(name string) (Tensor, error)
	// tensor returns a tensor whose data stays as long as the source is open.
	tensor(name string) (Tensor, error)
	// fresh returns a tensor whose data is garbage-collected where it is not
	// the file's own.
	fresh(name string) (Tensor, error)
	// stored returns a tensor's type, shape and data as the file holds them.
	stored(name string) (kind string, shape []uint64, data []byte, err error)

	config() []byte
	generationConfig() []byte
	tokenizerConfig() []byte
	chatTemplate() string
	tokenizer() (*bpe.Tokenizer, error)

	// writeCompanions writes every file but config.json and the weights.
	writeCompanions(out *output) error

	info() Info
	pin() (safetensors.Pinned, error)
	close() error
}
