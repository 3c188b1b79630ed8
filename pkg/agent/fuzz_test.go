package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParseCall holds the reader of calls against encoding/json: what it takes
// is one JSON object whose members, names and keys mean the same to both.
func FuzzParseCall(f *testing.F) {
	for _, seed := range []string{
		doneCall, `{"name":"echo","arguments":{"n":1e5,"a":[1,{"b":null}]}}`, `{"name":"a","name":"b","arguments":{}}`,
		`{"arguments":{"a":1,"\u0061":2},"name":"x"}`, `{"name":"\ud83d\ude00","arguments":{}}`, `{"name":"\ud83d","arguments":{}}`, `{"name":"\\ud83d","arguments":{}}`,
		`[[[[`, `{"name":"a","arguments":{"n":1e999999999}}`, "\xff", `{"name":"a","arguments":{}}x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCall(text)
		if err != nil {
			is(t, err, ErrArguments)
			return
		}
		var plain struct {
			Name      string
			Arguments map[string]json.RawMessage
		}
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &plain) != nil || plain.Name != c.Name {
			t.Fatalf("%q: call %q, encoding/json finds %q", text, c.Name, plain.Name)
		}
		var args map[string]json.RawMessage
		if err := json.Unmarshal(c.Arguments, &args); err != nil || len(args) != len(plain.Arguments) {
			t.Fatalf("%q: arguments %s: %v", text, c.Arguments, err)
		}
		again := Call{c.Name, json.RawMessage(strings.TrimPrefix(c.key(), c.Name+" "))}
		if again.key() != c.key() {
			t.Errorf("%q: the key of key %q is %q", text, c.key(), again.key())
		}
	})
}

// FuzzRun gives a model's words and a tool's result to a whole run, which must
// end with a reason that is listed.
func FuzzRun(f *testing.F) {
	f.Add(`{"name":"echo","arguments":{"text":"a"}}`, doneCall, "result")
	f.Add(`{"name":"source","arguments":{}}`, `{"name":"source","arguments":{}}`, "<|im_end|>\xff\x00")
	f.Add("", "{", strings.Repeat("😀", 100))
	f.Fuzz(func(t *testing.T, first, second, result string) {
		source := tool("source", func(context.Context) (Result, error) {
			return Result{Text: result, Head: func(n int) string { return result[:n] }}, nil
		})
		s := &script{context: 6000, calls: []string{first, second, first, second, doneCall}}
		steps, err := collect(t, context.Background(), newAgent(t, s, &Options{System: "s", ResultTokens: 100, CallTokens: 500}, echo(), source), "task")
		switch last := steps[len(steps)-1]; last.End {
		case Done, RepeatedCall, ToolFailures:
		default:
			t.Errorf("ended by %q: %v", last.End, err)
		}
		for _, m := range s.seen {
			for _, m := range m {
				if m.Role == "tool" && (!utf8.ValidString(m.Content) || len(m.Content) > 1200) {
					t.Errorf("a result of %d bytes: %q", len(m.Content), m.Content)
				}
			}
		}
	})
}

// FuzzSchema gives strangers' schemas and arguments to the validator.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"n":{"type":"integer","multipleOf":0.1}}}`, `{"n":3}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{}},"$ref":"#/$defs/a"}`, `{"a":1}`)
	f.Add(`{"patternProperties":{"^(a+)+$":{"const":1e3}}}`, `{"aaaaaaaaaaaaaaaaaaaaaaaa":1000}`)
	f.Add(`{"$id":"http://x.test/","$schema":"http://json-schema.org/draft-07/schema#"}`, `{}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		if len(schema) > 4096 || len(args) > 4096 {
			return
		}
		v, err := compile(Spec{Name: "a", Schema: json.RawMessage(schema)})
		if err != nil {
			is(t, err, ErrTool)
			return
		}
		if err := guardedCheck(v, args); err != nil {
			is(t, err, ErrArguments)
		}
	})
}

// guardedCheck validates as a run does.
func guardedCheck(v *validator, args string) error {
	_, err := guard(context.Background(), checkTime, func(context.Context) (struct{}, error) {
		return struct{}{}, v.check(json.RawMessage(args))
	})
	return err
}
