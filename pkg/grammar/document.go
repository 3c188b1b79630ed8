package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
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
	// anchors has the schemas by name; nil: not yet looked for.
	anchors map[string]*value
}

// errFetch is what jsonschema/v5 gets in place of a file or a server.
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
	if err := d.root.checkReferences(); err != nil {
		return nil, err
	}
	if err := d.metaCheck(data); err != nil {
		var e *SchemaError
		if errors.As(err, &e) {
			return nil, err
		}
		return nil, &SchemaError{Tool: tool, Pointer: "#", Detail: err.Error(), Err: ErrSchema}
	}
	return d, nil
}

// checkReferences resolves every $ref, so that what leads out of the schema, or
// nowhere, is named.
func (v *value) checkReferences() error {
	if ref := v.get("$ref"); ref != nil && ref.kind == '"' {
		if _, err := v.resolve(ref.text); err != nil {
			return err
		}
	}
	for i, e := range v.list {
		if v.kind == '{' && slices.Contains([]string{"enum", "const", "default", "examples"}, v.keys[i]) && v.name != "properties" {
			continue
		}
		if err := e.checkReferences(); err != nil {
			return err
		}
	}
	return nil
}

// metaCheck validates the schema by its draft's meta-schema, by jsonschema/v5.
// To compile it there as well would take quadratic time.
func (d *document) metaCheck(data []byte) error {
	c := jsonschema.NewCompiler()
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errFetch }
	name := "https://json-schema.org/draft/2020-12/schema"
	if d.draft == draft7 {
		name = "http://json-schema.org/draft-07/schema"
	}
	meta, err := c.Compile(name)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return err
	}
	err = meta.Validate(decoded)
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return err
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	e := &SchemaError{Tool: d.tool, Pointer: "#" + v.InstanceLocation, Detail: v.Message, Err: ErrSchema}
	if i := strings.LastIndexByte(e.Pointer, '/'); i >= 0 {
		e.Pointer, e.Keyword = e.Pointer[:i], e.Pointer[i+1:]
	}
	return e
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
		if v.doc.anchors == nil {
			v.doc.anchors = map[string]*value{}
			v.doc.collectAnchors(v.doc.root)
		}
		if found := v.doc.anchors[fragment]; found != nil {
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
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(at.list) {
				next = at.list[i]
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

// collectAnchors notes the values with an $anchor, or a draft 7 $id of a
// fragment.
func (d *document) collectAnchors(v *value) {
	for _, k := range []string{"$anchor", "$id"} {
		a := v.get(k)
		if a == nil || a.kind != '"' {
			continue
		}
		name, fragment := strings.CutPrefix(a.text, "#")
		if _, ok := d.anchors[name]; !ok && (k == "$anchor" || fragment) {
			d.anchors[name] = v
		}
	}
	for _, e := range v.list {
		d.collectAnchors(e)
	}
}
