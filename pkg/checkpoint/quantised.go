package checkpoint

import (
	"fmt"
	"slices"

	"github.com/leveret-os/leveret/pkg/quant"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// typeOf returns the type of a block format.
func typeOf(f quant.Format) Type { return Q8B32 + Type(f-quant.Q8B32) }

// format returns the block format of a type for which Blocks is true.
func (t Type) format() quant.Format { return quant.Q8B32 + quant.Format(t-Q8B32) }

// quantisedTensors returns the matrices in block formats, by name, and checks
// that the file holds each in its size.
func quantisedTensors(f *safetensors.File) (quant.Metadata, error) {
	text, ok := f.Metadata()[quant.MetadataKey]
	if !ok {
		return nil, nil
	}
	m, err := quant.ParseMetadata(text)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: __metadata__ %q: %w", quant.MetadataKey, err)
	}
	for name, matrix := range m {
		info, err := f.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("checkpoint: __metadata__ %q: %w", quant.MetadataKey, notFound(name, err))
		}
		want := matrix.Format.Shape(matrix.Rows, matrix.Cols)
		if info.DType != safetensors.U8 || !slices.Equal(info.Shape, want[:]) {
			return nil, fmt.Errorf("checkpoint: tensor %q: %w: %v of shape %d, want U8 of shape %d for %d×%d weights of %v",
				name, ErrShape, info.DType, info.Shape, want, matrix.Rows, matrix.Cols, matrix.Format)
		}
	}
	return m, nil
}
