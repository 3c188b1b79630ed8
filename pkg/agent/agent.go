package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DoneTool is the name of the tool that ends a run. Every agent has it.
const DoneTool = "done"

var doneSpec = Spec{
	Name:        DoneTool,
	Description: "End the task. Call this when the task is done, with the answer to the user.",
	Schema:      []byte(`{"type":"object","properties":{"answer":{"type":"string","description":"the answer to the user"}},"required":["answer"],"additionalProperties":false}`),
}

// checkTime bounds how long a tool's schema may take to compile.
const checkTime = 10 * time.Second

// An Agent is a model with tools. It is safe for concurrent use; its runs take
// turns.
type Agent struct {
	opts    Options
	caller  Caller
	tools   map[string]*boundTool
	specs   []Spec
	skipped []Skipped
	busy    chan struct{} // holds a value while a run uses the caller; closed by nobody
	closed  bool          // guarded by busy
}

type boundTool struct {
	tool  Tool // nil for done
	valid *validator
}

// Skipped is a tool that was left out, and why.
type Skipped struct {
	Name string
	Err  error
}

// New returns an agent. Tools whose name or schema cannot be used, or whose
// name another tool has (the first one counts), are an error that wraps ErrTool
// and names the tool; with Options.SkipUnusable they are left out.
func New(model Model, tools []Tool, opts *Options) (*Agent, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &Agent{opts: o, tools: map[string]*boundTool{}, busy: make(chan struct{}, 1)}
	if err := a.add(model, nil, doneSpec); err != nil {
		return nil, err
	}
	for _, t := range tools {
		spec, err := specOf(t)
		if err == nil {
			err = a.add(model, t, spec)
		}
		if err != nil && !o.SkipUnusable {
			return nil, err
		}
		if err != nil {
			a.skipped = append(a.skipped, Skipped{spec.Name, err})
		}
	}
	// The tool that ends the task comes last where models read of it.
	a.specs = append(a.specs[1:], a.specs[0])
	if a.caller, err = model.Bind(a.specs); err != nil {
		return nil, err
	}
	if err := a.opts.fit(a.caller.Context()); err != nil {
		return nil, errors.Join(err, a.caller.Close())
	}
	return a, nil
}

// add checks one tool and takes it on.
func (a *Agent) add(model Model, tool Tool, spec Spec) error {
	if _, taken := a.tools[spec.Name]; taken {
		return fmt.Errorf("%w: %s: a tool of this name is there already", ErrTool, spec.Name)
	}
	// Schemas may come from a stranger, so their compilers are guarded, too.
	v, err := guard(context.Background(), checkTime, func(context.Context) (*validator, error) {
		v, err := compile(spec)
		if err != nil {
			return nil, err
		}
		if err := model.Check(spec); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrTool, spec.Name, err)
		}
		return v, nil
	})
	if errors.Is(err, ErrTimeout) || errors.Is(err, ErrPanic) {
		return fmt.Errorf("%w: %s: schema: %w", ErrTool, spec.Name, err)
	}
	if err != nil {
		return err
	}
	a.tools[spec.Name] = &boundTool{tool, v}
	a.specs = append(a.specs, spec)
	return nil
}

// Skipped returns the tools that were left out (Options.SkipUnusable).
func (a *Agent) Skipped() []Skipped { return a.skipped }

// Tools returns the tools that the model can call, done included.
func (a *Agent) Tools() []Spec { return append([]Spec(nil), a.specs...) }

// Close frees the model's session, after the run that is going on. The tools
// and the model are the caller's to close. Closing twice is allowed.
func (a *Agent) Close() error {
	a.busy <- struct{}{}
	defer func() { <-a.busy }()
	if a.closed {
		return nil
	}
	a.closed = true
	return a.caller.Close()
}
