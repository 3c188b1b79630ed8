// Package ggml reads and writes the tensor types of GGUF files: how many bytes
// a block of weights takes, and the values in it.
//
// The layouts are those of ggml (ggml-common.h and ggml-quants.c in
// github.com/ggml-org/llama.cpp), little endian. Values are computed in
// float32, each operation rounded, as its reference code and gguf-py do.
package ggml

import (
	"errors"
	"fmt"
)

// Errors of this package, wrapped with the type, the sizes or the place.
var (
	// ErrType: the type is unknown, or has no conversion here.
	ErrType = errors.New("unsupported ggml type")
	// ErrSize: the number of bytes or weights is not that of whole blocks.
	ErrSize = errors.New("size is not that of whole blocks")
	// ErrNonFinite: a weight to quantise is NaN or infinite.
	ErrNonFinite = errors.New("non-finite weight")
	// ErrOverflow: the scale of a block is too large for binary16.
	ErrOverflow = errors.New("block scale overflows binary16")
)

// Type is the type of a tensor, by its number in a GGUF file.
type Type uint32

// The tensor types that have a size here. Those that Dequantize reads are F32,
// F16, BF16 and the Q types; Quantize writes Q4_0 and Q8_0.
const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q4_1 Type = 3
	Q5_0 Type = 6
	Q5_1 Type = 7
	Q8_0 Type = 8
	Q4_K Type = 12
	Q5_K Type = 13
	Q6_K Type = 14
	I8   Type = 24
	I16  Type = 25
	I32  Type = 26
	I64  Type = 27
	F64  Type = 28
	BF16 Type = 30
)

type layout struct {
	name           string
	weights, bytes int
	dequantize     func(dst []float32, block []byte)
}

var layouts = map[Type]layout{
	F32:  {"F32", 1, 4, f32},
	F16:  {"F16", 1, 2, f16},
	BF16: {"BF16", 1, 2, bf16},
	Q4_0: {"Q4_0", 32, 18, q4_0},
	Q4_1: {"Q4_1", 32, 20, q4_1},
	Q5_0: {"Q5_0", 32, 22, q5_0},
	Q5_1: {"Q5_1", 32, 24, q5_1},
	Q8_0: {"Q8_0", 32, 34, q8_0},
	Q4_K: {"Q4_K", 256, 144, q4_K},
	Q5_K: {"Q5_K", 256, 176, q5_K},
	Q6_K: {"Q6_K", 256, 210, q6_K},
	I8:   {"I8", 1, 1, nil},
	I16:  {"I16", 1, 2, nil},
	I32:  {"I32", 1, 4, nil},
	I64:  {"I64", 1, 8, nil},
	F64:  {"F64", 1, 8, nil},
}

// String returns the type's name, or its number where that is unknown.
func (t Type) String() string {
	if l, ok := layouts[t]; ok {
		return l.name
	}
	return fmt.Sprintf("ggml type %d", uint32(t))
}

// Known reports whether the size of the type's blocks is known.
func (t Type) Known() bool { return layouts[t].bytes != 0 }

// CanDequantize reports whether Dequantize reads the type.
func (t Type) CanDequantize() bool { return layouts[t].dequantize != nil }

// BlockSize returns the number of weights in a block, 0 for an unknown type.
func (t Type) BlockSize() int { return layouts[t].weights }

// BlockBytes returns the size of a block in bytes, 0 for an unknown type.
func (t Type) BlockBytes() int { return layouts[t].bytes }

// Dequantize sets dst to the weights of src, which holds exactly len(dst)
// weights in whole blocks.
func Dequantize(t Type, dst []float32, src []byte) error {
	l := layouts[t]
	if l.dequantize == nil {
		return fmt.Errorf("%w: %v cannot be dequantised", ErrType, t)
	}
	n := len(dst) / l.weights
	if n*l.weights != len(dst) || len(src)/l.bytes != n || len(src)%l.bytes != 0 {
		return fmt.Errorf("%w: %v: %d bytes for %d weights, a block of %d weights takes %d bytes",
			ErrSize, t, len(src), len(dst), l.weights, l.bytes)
	}
	if l.weights == 1 {
		l.dequantize(dst, src)
		return nil
	}
	for i := range n {
		l.dequantize(dst[i*l.weights:(i+1)*l.weights], src[i*l.bytes:(i+1)*l.bytes])
	}
	return nil
}
