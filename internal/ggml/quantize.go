package ggml

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/leveret-os/leveret/internal/half"
)

// Quantize writes the weights of src to dst as blocks of type Q8_0 or Q4_0,
// the bytes that gguf-py writes. The scale of a block comes from the weight of
// the largest absolute value; pkg/quant finds better ones for its own formats.
//
// A NaN or infinite weight is ErrNonFinite, a scale beyond binary16
// ErrOverflow; both name the index.
func Quantize(t Type, dst []byte, src []float32) error {
	l := layouts[t]
	var quantize func([]byte, []float32) error
	switch t {
	case Q8_0:
		quantize = quantizeQ8_0
	case Q4_0:
		quantize = quantizeQ4_0
	default:
		return fmt.Errorf("%w: cannot quantise to %v", ErrType, t)
	}
	n := len(src) / l.weights
	if n*l.weights != len(src) || len(dst)/l.bytes != n || len(dst)%l.bytes != 0 {
		return fmt.Errorf("%w: %v: %d bytes for %d weights, a block of %d weights takes %d bytes",
			ErrSize, t, len(dst), len(src), l.weights, l.bytes)
	}
	for b := range n {
		x := src[b*l.weights : (b+1)*l.weights]
		for i, v := range x {
			if !(math.Abs(float64(v)) <= math.MaxFloat32) {
				return fmt.Errorf("%w: %v at index %d", ErrNonFinite, v, b*l.weights+i)
			}
		}
		if err := quantize(dst[b*l.bytes:(b+1)*l.bytes], x); err != nil {
			return fmt.Errorf("block %d (weights %d to %d): %w", b, b*l.weights, (b+1)*l.weights-1, err)
		}
	}
	return nil
}

// putScale writes d as binary16 and returns 1/d, 0 where that is no number.
func putScale(dst []byte, d float32) (inverse float32, err error) {
	h := half.F16(d)
	if h&0x7fff == 0x7c00 {
		return 0, fmt.Errorf("%w: %v", ErrOverflow, d)
	}
	binary.LittleEndian.PutUint16(dst, h)
	if inverse = 1 / d; math.IsInf(float64(inverse), 0) {
		inverse = 0
	}
	return inverse, nil
}

func quantizeQ8_0(dst []byte, x []float32) error {
	var amax float32
	for _, v := range x {
		amax = max(amax, v, -v)
	}
	id, err := putScale(dst, amax/127)
	if err != nil {
		return err
	}
	for i, v := range x {
		// Halves away from zero.
		dst[2+i] = byte(int8(math.Round(float64(float32(v * id)))))
	}
	return nil
}

func quantizeQ4_0(dst []byte, x []float32) error {
	var amax, signed float32
	for _, v := range x {
		if a := max(v, -v); a > amax {
			amax, signed = a, v
		}
	}
	id, err := putScale(dst, signed/-8)
	if err != nil {
		return err
	}
	quant := func(v float32) byte {
		return byte(min(max(float32(float32(v*id)+8.5), 0), 15))
	}
	for i := range 16 {
		dst[2+i] = quant(x[i]) | quant(x[16+i])<<4
	}
	return nil
}
