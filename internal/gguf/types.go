package gguf

import "github.com/leveret-os/leveret/internal/ggml"

// foreign holds the tensor types that are not read here, so that a file that
// holds one can be described, and refused by its name. The sizes are those of
// ggml-common.h of github.com/ggml-org/llama.cpp.
var foreign = map[ggml.Type]struct {
	name           string
	weights, bytes uint64
}{
	10: {"Q2_K", 256, 84}, 11: {"Q3_K", 256, 110},
	16: {"IQ2_XXS", 256, 66}, 17: {"IQ2_XS", 256, 74}, 18: {"IQ3_XXS", 256, 98},
	19: {"IQ1_S", 256, 50}, 20: {"IQ4_NL", 32, 18}, 21: {"IQ3_S", 256, 110},
	22: {"IQ2_S", 256, 82}, 23: {"IQ4_XS", 256, 136}, 29: {"IQ1_M", 256, 56},
	34: {"TQ1_0", 256, 54}, 35: {"TQ2_0", 256, 66},
	39: {"MXFP4", 32, 17}, 40: {"NVFP4", 64, 36},
}

// TypeName returns the name of a tensor type, those that are not read
// included, or its number.
func TypeName(t ggml.Type) string {
	if f, ok := foreign[t]; ok {
		return f.name
	}
	return t.String()
}

// blockSize returns the elements and the bytes of a block.
func blockSize(t ggml.Type) (weights, bytes uint64, ok bool) {
	if t.Known() {
		return uint64(t.BlockSize()), uint64(t.BlockBytes()), true
	}
	f, ok := foreign[t]
	return f.weights, f.bytes, ok
}
