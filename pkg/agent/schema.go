package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// validator checks arguments against a tool's schema.
type validator struct{ schema *jsonschema.Schema }

// compile compiles a tool's schema. Nothing is fetched or read: a reference
// that leads out of the schema is an error.
func compile(s Spec) (v *validator, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("%w: %s: schema: %s", ErrTool, s.Name, panicText(p))
		}
	}()
	fail := func(err error) (*validator, error) {
		return nil, fmt.Errorf("%w: %s: schema: %w", ErrTool, s.Name, err)
	}
	if err := checkJSON(s.Schema, maxSchemaSize); err != nil {
		return fail(err)
	}
	if trimmed := bytes.TrimLeft(s.Schema, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return fail(errors.New("expected an object"))
	}
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("reference to %.200q: schemas outside are not read", url)
	}
	const name = "schema.json"
	if err := c.AddResource(name, bytes.NewReader(s.Schema)); err != nil {
		return fail(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		return fail(err)
	}
	return &validator{schema}, nil
}

// check validates arguments, which must be an object without duplicate keys.
func (v *validator) check(args json.RawMessage) error {
	if err := checkJSON(args, maxJSONBytes); err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	value, err := decodeJSON(args)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	if _, ok := value.(map[string]any); !ok {
		return fmt.Errorf("%w: expected an object", ErrArguments)
	}
	if err := v.schema.Validate(value); err != nil {
		return fmt.Errorf("%w: %s", ErrArguments, explain(err))
	}
	return nil
}

// explain puts the causes of a validation error into a few words.
func explain(err error) string {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err.Error()
	}
	var causes []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(causes) == 5 {
			return
		}
		if len(e.Causes) == 0 {
			at := strings.TrimPrefix(e.InstanceLocation, "/")
			if at != "" {
				at += ": "
			}
			causes = append(causes, fmt.Sprintf("%.100s%.300s", at, e.Message))
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(invalid)
	return strings.Join(causes, "; ")
}
