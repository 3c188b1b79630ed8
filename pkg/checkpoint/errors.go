package checkpoint

import "errors"

// Errors of this package, wrapped with the file, the tensor or the metadata
// key, what was wanted and what was there.
var (
	// ErrNoCheckpoint: there is no checkpoint at the path, or more than one.
	ErrNoCheckpoint = errors.New("no checkpoint")
	// ErrNotFound: the checkpoint has no tensor or no file of that name.
	ErrNotFound = errors.New("not in the checkpoint")
	// ErrUnsupported: a model, a tensor type, a tokenizer or a setting that
	// this package cannot represent.
	ErrUnsupported = errors.New("unsupported")
	// ErrMetadata: the metadata of a GGUF file is missing, malformed or
	// contradicts itself or the tensors.
	ErrMetadata = errors.New("bad metadata")
	// ErrShape: a tensor has another shape than the model's sizes ask for.
	ErrShape = errors.New("unexpected tensor shape")
	// ErrTooLarge: a file of the folder is larger than its kind ever is.
	ErrTooLarge = errors.New("file too large")
	// ErrOverflow: a weight is too large for the type it is converted to.
	ErrOverflow = errors.New("weight too large")
	// ErrExists: the folder to write has files in it already.
	ErrExists = errors.New("folder is not empty")
	// ErrClosed: the checkpoint is closed.
	ErrClosed = errors.New("checkpoint is closed")
)
