package agent

import (
	"context"
	"errors"
	"fmt"
)

// A Reason says why a run ended.
type Reason string

// The reasons. A run that ended otherwise than Done ends with an error that
// wraps the sentinel beside the reason.
const (
	Done         Reason = "done"          // the model called done; no error
	RepeatedCall Reason = "repeated-call" // ErrRepeatedCall
	StepLimit    Reason = "step-limit"    // ErrStepLimit
	ContextFull  Reason = "context-full"  // ErrContextFull
	Cancelled    Reason = "cancelled"     // context.Canceled or context.DeadlineExceeded
	ToolFailures Reason = "tool-failures" // ErrToolFailures
	Failed       Reason = "error"         // any other error
)

var (
	// ErrRepeatedCall means that the model made the same call again and again,
	// although it was told.
	ErrRepeatedCall = errors.New("agent: the model repeats itself")
	// ErrStepLimit means that the task was not done within Options.MaxSteps.
	ErrStepLimit = errors.New("agent: out of steps")
	// ErrContextFull means that the task, the tools and the last result leave no
	// room in the model's context for a call.
	ErrContextFull = errors.New("agent: the context is full")
	// ErrToolFailures means that Options.MaxFailures calls in a row failed.
	ErrToolFailures = errors.New("agent: too many calls failed")

	// ErrTool means a tool that cannot be used: its name, or its schema.
	ErrTool = errors.New("agent: tool")
	// ErrArguments means arguments that a tool is not called with: malformed
	// JSON, duplicate keys, or not what the schema says.
	ErrArguments = errors.New("agent: arguments")
	// ErrPanic means a tool that panicked.
	ErrPanic = errors.New("agent: the tool crashed")
	// ErrTimeout means a tool that did not return within Options.CallTimeout.
	ErrTimeout = errors.New("agent: the tool took too long")
	// ErrOptions means an option that cannot be followed.
	ErrOptions = errors.New("agent: option")
	// ErrClosed means an agent that was closed.
	ErrClosed = errors.New("agent: closed")
)

// ended is the error of a run that ended otherwise than Done.
type ended struct {
	reason Reason
	err    error
}

func (e *ended) Error() string { return e.err.Error() }
func (e *ended) Unwrap() error { return e.err }

// end returns the error of a run that ends by the agent's own decision.
func end(reason Reason, format string, args ...any) error {
	return &ended{reason, fmt.Errorf(format, args...)}
}

// ReasonOf returns the reason of a run that ended with err; that of nil is Done.
func ReasonOf(err error) Reason {
	var e *ended
	switch {
	case err == nil:
		return Done
	case errors.As(err, &e): // the outermost: a tool's error may be that of an agent
		return e.reason
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Cancelled
	}
	return Failed
}
