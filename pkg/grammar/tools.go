package grammar

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A Tool is what a model can call.
type Tool struct {
	// Name is unique among the tools, and not empty.
	Name string
	// Description says when and how to use the tool. The grammar does not need it.
	Description string
	// Schema is the JSON Schema of the arguments, which must be able to be an
	// object; nil means an object without properties.
	Schema json.RawMessage
}

// noArguments is the schema of a tool without one.
const noArguments = `{"type":"object","additionalProperties":false}`

// CompileTools compiles a set of tools to the grammar of one call:
// {"name": NAME, "arguments": ARGUMENTS} with the name of a declared tool and
// arguments that are an object and valid by that tool's schema. Errors are those
// of Compile, with the tool's name, and ErrTools.
func CompileTools(tools []Tool, opts *Options) (*Grammar, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("%w: no tool", ErrTools)
	}
	c := newCompiler(o)
	seen := map[string]bool{}
	var arguments []*node
	size := 0
	for i, t := range tools {
		if t.Name == "" || !utf8.ValidString(t.Name) || seen[t.Name] {
			return nil, fmt.Errorf("%w: tool %d has the name %q, expected one that is not empty, UTF-8, and its own", ErrTools, i, t.Name)
		}
		seen[t.Name] = true
		data := []byte(t.Schema)
		if len(data) == 0 {
			data = []byte(noArguments)
		}
		if size += len(data); size > o.MaxSchema {
			return nil, &SchemaError{Tool: t.Name, Pointer: "#", Detail: fmt.Sprintf("the schemas are larger than Options.MaxSchema, %d bytes", o.MaxSchema), Err: ErrLimit}
		}
		d, err := newDocument(data, t.Name, &c.ids)
		if err != nil {
			return nil, err
		}
		// Whatever else the schema allows, arguments are an object.
		object := &value{kind: '{', doc: d, id: c.ids, keys: []string{"type"}, list: []*value{{kind: '"', text: "object", doc: d}}, shared: d.root}
		c.ids++
		n := c.node([]*value{d.root, object})
		if err := c.fillAll(); err != nil {
			return nil, err
		}
		arguments = append(arguments, n)
	}
	root, err := c.toolShape(tools, arguments)
	if err != nil {
		return nil, err
	}
	return c.finish(root, arguments)
}
