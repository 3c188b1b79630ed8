package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// unseenSchemas are odd ones, keyword by keyword, each with texts in canonical
// spelling: jsonschema/v5 says which of them are valid.
var unseenSchemas = []struct{ schema, texts string }{
	// Recursion, nested and by way of other definitions; references beside keywords.
	{`{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","properties":{"v":{"$ref":"#/$defs/v"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"},"maxItems":2}},"required":["v"],"additionalProperties":false},"v":{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#/$defs/v"},"maxItems":1}]}}}`,
		`{"v":1} {"v":[[2]],"kids":[{"v":3},{"v":4,"kids":[]}]} {"v":[1,2]} {"kids":[]} {"v":1,"kids":[1]} {"v":1.5} {"v":1,"x":2}`},
	{`{"type":"object","properties":{"a":{"$ref":"#/properties/b","maximum":5},"b":{"type":"integer","minimum":2}},"additionalProperties":false}`,
		`{} {"a":2,"b":9} {"a":6} {"a":1} {"b":1} {"a":5}`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n"}},"type":"object","additionalProperties":false,"definitions":{"n":{"type":"integer","exclusiveMaximum":7}}}`,
		`{"a":6} {"a":7} {"a":"x"} {}`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"string"},{"type":"null"}],"additionalItems":{"type":"boolean"},"minItems":1}`,
		`["a"] ["a",null] ["a",null,true,false] ["a",null,1] [] [null] ["a",true]`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"string"}],"additionalItems":false}`, `[] ["a"] ["a","b"] [1]`},
	{`{"type":"array","prefixItems":[{"const":1},{"enum":["x",null]}],"items":false}`, `[] [1] [1,"x"] [1,null] [1,"x",2] [2]`},
	{`{"$defs":{"a":{"$defs":{"b":{"type":"string","maxLength":2}},"properties":{"q":{"$ref":"#/$defs/a/$defs/b"}},"type":"object","additionalProperties":false}},"$ref":"#/$defs/a"}`, `{} {"q":"ab"} {"q":"abc"} {"r":1}`},
	{`{"type":"array","items":{"$ref":"#/$defs/a~1b%20c"},"$defs":{"a/b c":{"enum":["x~"]}},"maxItems":2}`, `[] ["x~"] ["x~","x~"] ["x"] ["x~","x~","x~"]`},
	// Merges.
	{`{"allOf":[{"type":"object","properties":{"a":{"type":"number","minimum":1}},"required":["a"]},{"properties":{"a":{"type":"integer","maximum":3},"b":{"type":"string"}},"required":["b"]},{"additionalProperties":{"maxLength":3}}]}`,
		`{"a":1,"b":"abc"} {"a":4,"b":""} {"a":1.5,"b":""} {"a":2,"b":"abcd"} {"a":2}`},
	{`{"allOf":[{"type":["integer","string"]},{"type":["string","number"],"pattern":"^a","maximum":7},{"maxLength":2,"multipleOf":3}]}`, `3 6 9 4 "a" "ab" "abc" "b" -3 0`},
	{`{"type":"string","allOf":[{"pattern":"^[a-f]+$"},{"pattern":"c"},{"minLength":2}]}`, `"ac" "c" "abc" "ab" "cg"`},
	{`{"type":"integer","allOf":[{"multipleOf":4},{"multipleOf":6}],"minimum":-30,"exclusiveMaximum":36}`, `0 12 24 36 -24 -36 4 6 18`},
	{`{"anyOf":[{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k","n"],"additionalProperties":false},{"type":"object","properties":{"k":{"enum":["b","c"]},"s":{"type":"string"}},"required":["k"],"additionalProperties":false},{"type":"array","items":{"type":"null"},"maxItems":2}]}`,
		`{"k":"a","n":1} {"k":"b"} {"k":"c","s":""} {"k":"a","s":""} {"k":"b","n":1} [] [null,null] [null,null,null] {}`},
	{`{"oneOf":[{"type":"integer","minimum":10},{"type":"integer","maximum":-10},{"type":"string"}]}`, `10 -10 9 0 "x" 10.5 null`},
	// Values of structure.
	{`{"enum":[{"a":[1,{"b":null}],"c":"é"},[[],{}],"x",-0.5,1e30,true]}`, `{"a":[1,{"b":null}],"c":"é"} [[],{}] "x" -0.5 1e+30 true {"a":[1,{"b":null}]} [[]] false {}`},
	{`{"const":{"z":1,"a":{"y":[]}}}`, `{"z":1,"a":{"y":[]}} {"z":1} {"z":1,"a":{"y":[0]}}`},
	{`{"type":"object","properties":{"o":{"enum":[{"x":1},{"x":2,"y":3},{}]}},"required":["o"],"additionalProperties":false}`, `{"o":{"x":1}} {"o":{"x":2,"y":3}} {"o":{}} {"o":{"x":2}} {"o":{"x":1,"y":3}}`},
	// Numbers.
	{`{"type":"number","multipleOf":0.01,"minimum":-1,"maximum":1}`, `0 0.01 -0.99 1 1.01 0.001 -1 0.5 0.50 0.123`},
	{`{"type":"number","multipleOf":0.125}`, `0 0.125 0.25 0.1 -3.875 12 0.0625`},
	{`{"type":"number","multipleOf":2.5e-3,"exclusiveMinimum":0,"maximum":1e2}`, `0.0025 0.005 0 100 100.0025 0.001 7.5`},
	{`{"type":"integer","minimum":123456789012345678901234567890,"maximum":123456789012345678901234567999}`, `123456789012345678901234567890 123456789012345678901234567889 123456789012345678901234567999 123456789012345678901234568000 12345678901234567890123456789`},
	{`{"type":"integer","multipleOf":1009}`, `0 1009 2018 -1009 1010 1009000`},
	{`{"type":"integer","exclusiveMinimum":-1.5,"exclusiveMaximum":2}`, `-1 0 1 2 -2 1.5`},
	{`{"type":"number","exclusiveMinimum":-1e-9,"exclusiveMaximum":1e-9}`, `0 1e-10 -1e-10 1e-9 -1e-9 0.1 9.99e-10`},
	{`{"type":"number","minimum":1e21,"maximum":5e25}`, `1e+21 4.9e+25 5e+25 5.1e+25 9e+20 2e+22`},
	{`{"type":"number","minimum":1e-8,"maximum":0.5}`, `1e-8 7e-7 0.5 1e-9 0.51 0 9.5e-8 5 1.5e-7 1e+21`},
	{`{"type":"number","minimum":-1200,"exclusiveMaximum":-3e-7}`, `-1200 -3.1e-7 -3e-7 -1 -0.5 0 -1e+21 -9e-7 -1e-7 3.1e-7`},
	{`{"type":"number","minimum":0.30000000000000004}`, `0.3 0.30000000000000004 0.4 1 -1 0.30000000000000005`},
	// Strings.
	{`{"type":"string","minLength":2,"maxLength":3}`, `"ab" "a" "abcd" "😀😀" "😀" "\"\\" "\n\t\u0001" "éé"`},
	{`{"type":"string","pattern":"^[^\\W_]+[-.]?\\d*$"}`, `"ab-1" "a" "_" "-" "a.12" "a-b" ""`},
	{`{"type":"string","pattern":"^(?:[A-Z]{2}\\d{3,}|x\\.y)$","maxLength":7}`, `"AB123" "AB12" "x.y" "xzy" "AB12345" "AB123456"`},
	{`{"type":"string","pattern":"[à-ÿ]$","minLength":2}`, `"aé" "é" "éa" "aÿ" "ae"`},
	{`{"type":"string","pattern":"^\\$[a-z]+(?:\\|[a-z]+)*$"}`, `"$a" "$a|b" "a" "$" "$a|"`},
	{`{"type":"string","format":"date","pattern":"^20"}`, `"2024-02-29" "2023-02-29" "1999-01-01" "2000-12-31" "2024-2-9"`},
	{`{"type":"string","format":"ipv4"}`, `"1.2.3.4" "255.255.255.255" "256.1.1.1" "1.2.3" "01.2.3.4"`},
	{`{"type":"string","format":"uuid","maxLength":36}`, `"123e4567-e89b-12d3-a456-426614174000" "123e4567e89b12d3a456426614174000"`},
	{`{"type":"string","format":"date-time"}`, `"2024-05-06T07:08:09Z" "2024-05-06T07:08:09.5+02:00" "2024-05-06 07:08:09Z" "2024-13-06T07:08:09Z"`},
	// Keys.
	{`{"type":"object","propertyNames":{"pattern":"^[a-z]{1,3}$"},"additionalProperties":{"type":"integer"},"minProperties":1,"maxProperties":2}`, `{"a":1} {"abc":1,"b":2} {} {"abcd":1} {"a":1,"b":2,"c":3} {"A":1} {"a":"x"}`},
	{`{"type":"object","patternProperties":{"^n_":{"type":"integer"},"_s$":{"type":["string","integer"]}},"additionalProperties":false}`, `{"n_a":1} {"b_s":"x"} {"n_s":1} {"n_s":"x"} {"c":1} {}`},
	{`{"type":"object","properties":{"n_x":{"minimum":5}},"patternProperties":{"^n_":{"type":"integer"}},"additionalProperties":{"type":"null"}}`, `{"n_x":5} {"n_x":4} {"n_y":1} {"z":null} {"z":1} {"n_x":5,"z":null}`},
	{`{"type":"object","properties":{"a\"b":{"const":1},"é":{"const":2},"\u0001":{"const":3}},"additionalProperties":false,"minProperties":2}`, `{"a\"b":1,"é":2} {"a\"b":1} {"é":2,"\u0001":3} {"a\"b":2,"é":2}`},
	{`{"type":"object","required":["q"],"additionalProperties":{"type":"boolean"}}`, `{"q":true} {} {"q":1} {"q":false,"r":true}`},
	{`{"properties":{"a":false,"b":true},"type":"object","additionalProperties":false}`, `{} {"b":[1]} {"a":1}`},
	{`{"type":["object","null"],"properties":{"a":{"type":"string","const":"x"}},"required":["a"],"additionalProperties":false}`, `null {"a":"x"} {} {"a":"y"}`},
	{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}},"required":["b"],"additionalProperties":false},"minItems":1}},"required":["a"],"additionalProperties":false}`, `{"a":[{"b":[1,2]}]} {"a":[]} {"a":[{"b":[1]}]} {"a":[{"b":[1,2]},{"b":[3,4]}]}`},
}

// TestUnseenSchemas: jsonschema/v5 and the grammar agree about each text, and
// whatever a random walk writes is valid, in schema order and in any order.
func TestUnseenSchemas(t *testing.T) {
	v := smallVocabulary()
	walks := 60
	if testing.Short() {
		walks = 6
	}
	for n, c := range unseenSchemas {
		reference := validator(t, c.schema)
		g := compileT(t, c.schema, nil)
		good, bad := 0, 0
		for _, text := range splitTexts(c.texts) {
			x, err := decodeStrict([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			want := reference.Validate(x) == nil
			m := g.NewMatcher(nil)
			got := m.AcceptBytes([]byte(text)) == nil && m.Complete()
			if got != want {
				t.Errorf("%s: %s: the grammar says %v, jsonschema/v5 %v", c.schema, text, got, want)
			}
			if want {
				good++
			} else {
				bad++
			}
		}
		if good == 0 || bad == 0 {
			t.Errorf("%s: %d texts are valid and %d are not: some of both are needed", c.schema, good, bad)
		}
		for i := range walks {
			r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			o := &Options{AnyOrder: i%2 == 1, Spaced: i%5 == 1, Blanks: i % 7 / 6, MaxBytes: 800}
			text := walk(t, fmt.Sprintf("%s, walk %d", c.schema, i), compileT(t, c.schema, o), v, r)
			x, err := decodeStrict(text)
			if err != nil {
				t.Fatalf("%s: %s: %v", c.schema, text, err)
			}
			if err := reference.Validate(x); err != nil {
				t.Fatalf("%s: %s: %#v", c.schema, text, err)
			}
		}
	}
}

// splitTexts splits JSON texts that follow each other.
func splitTexts(s string) (texts []string) {
	for d := json.NewDecoder(strings.NewReader(s)); ; {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return texts
		}
		texts = append(texts, string(raw))
	}
}

// TestUnseenRefusals: what cannot be exact is an error that names the keyword and
// where it stands.
func TestUnseenRefusals(t *testing.T) {
	for _, c := range []struct{ schema, pointer, word string }{
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?=x)"}}}`, "#/properties/a", "pattern"},
		{`{"type":"string","pattern":"(a)\\1"}`, "#", "pattern"},
		{`{"type":"string","pattern":"(?<!a)b"}`, "#", "pattern"},
		{`{"type":"string","pattern":"\\bword"}`, "#", "pattern"},
		{`{"type":"array","items":{"not":{"type":"string"}}}`, "#/items", "not"},
		{`{"type":"array","uniqueItems":true}`, "#", "uniqueItems"},
		{`{"type":"array","contains":{"const":1}}`, "#", "contains"},
		{`{"type":"object","properties":{"x":{"if":{"const":1},"then":false}}}`, "#/properties/x", "if"},
		{`{"type":"object","dependentRequired":{"a":["b"]}}`, "#", "dependentRequired"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","dependencies":{"a":["b"]}}`, "#", "dependencies"},
		{`{"type":"object","unevaluatedProperties":false,"properties":{"a":{}}}`, "#", "unevaluatedProperties"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","maximum":5}},"definitions":{"n":{}}}`, "#/properties/a", "maximum"},
		{`{"type":"array","items":{"type":"integer","multipleOf":1000000007}}`, "#/items", "multipleOf"}, // so many states
		{`{"$ref":"other.json"}`, "#", "$ref"},
		{`{"$ref":"http://example.com/s.json#/x"}`, "#", "$ref"},
		{`{"$ref":"#/$defs/none"}`, "#", "$ref"},
		{`{"$ref":"#"}`, "#", "$ref"},
		{`{"type":"string","format":"idn-email"}`, "#", "format"},
		{`{"oneOf":[{"type":"integer"},{"type":"number","minimum":3}]}`, "#", "oneOf"},
	} {
		_, err := Compile([]byte(c.schema), nil)
		var e *SchemaError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, expected a SchemaError", c.schema, err)
			continue
		}
		if !strings.Contains(err.Error(), c.word) || !strings.HasPrefix(e.Pointer, c.pointer) {
			t.Errorf("%s: %v, expected %s at %s", c.schema, err, c.word, c.pointer)
		}
	}
}

// TestNumbersAtBounds: whatever the bounds, a number as encoding/json prints it is
// let through if it is valid by jsonschema/v5, and refused if it is not.
func TestNumbersAtBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	number := func() float64 {
		x := float64(r.IntN(2000)-1000) * math.Pow10(r.IntN(5)-2)
		if r.IntN(2) == 0 {
			x *= math.Pow10(r.IntN(60) - 30)
		}
		return x
	}
	text := func(x float64) string {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	bounds := 400
	if testing.Short() {
		bounds = 40
	}
	for range bounds {
		lo, hi := number(), number()
		schema := map[string]any{"type": "number"}
		if r.IntN(4) > 0 {
			schema[[]string{"minimum", "exclusiveMinimum"}[r.IntN(2)]] = json.RawMessage(text(min(lo, hi)))
		}
		if r.IntN(4) > 0 {
			schema[[]string{"maximum", "exclusiveMaximum"}[r.IntN(2)]] = json.RawMessage(text(max(lo, hi)))
		}
		data, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		reference := validator(t, string(data))
		g, err := Compile(data, nil)
		if errors.Is(err, ErrUnsatisfiable) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		for i := range 60 {
			x := []float64{lo, hi, (lo + hi) / 2, lo / 10, hi / 10, 10 * lo, 10 * hi, -lo, -hi, math.Nextafter(lo, 0), math.Nextafter(hi, 0), math.Nextafter(lo, math.Inf(1)), math.Nextafter(hi, math.Inf(-1)), 0, number()}[min(i, 14)]
			m := g.NewMatcher(nil)
			got := m.AcceptBytes([]byte(text(x))) == nil && m.Complete()
			if want := reference.Validate(json.Number(text(x))) == nil; got != want {
				t.Errorf("%s: %s: the grammar says %v, jsonschema/v5 %v", data, text(x), got, want)
			}
		}
	}
}
