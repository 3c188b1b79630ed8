package grammar

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// A draft is a version of JSON Schema.
type draft int

const (
	draft7    draft = 7
	draft2020 draft = 2020
)

// A document is one schema as it was given.
type document struct {
	tool  string
	root  *value
	draft draft
	id    string // $id of the root
}

// errFetch is what the loader of jsonschema/v5 is given in place of a file or a
// server.
var errFetch = errors.New("a reference out of the schema is not followed")

// newDocument parses a schema, finds its draft and checks it against that
// draft's meta-schema.
func newDocument(data []byte, tool string, ids *int) (*document, error) {
	d := &document{tool: tool, draft: draft2020}
	var err error
	if d.root, err = parseJSON(data, d, ids); err != nil {
		return nil, &SchemaError{Tool: tool, Pointer: "#", Detail: err.Error(), Err: ErrSchema}
	}
	if s := d.root.get("$schema"); s != nil {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s.text, "https://"), "http://"), "#")
		switch name {
		case "json-schema.org/draft-07/schema":
			d.draft = draft7
		case "json-schema.org/draft/2020-12/schema":
		default:
			return nil, d.root.fail("$schema", ErrUnsupported, "it is %q, expected draft 2020-12 or draft 7", s.text)
		}
	}
	if s := d.root.get("$id"); s != nil {
		d.id = strings.TrimSuffix(s.text, "#")
	}
	if err := d.metaCheck(data); err != nil {
		return nil, &SchemaError{Tool: tool, Pointer: "#", Detail: err.Error(), Err: ErrSchema}
	}
	return d, nil
}

// metaCheck compiles the schema with jsonschema/v5.
func (d *document) metaCheck(data []byte) (err error) {
	// That library panics on patterns that RE2 does not know.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	c := jsonschema.NewCompiler()
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errFetch }
	if d.draft == draft7 {
		c.Draft = jsonschema.Draft7
	}
	const name = "schema:///schema.json"
	if err := c.AddResource(name, strings.NewReader(string(data))); err != nil {
		return err
	}
	_, err = c.Compile(name)
	var s *jsonschema.SchemaError
	if errors.As(err, &s) {
		err = s.Err
	}
	var v *jsonschema.ValidationError
	if errors.As(err, &v) {
		for len(v.Causes) > 0 {
			v = v.Causes[0]
		}
		return fmt.Errorf("at #%s: %s", v.InstanceLocation, v.Message)
	}
	return err
}

// fail returns an error that names a keyword of the schema v, or none.
func (v *value) fail(keyword string, cause error, format string, args ...any) error {
	return &SchemaError{Tool: v.doc.tool, Pointer: v.pointer(), Keyword: keyword, Detail: fmt.Sprintf(format, args...), Err: cause}
}

// wrap gives an error from below the place where it happened.
func (v *value) wrap(keyword string, err error) error {
	var s *SchemaError
	var u unsupported
	switch {
	case err == nil || errors.As(err, &s):
		return err
	case errors.As(err, &u):
		return v.fail(keyword, ErrUnsupported, "%s", err)
	case errors.Is(err, errWork):
		return v.fail(keyword, ErrLimit, "%s", err)
	}
	return v.fail(keyword, ErrSchema, "%s", err)
}

// resolve finds what a $ref of the schema v leads to.
func (v *value) resolve(ref string) (*value, error) {
	base, fragment, _ := strings.Cut(ref, "#")
	if base != "" && base != v.doc.id {
		return nil, v.fail("$ref", ErrUnsupported, "%q is outside of this schema, and nothing is fetched", ref)
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, v.fail("$ref", ErrSchema, "%q: %v", ref, err)
	}
	if fragment != "" && fragment[0] != '/' {
		if found := findAnchor(v.doc.root, fragment); found != nil {
			return found, nil
		}
		return nil, v.fail("$ref", ErrSchema, "there is no anchor %q", fragment)
	}
	at := v.doc.root
	for i, name := range strings.Split(fragment, "/") {
		if i == 0 {
			continue
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		var next *value
		if at.kind == '[' {
			for _, e := range at.list {
				if e.name == name {
					next = e
				}
			}
		} else {
			next = at.get(name)
		}
		if next == nil {
			return nil, v.fail("$ref", ErrSchema, "%q leads nowhere", ref)
		}
		at = next
	}
	return at, nil
}

// findAnchor finds the value with an $anchor, or a draft 7 $id of a fragment.
func findAnchor(v *value, name string) *value {
	if a := v.get("$anchor"); a != nil && a.kind == '"' && a.text == name {
		return v
	}
	if a := v.get("$id"); a != nil && a.kind == '"' && a.text == "#"+name {
		return v
	}
	for _, e := range v.list {
		if found := findAnchor(e, name); found != nil {
			return found
		}
	}
	return nil
}
