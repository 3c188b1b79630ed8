package gguf

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/leveret-os/leveret/internal/ggml"
)

// Tensor says what a tensor is and where it lies.
type Tensor struct {
	// Name is the tensor's name in the file, such as "blk.0.attn_q.weight".
	Name string
	// Type is the type of its elements.
	Type ggml.Type
	// Dims are the dimensions in the file's order: the first is the number of
	// elements of a row, the dimension along which the data is contiguous. It
	// is the reverse of the order of PyTorch and safetensors. No dimensions:
	// a single element.
	Dims []uint64
	// Offset is the byte of the file where the data starts.
	Offset uint64
	// Bytes is the size of the data, 0 where the type's size is not known.
	Bytes uint64

	sized bool
}

// tensor reads what follows a tensor's name.
func (r *reader) tensor(name string) (Tensor, error) {
	t := Tensor{Name: name}
	at := r.pos
	n, err := r.uint32()
	if err != nil {
		return t, fmt.Errorf("number of dimensions: %w", err)
	}
	if n > maxDims {
		return t, fmt.Errorf("%w: %d dimensions at byte %d, want at most %d", ErrShape, n, at, maxDims)
	}
	t.Dims = make([]uint64, n)
	for i := range t.Dims {
		if t.Dims[i], err = r.uint64(); err != nil {
			return t, fmt.Errorf("dimension %d: %w", i, err)
		}
	}
	kind, err := r.uint32()
	if err != nil {
		return t, fmt.Errorf("type: %w", err)
	}
	t.Type = ggml.Type(kind)
	if t.Offset, err = r.uint64(); err != nil {
		return t, fmt.Errorf("offset: %w", err)
	}
	return t, t.measure()
}

// measure sets the size of the data from shape and type.
func (t *Tensor) measure() error {
	elements := uint64(1)
	for i, d := range t.Dims {
		high, low := bits.Mul64(elements, d)
		if high != 0 || low > 1<<63-1 {
			return fmt.Errorf("%w: the dimensions %d overflow at dimension %d", ErrShape, t.Dims, i)
		}
		elements = low
	}
	weights, size, ok := blockSize(t.Type)
	if !ok {
		return nil
	}
	t.sized = true
	row := uint64(1)
	if len(t.Dims) > 0 {
		row = t.Dims[0]
	}
	if row%weights != 0 {
		return fmt.Errorf("%w: rows of %d elements, the blocks of %s hold %d", ErrShape, row, TypeName(t.Type), weights)
	}
	high, low := bits.Mul64(elements/weights, size)
	if high != 0 || low > 1<<63-1 {
		return fmt.Errorf("%w: %d elements of type %s overflow the size in bytes", ErrShape, elements, TypeName(t.Type))
	}
	t.Bytes = low
	return nil
}

// Elements returns the number of elements of the tensor.
func (t *Tensor) Elements() uint64 {
	n := uint64(1)
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Tensors returns what is known of every tensor, in the file's order.
func (f *File) Tensors() []Tensor { return slices.Clone(f.tensors) }

// Tensor returns what is known of the tensor of that name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i, ok := f.byName[name]
	if !ok {
		return Tensor{}, false
	}
	return f.tensors[i], true
}

// Data returns a tensor and its data: the file's own bytes, not a copy. It is
// ErrNotFound for a name that is not in the file and ErrTensorType for a type
// whose values cannot be read here.
func (f *File) Data(name string) (Tensor, []byte, error) {
	t, ok := f.Tensor(name)
	if !ok {
		return t, nil, fmt.Errorf("gguf: tensor %q: %w", name, ErrNotFound)
	}
	if !t.sized || !t.Type.CanDequantize() {
		return t, nil, fmt.Errorf("gguf: tensor %q at byte %d: %w: %s", name, t.Offset, ErrTensorType, TypeName(t.Type))
	}
	if t.Bytes == 0 {
		return t, nil, nil
	}
	return t, f.data[t.Offset : t.Offset+t.Bytes : t.Offset+t.Bytes], nil
}
