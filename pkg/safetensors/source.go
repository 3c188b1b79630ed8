package safetensors

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// Source is a tensor to be written.
type Source struct {
	Name  string
	DType DType
	// Shape is the dimensions; a scalar has none.
	Shape []uint64
	// Data is the elements, row-major and little endian.
	Data []byte
	// Write writes the elements to w, in place of Data where it is not nil, so
	// that a tensor need not be in memory as a whole. It is called once, and
	// must write exactly DType.Bytes(Shape) bytes.
	Write func(w io.Writer) error
}

// check makes sure that the tensor can be written and returns its size in bytes.
func (s *Source) check() (uint64, error) {
	if s.Name == metadataKey || !utf8.ValidString(s.Name) {
		return 0, fmt.Errorf("%w: it is reserved or not UTF-8", ErrName)
	}
	size, err := s.DType.Bytes(s.Shape)
	if err != nil {
		return 0, err
	}
	if s.Write == nil && uint64(len(s.Data)) != size {
		return 0, fmt.Errorf("%w: %v %v takes %d bytes, Data has %d",
			ErrSize, s.DType, shapeString(s.Shape), size, len(s.Data))
	}
	return size, nil
}

// writeTo writes the size bytes of the tensor.
func (s *Source) writeTo(w io.Writer, size uint64) error {
	if s.Write == nil {
		_, err := w.Write(s.Data)
		return err
	}
	exact := &exactWriter{w: w, left: size}
	if err := s.Write(exact); err != nil {
		return err
	}
	if exact.left > 0 {
		return fmt.Errorf("%w: %v %v takes %d bytes, Write gave %d",
			ErrSize, s.DType, shapeString(s.Shape), size, size-exact.left)
	}
	return nil
}

// exactWriter passes on at most left bytes.
type exactWriter struct {
	w    io.Writer
	left uint64
}

func (e *exactWriter) Write(p []byte) (int, error) {
	if uint64(len(p)) > e.left {
		return 0, fmt.Errorf("%w: Write gave at least %d bytes too many", ErrSize, uint64(len(p))-e.left)
	}
	n, err := e.w.Write(p)
	e.left -= uint64(n)
	return n, err
}
