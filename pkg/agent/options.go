package agent

import (
	"fmt"
	"time"
)

// DefaultSystem is the system message that tells a model what it is there for.
const DefaultSystem = "You work on the user's task by calling tools, one call at a time. After each call you see its result. When the task is done, call the tool done with the answer."

// Options say how an agent works. The zero value, and nil, are the defaults.
type Options struct {
	// System is the system message; "" means DefaultSystem.
	System string
	// NoSystem leaves the system message out, for a model that was trained
	// without one.
	NoSystem bool
	// MaxSteps is the largest number of calls in a run; 0 means 16.
	MaxSteps int
	// MaxRepeats is how many identical calls in a row end the run, the last of
	// them not made; 0 means 3. With the call before that the model is told.
	MaxRepeats int
	// MaxFailures is how many failed calls in a row end the run; 0 means 5.
	MaxFailures int
	// CallTimeout is the time that a tool may take for one call; 0 means 30 s.
	CallTimeout time.Duration
	// CallTokens is the largest number of tokens of a call, which is kept free in
	// the context; 0 means 512, or a quarter of a context below 2,048.
	CallTokens int
	// ResultTokens is how many tokens of a result the model is shown; 0 means
	// 1,024, or a quarter of a context below 4,096.
	ResultTokens int
	// SkipUnusable leaves out tools that cannot be used (see Agent.Skipped)
	// instead of refusing them all: for tools that somebody else describes.
	SkipUnusable bool
}

// withDefaults returns the options in effect.
func (o *Options) withDefaults() (Options, error) {
	var v Options
	if o != nil {
		v = *o
	}
	for _, f := range []struct {
		name  string
		field *int
		value int
		least int
	}{
		{"MaxSteps", &v.MaxSteps, 16, 1},
		{"MaxRepeats", &v.MaxRepeats, 3, 2},
		{"MaxFailures", &v.MaxFailures, 5, 1},
		{"CallTokens", &v.CallTokens, 0, 0},
		{"ResultTokens", &v.ResultTokens, 0, 0},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
		if *f.field < f.least {
			return v, fmt.Errorf("%w: %s is %d, expected at least %d", ErrOptions, f.name, *f.field, f.least)
		}
	}
	if v.CallTimeout == 0 {
		v.CallTimeout = 30 * time.Second
	}
	if v.CallTimeout < 0 {
		return v, fmt.Errorf("%w: CallTimeout is %v", ErrOptions, v.CallTimeout)
	}
	if v.System == "" {
		v.System = DefaultSystem
	}
	return v, nil
}

// fit sets the token limits that depend on the context.
func (o *Options) fit(context int) error {
	if o.CallTokens == 0 {
		o.CallTokens = max(1, min(512, context/4))
	}
	if o.ResultTokens == 0 {
		o.ResultTokens = max(1, min(1024, context/4))
	}
	if o.CallTokens >= context {
		return fmt.Errorf("%w: CallTokens is %d, and the context %d", ErrOptions, o.CallTokens, context)
	}
	return nil
}
