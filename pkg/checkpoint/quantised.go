package checkpoint

import "github.com/leveret-os/leveret/pkg/safetensors"

// quantised is a matrix in a block format.
type quantised struct {
	kind  Type
	shape []int
}

func quantisedTensors(f *safetensors.File) (map[string]quantised, error) { return nil, nil }
