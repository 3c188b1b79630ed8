package grammar

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRefused: what cannot be compiled exactly is an error of its kind that
// names keyword and place.
func TestRefused(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 300) + `true` + strings.Repeat(`}`, 300)
	for _, c := range []struct {
		schema  string
		cause   error
		keyword string
		pointer string
	}{
		{`{"not":{"type":"string"}}`, ErrUnsupported, "not", "#"},
		{`{"properties":{"a/b":{"if":true,"then":false}}}`, ErrUnsupported, "if", "#/properties/a~1b"},
		{`{"items":{"uniqueItems":true}}`, ErrUnsupported, "uniqueItems", "#/items"},
		{`{"contains":{"type":"integer"}}`, ErrUnsupported, "contains", "#"},
		{`{"dependentRequired":{"a":["b"]}}`, ErrUnsupported, "dependentRequired", "#"},
		{`{"unevaluatedProperties":false}`, ErrUnsupported, "unevaluatedProperties", "#"},
		{`{"properties":{"a":{"$dynamicRef":"#"}}}`, ErrUnsupported, "$dynamicRef", "#/properties/a"},
		{`{"x-order":1}`, ErrUnsupported, "x-order", "#"},
		{`{"additionalItems":false}`, ErrUnsupported, "additionalItems", "#"},
		{`{"type":"string","format":"regex"}`, ErrUnsupported, "format", "#"},
		{`{"type":"integer","allOf":[{"type":"string","format":"int32"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{}}}}`, ErrUnsupported, "not", "#/$defs/a"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, ErrUnsupported, "$schema", "#"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","minLength":2,"definitions":{"a":{"type":"string"}}}`, ErrUnsupported, "minLength", "#"},
		{`{"type":"string","pattern":"(?=a)b"}`, ErrSchema, "pattern", "#"}, // nor by RE2
		{`{"type":"string","pattern":"\\bword"}`, ErrUnsupported, "pattern", "#"},
		{`{"type":"string","pattern":"^[[:alpha:]]$"}`, ErrUnsupported, "pattern", "#"},
		{`{"type":"string","pattern":"0{00}"}`, ErrUnsupported, "pattern", "#"},
		{`{"type":"string","pattern":"^{10}0"}`, ErrUnsupported, "pattern", "#"},
		{`{"type":"string","pattern":"(?i)a"}`, ErrUnsupported, "pattern", "#"},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, ErrUnsupported, "oneOf", "#"},
		{`{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`, ErrUnsupported, "oneOf", "#"},
		{`{"items":{"$ref":"https://example.com/s.json"}}`, ErrUnsupported, "$ref", "#/items"},
		{`{"$ref":"file:///etc/passwd"}`, ErrUnsupported, "$ref", "#"},
		{`{"$ref":"#/$defs/none"}`, ErrSchema, "$ref", "#"},
		{`{"type":"strnig"}`, ErrSchema, "type", "#"},
		{`{"minLength":-1}`, ErrSchema, "minLength", "#"},
		{`{"a":1,"a":2}`, ErrSchema, "", "#"},
		{`{"type":"string"`, ErrSchema, "", "#"},
		{"\"\xff\"", ErrSchema, "", "#"},
		{`12`, ErrSchema, "", "#"},
		{deep, ErrSchema, "", "#"},
		{`{"minimum":1e1000000000}`, ErrSchema, "", "#"},
		{`{"multipleOf":1e-999}`, ErrSchema, "", "#"},
		{`false`, ErrUnsatisfiable, "", "#"},
		{`{"type":"integer","minimum":1.2,"maximum":1.8}`, ErrUnsatisfiable, "", "#"},
		{`{"type":"string","pattern":"^a$","minLength":2}`, ErrUnsatisfiable, "", "#"},
		{`{"type":"object","required":["a"],"additionalProperties":false}`, ErrUnsatisfiable, "", "#"},
		{`{"type":"object","properties":{"n":{"$ref":"#"}},"required":["n"]}`, ErrUnsatisfiable, "", "#"},
		{`{"enum":["a"],"type":"integer"}`, ErrUnsatisfiable, "", "#"},
		{`{"allOf":[{"type":"string"},{"type":"number"}]}`, ErrUnsatisfiable, "", "#"},
		{`{"type":"array","items":false,"minItems":1}`, ErrUnsatisfiable, "", "#"},
		{`{"type":"object","minProperties":3,"maxProperties":2}`, ErrUnsatisfiable, "", "#"},
		{`{"type":"object","patternProperties":{"^[ab]$":true},"additionalProperties":false,"minProperties":3}`, ErrUnsatisfiable, "", "#"},
		{`{"type":"string","minLength":100000}`, ErrLimit, "", "#"},
		{`{"type":"string","pattern":"(a|b)*a(a|b){30}$"}`, ErrLimit, "pattern", "#"},
		{`{"type":"integer","multipleOf":99999999}`, ErrLimit, "multipleOf", "#"},
		{`{"type":"string","pattern":"a","minLength":10000000}`, ErrLimit, "pattern", "#"},
		{`{"type":"integer","minimum":1e100}`, ErrLimit, "minimum", "#"},
		{fmt.Sprintf(`{"anyOf":[%s{}],"allOf":[{"anyOf":[%s{}]}]}`, strings.Repeat(`{"minimum":1},`, 30), strings.Repeat(`{"maximum":1},`, 30)), ErrLimit, "", "#"},
	} {
		name := c.schema
		if len(name) > 100 {
			name = name[:100]
		}
		_, err := Compile([]byte(c.schema), nil)
		if !errors.Is(err, c.cause) {
			t.Errorf("%s: %v, want %v", name, err, c.cause)
			continue
		}
		var e *SchemaError
		if !errors.As(err, &e) {
			t.Errorf("%s: %T, want a *SchemaError", name, err)
			continue
		}
		if e.Keyword != c.keyword || e.Pointer != c.pointer {
			t.Errorf("%s: keyword %q at %s, want %q at %s (%v)", name, e.Keyword, e.Pointer, c.keyword, c.pointer, err)
		}
	}
}

// TestTools: errors name the tool.
func TestToolsRefused(t *testing.T) {
	for _, tools := range [][]Tool{nil, {{}}, {{Name: "a"}, {Name: "a"}}, {{Name: "\xff"}}} {
		if _, err := CompileTools(tools, nil); !errors.Is(err, ErrTools) {
			t.Errorf("%v: %v", tools, err)
		}
	}
	_, err := CompileTools([]Tool{{Name: "good"}, {Name: "bad", Schema: []byte(`{"properties":{"x":{"not":{}}}}`)}}, nil)
	var e *SchemaError
	if !errors.As(err, &e) || e.Tool != "bad" || e.Pointer != "#/properties/x" || !strings.Contains(err.Error(), `tool "bad"`) {
		t.Error(err)
	}
	if _, err := CompileTools([]Tool{{Name: "list", Schema: []byte(`{"type":"array"}`)}}, nil); !errors.Is(err, ErrUnsatisfiable) {
		t.Errorf("arguments that are no object: %v", err)
	}
	big := []byte(`{"title":"` + strings.Repeat("x", 1000) + `"}`)
	if _, err := CompileTools([]Tool{{Name: "a", Schema: big}, {Name: "b", Schema: big}}, &Options{MaxSchema: 1500}); !errors.Is(err, ErrLimit) {
		t.Errorf("MaxSchema: %v", err)
	}
}

// TestOptions: limits out of range, and what options change.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{Blanks: -1}, {Blanks: 65}, {MaxDepth: 1001}, {MaxNumber: 201}, {MaxBytes: -1}} {
		if _, err := Compile([]byte(`true`), &o); !errors.Is(err, ErrLimit) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	const nested = `{"type":"array","items":{"$ref":"#"}}`
	g := compileT(t, nested, &Options{MaxDepth: 3})
	if !accepts(g, []byte(`[[[]]]`)) || accepts(g, []byte(`[[[[]]]]`)) {
		t.Error("MaxDepth")
	}
	if _, err := Compile([]byte(`{"type":"array","minItems":1,"items":{"type":"array","minItems":1,"items":{"type":"array"}}}`), &Options{MaxDepth: 2}); !errors.Is(err, ErrLimit) {
		t.Errorf("MaxDepth: %v", err)
	}
	g = compileT(t, `{"type":"number"}`, &Options{MaxNumber: 5})
	if !accepts(g, []byte(`1.234`)) || accepts(g, []byte(`1.2345`)) {
		t.Error("MaxNumber")
	}
	g = compileT(t, `{"type":"string"}`, &Options{MaxBytes: 5})
	if !accepts(g, []byte(`"abc"`)) || accepts(g, []byte(`"abcd"`)) {
		t.Error("MaxBytes")
	}
	const object = `{"properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"type":"object"}`
	if g := compileT(t, object, &Options{Closed: true}); !accepts(g, []byte(`{"a":1}`)) || accepts(g, []byte(`{"c":1}`)) {
		t.Error("Closed")
	}
	if g := compileT(t, object, &Options{AnyOrder: true}); !accepts(g, []byte(`{"z":1,"b":1,"y":1,"a":1}`)) || accepts(g, []byte(`{"b":1,"a":1,"b":2}`)) {
		t.Error("AnyOrder")
	}
	if _, err := Compile([]byte(`{"x-order":1,"type":"integer","format":"int32"}`), &Options{Ignore: []string{"x-order", "format:int32"}}); err != nil {
		t.Error(err)
	}
	if _, err := Compile([]byte(`{"type":"string","enum":["a","b"]}`), &Options{MaxWork: 50}); !errors.Is(err, ErrLimit) {
		t.Errorf("MaxWork: %v", err)
	}
}

// TestDraft7: what draft 7 says otherwise.
func TestDraft7(t *testing.T) {
	const schema = `"$schema":"http://json-schema.org/draft-07/schema#"`
	g := compileT(t, `{`+schema+`,"type":"array","items":[{"type":"integer"},{"type":"string"}],"additionalItems":{"type":"null"}}`, nil)
	if !accepts(g, []byte(`[1,"a",null]`)) || accepts(g, []byte(`[1,"a",2]`)) || accepts(g, []byte(`["a"]`)) {
		t.Error("items")
	}
	g = compileT(t, `{`+schema+`,"$ref":"#/definitions/a","title":"beside","definitions":{"a":{"$id":"#b","type":"integer"}}}`, nil)
	if !accepts(g, []byte(`1`)) || accepts(g, []byte(`"a"`)) {
		t.Error("$ref")
	}
	if _, err := Compile([]byte(`{`+schema+`,"prefixItems":[true]}`), nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("prefixItems: %v", err)
	}
}

// TestHostileSchemas: what is large or doubles ends, well or in an error.
func TestHostileSchemas(t *testing.T) {
	repeat := func(n int, before string, each func(i int) string, after string) string {
		var b strings.Builder
		b.WriteString(before)
		for i := range n {
			b.WriteString(each(i))
		}
		b.WriteString(after)
		return b.String()
	}
	for name, schema := range map[string]string{
		"doubling": repeat(60, `{"$ref":"#/$defs/a0","$defs":{`, func(i int) string {
			return fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
		}, `"a60":{"type":"string"}}}`),
		"enum":          repeat(20000, `{"enum":[`, func(i int) string { return fmt.Sprintf(`"value%d",`, i) }, `1]}`),
		"properties":    repeat(2000, `{"type":"object","properties":{`, func(i int) string { return fmt.Sprintf(`"property%d":{"type":"string"},`, i) }, `"x":{}}}`),
		"nested":        strings.Repeat(`{"items":`, 190) + `true` + strings.Repeat(`}`, 190),
		"allOf":         repeat(20000, `{"allOf":[`, func(i int) string { return fmt.Sprintf(`{"properties":{"p%d":{"minimum":%d}}},`, i, i) }, `{}]}`),
		"literal":       `{"const":` + strings.Repeat(`[`, 190) + strings.Repeat(`]`, 190) + `}`,
		"minProperties": `{"type":"object","minProperties":1000000000}`,
		"minPattern":    `{"type":"object","patternProperties":{"^a+$":true},"additionalProperties":false,"minProperties":1000000000}`,
		"minItems":      `{"properties":{"a":{"type":"array","minItems":1000000000}}}`,
		"two keys":      `{"type":"object","patternProperties":{"^(a|x{900})$":true},"additionalProperties":false,"minProperties":2}`,
		"anchors":       repeat(5000, `{"$defs":{`, func(i int) string { return fmt.Sprintf(`"a%d":{"$anchor":"n%d","items":{"$ref":"#n%d"}},`, i, i, i) }, `"x":true},"$ref":"#n7"}`),
	} {
		g, err := Compile([]byte(schema), nil)
		if err != nil {
			if !errors.Is(err, ErrLimit) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		walk(t, name, g, smallVocabulary(), rand.New(rand.NewPCG(1, 1)))
	}
}

// TestManyWays: a text that can be read in more and more ways is let through as
// far as it can be followed, and then goes on in another way.
func TestManyWays(t *testing.T) {
	const doubling = `{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/A"}},{"type":"array","items":{"$ref":"#/$defs/A"},"maxItems":5}]}}}`
	v := smallVocabulary()
	legal := make([]uint64, v.words())
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := compileT(t, doubling, &Options{MaxBytes: 90}).NewMatcher(v)
		var text []byte
		most := 0
		for !m.Done() {
			if forced := m.Forced(); len(forced) > 0 {
				if err := m.AcceptBytes(forced); err != nil {
					t.Fatalf("forced %q after %q: %v", forced, text, err)
				}
				text = append(text, forced...)
				continue
			}
			if err := m.Mask(legal); err != nil {
				t.Fatalf("after %q: %v", text, err)
			}
			id := pick(legal, countBits(legal), r)
			if n := int('['); legal[n/64]>>(n%64)&1 != 0 {
				id = n
			}
			if err := m.Accept(id); err != nil {
				t.Fatalf("after %q the mask has %q, but: %v", text, v.bytes(int32(id)), err)
			}
			text = append(text, v.bytes(int32(id))...)
			most = max(most, len(m.threads))
		}
		if _, err := decodeStrict(text); err != nil || most <= maxThreads/4 {
			t.Errorf("%q: %v; at most %d threads", text, err, most)
		}
	}
}
