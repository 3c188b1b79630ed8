package gguf

import (
	"encoding/binary"
	"fmt"
)

// reader walks over a file. Its position never leaves the data.
type reader struct {
	data []byte
	pos  int
}

func (r *reader) left() uint64 { return uint64(len(r.data) - r.pos) }

// bytes returns the next n bytes, not copied.
func (r *reader) bytes(n uint64) ([]byte, error) {
	if n > r.left() {
		return nil, fmt.Errorf("%w: %d bytes at byte %d, %d are left", ErrTruncated, n, r.pos, r.left())
	}
	b := r.data[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return b, nil
}

func (r *reader) uint32() (uint32, error) {
	b, err := r.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (r *reader) uint64() (uint64, error) {
	b, err := r.bytes(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// count reads the number of things that take at least size bytes each.
func (r *reader) count(what string, size uint64) (uint64, error) {
	at := r.pos
	n, err := r.uint64()
	if err != nil {
		return 0, fmt.Errorf("gguf: number of %s: %w", what, err)
	}
	if n > r.left()/size {
		return 0, fmt.Errorf("gguf: %w: %d %s at byte %d, the %d bytes left hold at most %d",
			ErrTruncated, n, what, at, r.left(), r.left()/size)
	}
	return n, nil
}

// string reads the bytes of a string, not copied.
func (r *reader) string() ([]byte, error) {
	at := r.pos
	n, err := r.uint64()
	if err != nil {
		return nil, fmt.Errorf("string length: %w", err)
	}
	if n > r.left() {
		return nil, fmt.Errorf("%w: string of %d bytes at byte %d, %d are left", ErrTruncated, n, at, r.left())
	}
	return r.bytes(n)
}

// name reads a key or a tensor's name.
func (r *reader) name(limit int) (string, error) {
	b, err := r.string()
	if err != nil {
		return "", err
	}
	if len(b) == 0 {
		return "", fmt.Errorf("%w: it is empty", ErrName)
	}
	if len(b) > limit {
		return "", fmt.Errorf("%w: %d bytes, the limit is %d", ErrName, len(b), limit)
	}
	return string(b), nil
}
