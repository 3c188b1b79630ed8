package gguf

import "errors"

// Errors of this package, wrapped with the key or tensor, the byte where it
// was found, what was wanted and what was there.
var (
	// ErrMagic: the data does not begin with "GGUF".
	ErrMagic = errors.New("not a GGUF file")
	// ErrVersion: the version is neither 2 nor 3.
	ErrVersion = errors.New("unsupported version of GGUF")
	// ErrBigEndian: the file is a big-endian one.
	ErrBigEndian = errors.New("big-endian GGUF is not supported")
	// ErrTruncated: something reaches beyond the end of the file.
	ErrTruncated = errors.New("beyond the end of the file")
	// ErrName: a key or a tensor's name is empty or too long.
	ErrName = errors.New("unusable name")
	// ErrDuplicate: a key or a tensor's name stands twice in the file.
	ErrDuplicate = errors.New("duplicate name")
	// ErrValue: a metadata value has an unknown type or is malformed.
	ErrValue = errors.New("malformed metadata value")
	// ErrValueType: a metadata value has another type than what is asked for.
	ErrValueType = errors.New("metadata value of another type")
	// ErrAlignment: the alignment is no power of two, or an offset is not a
	// multiple of it.
	ErrAlignment = errors.New("bad alignment")
	// ErrShape: a shape has too many dimensions, overflows, or its rows are
	// not whole blocks of its type.
	ErrShape = errors.New("bad tensor shape")
	// ErrOverlap: two tensors share bytes.
	ErrOverlap = errors.New("overlapping tensors")
	// ErrTensorType: the data of a tensor is of a type that is not read here.
	ErrTensorType = errors.New("unsupported tensor type")
	// ErrNotFound: there is no such key or tensor.
	ErrNotFound = errors.New("not found")
)
