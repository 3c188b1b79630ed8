package checkpoint

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Type is the type of a tensor's weights.
type Type uint8

// The types of weights. Keep is no type of a tensor: to a conversion it says
// that weights stay as they are.
const (
	Keep Type = iota
	F32
	F16
	BF16
	Q8B32
	Q4B32
	Q4B32M
)

var typeNames = [...]string{Keep: "keep", F32: "f32", F16: "f16", BF16: "bf16", Q8B32: "q8b32", Q4B32: "q4b32", Q4B32M: "q4b32m"}

// String returns the name of the type in lower case, such as "bf16".
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// ParseType returns the type of a name, in upper or lower case.
func ParseType(name string) (Type, error) {
	for t, n := range typeNames {
		if strings.EqualFold(n, name) {
			return Type(t), nil
		}
	}
	return Keep, fmt.Errorf("checkpoint: %w: weight type %q, want one of %s", ErrUnsupported, name, strings.Join(typeNames[:], ", "))
}

// Blocks reports whether the type is one of the quantised block formats.
func (t Type) Blocks() bool { return t >= Q8B32 && t <= Q4B32M }

// size returns the bytes of a weight, 0 for a block format.
func (t Type) size() int {
	switch t {
	case F32:
		return 4
	case F16, BF16:
		return 2
	}
	return 0
}

// Tensor is a tensor of a checkpoint.
type Tensor struct {
	// Name is the tensor's name in Hugging Face's checkpoints, such as
	// "model.layers.0.self_attn.q_proj.weight".
	Name string
	// Type is the type of the weights.
	Type Type
	// Shape is [rows, columns] of a matrix, [elements] of a vector. It counts
	// weights, whatever the layout of Data.
	Shape []int
	// Data holds the weights, little endian: row after row, or, in a block
	// format, tiles as package internal/blocks lays them out and
	// docs/quantization.md describes. It may begin at any address.
	Data []byte
}

// Elements returns the number of weights.
func (t *Tensor) Elements() int { return elements(t.Shape) }

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// rowsCols returns the tensor as a matrix: a vector is one row.
func rowsCols(shape []int) (rows, cols int) {
	switch len(shape) {
	case 0:
		return 1, 1
	case 1:
		return 1, shape[0]
	}
	cols = shape[len(shape)-1]
	return elements(shape[:len(shape)-1]), cols
}

// intShape checks that a shape and its product fit an int.
func intShape(name string, shape []uint64) ([]int, error) {
	s := make([]int, len(shape))
	product := uint64(1)
	for i, d := range shape {
		high, low := bits.Mul64(product, d)
		if high != 0 || low > math.MaxInt/8 || d > math.MaxInt/8 {
			return nil, fmt.Errorf("checkpoint: tensor %q: %w: %d is too large", name, ErrShape, shape)
		}
		product, s[i] = low, int(d)
	}
	return s, nil
}
