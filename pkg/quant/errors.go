package quant

import "errors"

// Errors of this package. They are wrapped with the row, the index and what was
// found; the caller adds the tensor's name.
var (
	// ErrNonFinite: a weight, or a scale in a block of a GGUF file, is NaN or
	// infinite.
	ErrNonFinite = errors.New("non-finite weight")
	// ErrOverflow: a weight is larger than the format can hold with a scale
	// that is a finite binary16.
	ErrOverflow = errors.New("weight is out of the block format's range")
	// ErrRowLength: the length of a row is no multiple of BlockSize.
	ErrRowLength = errors.New("row length is no multiple of the block size")
	// ErrSize: a buffer's size is not that of the matrix.
	ErrSize = errors.New("buffer does not have the size of the matrix")
	// ErrFormat: no block format has that name.
	ErrFormat = errors.New("unknown block format")
	// ErrMetadata: the metadata of a quantised checkpoint is malformed.
	ErrMetadata = errors.New("malformed quantization metadata")
	// ErrVersion: the metadata is of a format or version that this code does
	// not read.
	ErrVersion = errors.New("unsupported quantization version")
)
