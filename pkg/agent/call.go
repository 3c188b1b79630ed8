package agent

import (
	"encoding/json"
	"fmt"
)

// A Call is a tool call that a model made.
type Call struct {
	Name      string
	Arguments json.RawMessage // an object
}

// parseCall reads what a model wrote: one object with the members name and
// arguments and no others.
func parseCall(text string) (Call, error) {
	data := []byte(text)
	if err := checkJSON(data, maxJSONBytes); err != nil {
		return Call{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return Call{}, fmt.Errorf("%w: a call is an object with name and arguments", ErrArguments)
	}
	var c Call
	if err := json.Unmarshal(members["name"], &c.Name); err != nil {
		return Call{}, fmt.Errorf("%w: a call names its tool", ErrArguments)
	}
	c.Arguments = members["arguments"]
	if len(c.Arguments) == 0 || c.Arguments[0] != '{' {
		return Call{}, fmt.Errorf("%w: a call has arguments, which are an object", ErrArguments)
	}
	if len(members) != 2 {
		return Call{}, fmt.Errorf("%w: a call has name and arguments and nothing else", ErrArguments)
	}
	return c, nil
}

// key is equal for calls that ask for the same, however they are spelled.
func (c *Call) key() string {
	v, err := decodeJSON(c.Arguments)
	if err != nil {
		return c.Name + " " + string(c.Arguments)
	}
	// Maps are encoded in the order of their keys.
	data, err := json.Marshal(v)
	if err != nil {
		return c.Name + " " + string(c.Arguments)
	}
	return c.Name + " " + string(data)
}

// repeats counts identical calls in a row.
type repeats struct {
	last  string
	count int
}

// add returns how often in a row the call was made, this time included.
func (r *repeats) add(key string) int {
	if r.count == 0 || key != r.last {
		r.last, r.count = key, 0
	}
	r.count++
	return r.count
}
