package safetensors

import "fmt"

// Tensor is a tensor of a checkpoint. Its elements lie in row-major order,
// little endian, at any alignment.
type Tensor struct {
	Name  string
	DType DType
	// Shape is the dimensions; a scalar has none.
	Shape []uint64
	// Data is the elements, exactly DType.Bytes(Shape) bytes. It points into
	// the mapping and is read-only: see the package's comment for how long.
	Data []byte
}

// Len returns the number of elements, the product of Shape, modulo 2⁶⁴ in a
// tensor that no checkpoint can hold.
func (t Tensor) Len() uint64 {
	n := uint64(1)
	for _, dim := range t.Shape {
		n *= dim
	}
	return n
}

// Source returns the tensor as [Write] takes it.
func (t Tensor) Source() Source {
	return Source{Name: t.Name, DType: t.DType, Shape: t.Shape, Data: t.Data}
}

// Float32s returns the elements as float32 in a new slice, rounded to nearest
// even where they do not fit (F64 and wide integers). BOOL is 0 or 1. Errors:
// [ErrNotReal] for C64, [ErrSize] where Data does not match the shape.
func (t Tensor) Float32s() ([]float32, error) { return decodeAll[float32](t) }

// Float64s is [Tensor.Float32s] with float64: only I64 and U64 round.
func (t Tensor) Float64s() ([]float64, error) { return decodeAll[float64](t) }

// Complex64s returns the elements of a C64 tensor in a new slice. Errors:
// [ErrNotReal] for another dtype, [ErrSize] where Data does not match the shape.
func (t Tensor) Complex64s() ([]complex64, error) {
	if t.DType != C64 {
		return nil, fmt.Errorf("safetensors: tensor %s: %v: %w", quote(t.Name), t.DType, ErrNotReal)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return complexes(t.Data), nil
}

// check makes sure that Data has the size that DType and Shape give.
func (t Tensor) check() error {
	want, err := t.DType.Bytes(t.Shape)
	if err == nil && want != uint64(len(t.Data)) {
		err = fmt.Errorf("%w: %v %v takes %d bytes, not %d", ErrSize, t.DType, shapeString(t.Shape), want, len(t.Data))
	}
	if err != nil {
		return fmt.Errorf("safetensors: tensor %s: %w", quote(t.Name), err)
	}
	return nil
}

func decodeAll[T float32 | float64](t Tensor) ([]T, error) {
	if t.DType == C64 {
		return nil, fmt.Errorf("safetensors: tensor %s: %v: %w", quote(t.Name), t.DType, ErrNotReal)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	dst := make([]T, t.Len())
	if err := decode(dst, t.DType, t.Data, 0); err != nil {
		return nil, fmt.Errorf("safetensors: tensor %s: %w", quote(t.Name), err)
	}
	return dst, nil
}
