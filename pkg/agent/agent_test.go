package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// withSchema returns a tool with a given name and schema.
func withSchema(name, schema string) Tool {
	return NewTool(name, "", schema, func(context.Context, json.RawMessage) (Result, error) { return Result{Text: "ran"}, nil })
}

// unusable are tools that no agent takes on.
var unusable = map[string]Tool{
	"no name":            withSchema("", `{}`),
	"odd name":           withSchema("read file", `{}`),
	"long name":          withSchema(strings.Repeat("a", 65), `{}`),
	"name of done":       withSchema("done", `{}`),
	"no schema":          withSchema("a", ``),
	"malformed schema":   withSchema("a", `{"type":`),
	"schema of true":     withSchema("a", `true`),
	"no such type":       withSchema("a", `{"type":"strange"}`),
	"file reference":     withSchema("a", `{"$ref":"file:///etc/hostname"}`),
	"relative reference": withSchema("a", `{"$ref":"other.json"}`),
	"web reference":      withSchema("a", `{"properties":{"x":{"$ref":"http://127.0.0.1:1/schema"}}}`),
	"own metaschema":     withSchema("a", `{"$schema":"http://127.0.0.1:1/schema"}`),
	"dangling reference": withSchema("a", `{"$ref":"#/$defs/none"}`),
	"duplicate keys":     withSchema("a", `{"type":"object","type":"string"}`),
	"bad pattern":        withSchema("a", `{"properties":{"x":{"pattern":"("}}}`),
	"huge bound":         withSchema("a", `{"properties":{"x":{"minimum":1e999999999}}}`),
	"deep":               withSchema("a", strings.Repeat(`{"not":`, 100)+`{}`+strings.Repeat(`}`, 100)),
	"huge":               withSchema("a", `{"description":"`+strings.Repeat("x", maxSchemaSize)+`"}`),
	"panics":             panicky{},
}

type panicky struct{ Tool }

func (panicky) Name() string            { return "panicky" }
func (panicky) Description() string     { return "" }
func (panicky) Schema() json.RawMessage { panic("no schema") }

func TestUnusableTools(t *testing.T) {
	for name, tool := range unusable {
		t.Run(name, func(t *testing.T) {
			_, err := New(&script{calls: []string{doneCall}}, []Tool{tool}, nil)
			is(t, err, ErrTool)
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

// One bad tool of somebody else's does not end the session.
func TestSkipUnusable(t *testing.T) {
	for name, bad := range unusable {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, &script{calls: []string{`{"name":"good","arguments":{}}`, doneCall}}, &Options{SkipUnusable: true}, bad, withSchema("good", `{}`))
			if len(a.Skipped()) != 1 || !errors.Is(a.Skipped()[0].Err, ErrTool) {
				t.Fatalf("skipped %v", a.Skipped())
			}
			if len(a.Tools()) != 2 {
				t.Errorf("tools %v", a.Tools())
			}
			steps, err := collect(t, context.Background(), a, "task")
			if err != nil || steps[0].Result != "ran" {
				t.Errorf("%v, %+v", err, steps)
			}
		})
	}
}

// Schemas that a validator would take for ever over are cut short, and those
// that lead in circles are an error of the call.
func TestCostlySchemas(t *testing.T) {
	ladder := `{"$defs":{"l40":{}`
	for i := range 40 {
		ladder += fmt.Sprintf(`,"l%d":{"allOf":[{"$ref":"#/$defs/l%d"},{"$ref":"#/$defs/l%d"}]}`, i, i+1, i+1)
	}
	ladder += `},"$ref":"#/$defs/l0"}`
	deep := strings.Repeat(`{"x":`, 50) + `{}` + strings.Repeat(`}`, 50)
	for name, c := range map[string]struct{ schema, args string }{
		"ladder":    {ladder, `{}`},
		"recursion": {`{"$defs":{"a":{"allOf":[{"properties":{"x":{"$ref":"#/$defs/a"}}},{"properties":{"x":{"$ref":"#/$defs/a"}}}]}},"$ref":"#/$defs/a"}`, deep},
		"anyOf":     {`{"$defs":{"a":{"anyOf":[{"properties":{"x":{"$ref":"#/$defs/a"}},"required":["y"]},{"properties":{"x":{"$ref":"#/$defs/a"}},"required":["z"]}]}},"$ref":"#/$defs/a"}`, deep},
		"circle":    {`{"$ref":"#"}`, `{}`},
		"circles":   {`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := compile(Spec{Name: "a", Schema: json.RawMessage(c.schema)})
			if err != nil {
				is(t, err, ErrTool)
				return
			}
			for range 2 {
				is(t, v.check(json.RawMessage(c.args)), ErrArguments)
			}
		})
	}
	v, err := compile(Spec{Name: "a", Schema: json.RawMessage(`{"properties":{"a":{"items":{"type":"integer"}}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.check(json.RawMessage(`{"a":[` + strings.Repeat("1,", 50000) + `1]}`)); err != nil {
		t.Errorf("many items: %v", err)
	}
}

// The first tool of a name counts: a stranger's tool cannot take the place of
// one's own.
func TestDuplicateNames(t *testing.T) {
	tools := []Tool{withSchema("read_file", `{}`), tool("read_file", func(context.Context) (Result, error) { return Result{Text: "stranger"}, nil })}
	_, err := New(&script{}, tools, nil)
	is(t, err, ErrTool)
	contains(t, err.Error(), "read_file")
	a := newAgent(t, &script{calls: []string{`{"name":"read_file","arguments":{}}`, doneCall}}, &Options{SkipUnusable: true}, tools...)
	steps, err := collect(t, context.Background(), a, "task")
	if err != nil || steps[0].Result != "ran" || len(a.Skipped()) != 1 {
		t.Errorf("%v, %+v, skipped %v", err, steps, a.Skipped())
	}
}

// What the model's own check refuses is refused by the tool's name.
func TestModelRefusesATool(t *testing.T) {
	cause := errors.New("uniqueItems cannot be compiled")
	s := &script{calls: []string{doneCall}, check: func(spec Spec) error {
		if spec.Name == "a" {
			return cause
		}
		if spec.Name == "b" {
			panic("b")
		}
		return nil
	}}
	_, err := New(s, []Tool{withSchema("a", `{}`)}, nil)
	is(t, err, ErrTool)
	is(t, err, cause)
	contains(t, err.Error(), "a: ")
	a := newAgent(t, s, &Options{SkipUnusable: true}, withSchema("a", `{}`), withSchema("b", `{}`), withSchema("c", `{}`))
	if len(a.Skipped()) != 2 || a.Skipped()[0].Name != "a" || a.Skipped()[1].Name != "b" || len(s.tools) != 2 {
		t.Errorf("skipped %v, tools %v", a.Skipped(), s.tools)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{MaxSteps: -1}, {MaxRepeats: 1}, {MaxFailures: -1}, {CallTimeout: -1}, {CallTokens: -1}, {ResultTokens: -5}, {CallTokens: 100000}} {
		s := &script{}
		_, err := New(s, nil, &o)
		is(t, err, ErrOptions)
		if o.CallTokens == 100000 && s.closed != 1 {
			t.Error("the caller was not closed")
		}
	}
}

func TestClose(t *testing.T) {
	s := &script{calls: []string{doneCall}}
	a, err := New(s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s.closed != 1 {
		t.Errorf("closed %d times", s.closed)
	}
	_, err = collect(t, context.Background(), a, "task")
	is(t, err, ErrClosed)
}
