package grammar

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"testing"
)

// FuzzCompile: no schema makes Compile panic, or give an error of another kind;
// and what it compiles lets through only what the reference library finds valid.
func FuzzCompile(f *testing.F) {
	for _, tool := range hundredTools(f) {
		f.Add([]byte(tool.Schema), uint64(1))
	}
	for seed := range uint64(40) {
		s := &schemaMaker{r: rand.New(rand.NewPCG(seed, 7))}
		f.Add([]byte(s.document()), seed)
	}
	var file struct {
		Cases []struct{ Schema json.RawMessage }
	}
	if data, err := os.ReadFile("testdata/cases.json"); err != nil || json.Unmarshal(data, &file) != nil {
		f.Fatal("testdata/cases.json")
	}
	for _, c := range file.Cases {
		f.Add([]byte(c.Schema), uint64(2))
	}
	f.Fuzz(func(t *testing.T, schema []byte, seed uint64) {
		g, err := Compile(schema, &Options{MaxWork: 300000, MaxBytes: 1000, AnyOrder: seed%3 == 0})
		if err != nil {
			var e *SchemaError
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		v := smallVocabulary()
		reference := validator(t, string(schema))
		r := rand.New(rand.NewPCG(seed, 8))
		for range 3 {
			text := walk(t, string(schema), g, v, r)
			x, err := decodeStrict(text)
			if err != nil {
				t.Fatalf("%s lets through %q: %v", schema, text, err)
			}
			if err := reference.Validate(x); err != nil {
				t.Fatalf("%s lets through %q: %#v", schema, text, err)
			}
		}
	})
}

// FuzzAcceptBytes: whatever bytes a matcher is fed, it accepts only JSON that is
// valid, the same at once and byte by byte.
func FuzzAcceptBytes(f *testing.F) {
	schemas := []string{
		`true`, `{"type":"string","maxLength":3}`, `{"type":"number","multipleOf":0.25,"minimum":-3.5,"exclusiveMaximum":1e3}`,
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","pattern":"^a.*z$"}},"required":["b"]}`,
		`{"type":"array","items":{"anyOf":[{"type":"integer","minimum":5,"maximum":123},{"type":"object","additionalProperties":{"type":"null"}},{"type":"object","properties":{"k":{"$ref":"#"}},"required":["k"]}]}}`,
		`{"type":"string","format":"date-time"}`, `{"type":"object","patternProperties":{"^[ab]{1,2}$":{"type":"integer"}},"additionalProperties":false}`,
	}
	for i, text := range []string{`{"a":[1,2.5e3,"\ud83d\ude00",null,true]}`, `"\u0041é"`, `0.25`, `{"a":-1,"b":"az","c":{}}`, `[{"k":[5]},{"x":null},7]`, `"2024-02-29T23:59:60Z"`, `{"a":1,"ab":2}`} {
		f.Add(uint8(i), []byte(text))
	}
	var grammars []*Grammar
	for _, s := range schemas {
		grammars = append(grammars, compileT(f, s, nil))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		i := int(which) % len(schemas)
		if !accepts(grammars[i], text) {
			return
		}
		x, err := decodeStrict(text)
		if err != nil {
			t.Fatalf("%s accepts %q: %v", schemas[i], text, err)
		}
		if err := validator(t, schemas[i]).Validate(x); err != nil {
			t.Fatalf("%s accepts %q: %#v", schemas[i], text, err)
		}
	})
}
