package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
)

// A Tool is something that a model can do. A Tool that is in an Agent is called
// by one goroutine at a time, but a call that did not return within its time
// (Options.CallTimeout) may still run when the next begins.
type Tool interface {
	// Name is what the model calls the tool by: 1 to 64 letters, digits and
	// _ - . / of ASCII, unlike that of any other tool of the agent.
	Name() string
	// Description tells the model what the tool does.
	Description() string
	// Schema is the JSON Schema of the arguments, which are an object.
	Schema() json.RawMessage
	// Call runs the tool. args are valid by the schema, without duplicate keys,
	// as the model wrote them: numbers have all their digits. An error becomes a
	// result that tells the model what was wrong, and should say it in a way that
	// helps it. Call should return soon after ctx ends.
	Call(ctx context.Context, args json.RawMessage) (Result, error)
}

// A Result is what a tool found out. A text alone is a good result.
type Result struct {
	// Text is what the model is shown. The agent cuts it to what the model has
	// room for (Options.ResultTokens), and replaces what is not UTF-8.
	Text string
	// Head, where it is not nil, returns a line that comes before the text, given
	// how many bytes of Text the model is shown. So a tool can say where to go
	// on, wherever the text was cut.
	Head func(shown int) string
}

// A Spec is what a model needs to know of a tool.
type Spec struct {
	Name, Description string
	Schema            json.RawMessage
}

// NewTool returns a tool that is a function. The schema is that of the
// arguments: an object.
func NewTool(name, description, schema string, call func(ctx context.Context, args json.RawMessage) (Result, error)) Tool {
	return &function{Spec{name, description, json.RawMessage(schema)}, call}
}

type function struct {
	spec Spec
	call func(context.Context, json.RawMessage) (Result, error)
}

func (f *function) Name() string            { return f.spec.Name }
func (f *function) Description() string     { return f.spec.Description }
func (f *function) Schema() json.RawMessage { return f.spec.Schema }
func (f *function) Call(ctx context.Context, args json.RawMessage) (Result, error) {
	return f.call(ctx, args)
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,64}$`)

// specOf reads a tool's description, which is code of others.
func specOf(t Tool) (s Spec, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: it panics when it is asked about itself: %v", ErrTool, p)
		}
	}()
	s = Spec{t.Name(), t.Description(), t.Schema()}
	if !toolName.MatchString(s.Name) {
		return s, fmt.Errorf("%w: name %.100q: expected 1 to 64 of A-Z a-z 0-9 _ - . /", ErrTool, s.Name)
	}
	return s, nil
}
