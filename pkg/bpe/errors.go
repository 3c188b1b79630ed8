package bpe

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound means that a folder holds neither tokenizer.json nor
	// vocab.json with merges.txt.
	ErrNotFound = errors.New("no tokenizer files")

	// ErrSyntax means that a file is not well-formed: bad JSON or UTF-8, cut
	// short, nested too deeply, a merges.txt line that is not two tokens.
	ErrSyntax = errors.New("malformed")

	// ErrField means that a field is missing, twice there, of the wrong type or
	// outside its range.
	ErrField = errors.New("bad field")

	// ErrUnsupported means that the tokenizer asks for a stage, an option or a
	// regular expression that this package does not have.
	ErrUnsupported = errors.New("not supported")

	// ErrVocab means that the vocabulary contradicts itself: a token or an id
	// twice, or an id outside the range.
	ErrVocab = errors.New("bad vocabulary")

	// ErrMerge means that a merge names a token that the vocabulary lacks.
	ErrMerge = errors.New("bad merge")

	// ErrAddedToken means that an added token cannot be used: its id belongs to
	// another token or is out of range, or its content is too long.
	ErrAddedToken = errors.New("bad added token")
)

// The limits of a tokenizer's stages. Real ones stay far below; without limits a
// small file could make each text grow without bound.
const (
	maxStages = 64   // stages in a row
	maxGrowth = 4096 // how many times longer stages may make a text, in bytes
)

// clip shortens text from a file for an error.
func clip[T string | []byte](s T) T {
	const most = 2000
	if len(s) > most {
		return s[:most]
	}
	return s
}

// placed wraps a cause with the place where it was found and what was found.
func placed(cause error, place, format string, args ...any) error {
	return fmt.Errorf("bpe: %s: %w: %s", place, cause, fmt.Sprintf(format, args...))
}
