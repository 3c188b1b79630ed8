package jinja

import (
	"errors"
	"fmt"
)

var (
	// ErrSyntax means a template that cannot be parsed, or that uses a part of
	// Jinja2 outside this package's subset.
	ErrSyntax = errors.New("template syntax")
	// ErrRender means an operation that failed while rendering, as it would in
	// Jinja2: an undefined value used, types that do not fit.
	ErrRender = errors.New("template")
	// ErrLimit means a template that took more than its budget.
	ErrLimit = errors.New("template exceeds its limits")
	// ErrRaised means that the template called raise_exception: it refuses the
	// conversation. The error holds its message.
	ErrRaised = errors.New("template refuses")
)

// A failure carries an error through the evaluator to Render.
type failure struct{ err error }

// fail ends the rendering. The line is added on the way up.
func fail(format string, args ...any) {
	panic(&failure{fmt.Errorf("%w: "+format, append([]any{ErrRender}, args...)...)})
}
