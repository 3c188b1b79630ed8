package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// validator checks arguments against a tool's schema.
type validator struct {
	mu     sync.Mutex
	schema *jsonschema.Schema
	meter  *meter
}

// maxValidation, and four times the length of the arguments, bounds the
// subschemas that are evaluated for one check. Schemas that refer to themselves
// twice at each level, as a stranger's may, would otherwise take time
// exponential in the depth of the arguments.
const maxValidation = 10000

// meter counts evaluations. As an extension of the compiler's it is part of
// every schema.
type meter struct{ left int }

// errCostly ends an evaluation by a panic: the library has no other way.
var errCostly = errors.New("they take too long to validate")

func (m *meter) Compile(jsonschema.CompilerContext, map[string]any) (jsonschema.ExtSchema, error) {
	return m, nil
}

func (m *meter) Validate(jsonschema.ValidationContext, any) error {
	if m.left--; m.left < 0 {
		panic(errCostly)
	}
	return nil
}

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
	m := &meter{}
	c.RegisterExtension("meter", nil, m)
	const name = "schema.json"
	if err := c.AddResource(name, bytes.NewReader(s.Schema)); err != nil {
		return fail(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		return fail(err)
	}
	return &validator{schema: schema, meter: m}, nil
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
	if err := v.validate(value, maxValidation+4*len(args)); err != nil {
		return fmt.Errorf("%w: %s", ErrArguments, explain(err))
	}
	return nil
}

func (v *validator) validate(value any, most int) (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.meter.left = most
	defer func() {
		if p := recover(); p != nil {
			err = errCostly
			if p != any(errCostly) {
				err = errors.New("the schema cannot be evaluated: " + panicText(p))
			}
		}
	}()
	return v.schema.Validate(value)
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
