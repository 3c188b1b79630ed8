package grammar

import (
	"errors"
	"fmt"
)

// errWork is the cause of every ErrLimit by Options.MaxWork; the place where it
// happened is added further up.
var errWork = errors.New("compiling takes too many steps (Options.MaxWork)")

// A work counts the steps of compiling, so that a hostile schema ends in an
// error after bounded time and memory, the same on every machine.
type work struct{ left int }

func (w *work) spend(n int) error {
	w.left -= n
	if w.left < 0 {
		return errWork
	}
	return nil
}

// An unsupported is the reason why something cannot be compiled exactly.
type unsupported string

func (u unsupported) Error() string { return string(u) }

func unsupportedf(format string, args ...any) error {
	return unsupported(fmt.Sprintf(format, args...))
}
