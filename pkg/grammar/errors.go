package grammar

import (
	"errors"
	"fmt"
)

// Causes of errors, for errors.Is.
var (
	// ErrSchema means a schema that is not JSON, or not valid by its own
	// draft's meta-schema, or one whose references lead nowhere.
	ErrSchema = errors.New("grammar: invalid schema")
	// ErrUnsupported means a keyword, or a use of one, that cannot be compiled
	// exactly.
	ErrUnsupported = errors.New("grammar: cannot be compiled exactly")
	// ErrUnsatisfiable means a schema that no value satisfies.
	ErrUnsatisfiable = errors.New("grammar: no value satisfies the schema")
	// ErrLimit means that a limit of Options was exceeded.
	ErrLimit = errors.New("grammar: limit exceeded")
	// ErrTools means a set of tools that is empty, or names that repeat or are
	// not UTF-8.
	ErrTools = errors.New("grammar: invalid tool set")
	// ErrRefused means bytes, or a token, that are not legal where they stand.
	ErrRefused = errors.New("grammar: not legal here")
	// ErrNoToken means a state in which no token of the vocabulary is legal.
	ErrNoToken = errors.New("grammar: no token is legal here")
	// ErrVocabulary means a vocabulary without a usable token, or of a size that
	// cannot be.
	ErrVocabulary = errors.New("grammar: invalid vocabulary")
)

// A SchemaError says what is wrong with a schema and where. It wraps one of
// ErrSchema, ErrUnsupported, ErrUnsatisfiable and ErrLimit.
type SchemaError struct {
	// Tool is the name of the tool whose schema it is; empty for Compile.
	Tool string
	// Pointer is the place in the schema: a JSON pointer as a URI fragment, such
	// as "#/properties/path".
	Pointer string
	// Keyword is the keyword at fault at that place; empty where it is none.
	Keyword string
	// Detail says what was expected and what was found.
	Detail string
	// Err is the cause.
	Err error
}

// Error returns cause, tool, keyword, place and detail in one line.
func (e *SchemaError) Error() string {
	s := e.Err.Error() + ": "
	if e.Tool != "" {
		s += fmt.Sprintf("tool %q: ", e.Tool)
	}
	if e.Keyword != "" {
		s += fmt.Sprintf("keyword %q at ", e.Keyword)
	}
	s += e.Pointer
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the cause.
func (e *SchemaError) Unwrap() error { return e.Err }
