package grammar

import (
	"errors"
	"strings"
	"testing"
)

// TestRows runs faults of other projects, by the row that describes each kind.
func TestRows(t *testing.T) {
	const text = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	const one = `{"type":"object","properties":{"a":{"type":"string","maxLength":1}},"required":["a"],"additionalProperties":false}`
	const rangeSchema = `{"type":"integer","minimum":-3,"exclusiveMaximum":12}`
	const optional = `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"}},"required":["b"],"additionalProperties":false}`
	const free = `{"type":"object","properties":{"a":{"const":"foo"},"b":{"const":"bar"}},"required":["b"]}`
	for _, c := range []struct {
		row, schema string
		accept      []string
		refuse      []string
	}{
		{"G1", text, []string{"{\"a\":\"\x7f\"}", `{"a":"` + "\u0080" + `"}`, `{"a":"` + "\u2028" + `"}`, `{"a":"\u001b"}`}, []string{"{\"a\":\"\x1b\"}", "{\"a\":\"\x00\"}", "{\"a\":\"\x1f\"}", "{\"a\":\"\n\"}"}},
		{"G4", one, []string{`{"a":"\n"}`, `{"a":"\""}`, `{"a":"\\"}`, `{"a":"\u0041"}`, `{"a":"\ud83d\ude00"}`, `{"a":"😀"}`, `{"a":""}`}, []string{"{\"a\":\"\t\"}", `{"a":"\n\n"}`, `{"a":"\ud83d\ude00x"}`, `{"a":"ab"}`, `{"a":"\ud83d"}`, `{"a":"\ude00"}`, `{"a":"\ud83d\u0041"}`}},
		{"G6", text, []string{"{\"a\":\"\xf0\x9f\x98\x80\"}"}, []string{"{\"a\":\"\xf0\x9f\x98\"}", "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xc0\xaf\"}", "{\"a\":\"\xf4\x90\x80\x80\"}", "{\"a\":\"\xe0\x80\x80\"}", "{\"a\":\"\xff\"}"}},
		{"G8", `{"type":"number"}`, []string{"0", "-0", "-12", "0.50", "1e5", "1E+2", "-0e20", "1.7976931348623157e+308", "5e-324", "300.52"}, []string{"012", "-012", "00", "+1", "1.", ".5", "-", "1e", "0x10", "1_0", "NaN", "Infinity", "1e999", "1.8e308"}},
		{"G10", rangeSchema, []string{"-3", "-1", "0", "-0", "9", "10", "11"}, []string{"-4", "12", "13", "20", "100", "-10", "1.5", "1.0", "1e1"}},
		{"G12", `{"type":["boolean","null"]}`, []string{"true", "false", "null"}, []string{"True", "None", "nul", "truee"}},
		{"G15", `{"type":"object","properties":{"a":{"$ref":"#/$defs/E"}},"required":["a"],"$defs":{"E":{"enum":["x","y"]}}}`, []string{`{"a":"x"}`, `{"a":"y"}`}, []string{`{"a":{"z":1}}`, `{"a":"z"}`, `{"a":"xy"}`}},
		{"G17", free, []string{`{"b":"bar"}`, `{"a":"foo","b":"bar"}`, `{"b":"bar","z":1}`, `{"b":"bar","aa":"BAD"}`, `{"b":"bar","":null}`}, []string{`{"b":"bar","a":"BAD"}`, `{"b":"bar","a":"foo"}`, `{"b":"bar","\u0061":"foo"}`, `{"b":"bar","z":1,"z":2}`, `{"b":"bar","z":1,"\u007a":2}`, `{"b":"bar","b":"bar"}`}},
		{"G19", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}`, []string{`{"a":1,"b":2}`}, []string{`{"a":1}`, `{}`, `{"b":2}`}},
		{"G20", optional, []string{`{"b":1}`, `{"a":1,"b":1}`, `{"b":1,"c":1}`, `{"a":1,"b":1,"c":1}`}, []string{`{,"b":1}`, `{"b":1,}`, `{"a":1}`, `{"b":1,,"c":1}`, `{"a":1 "b":1}`}},
		{"G23", `{"type":"string","pattern":"^(anon-)?\\d{3}$"}`, []string{`"anon-123"`, `"123"`}, []string{`"anon-12"`, `"1234"`, `"anon123"`}},
		{"G23 slash", `{"type":"string","pattern":"^https:\\/\\/x"}`, []string{`"https://x"`, `"https://xyz"`}, []string{`"http://x"`}},
		{"G23 hyphen", `{"type":"string","pattern":"^[a\\-z]+$"}`, []string{`"a-z"`, `"-"`}, []string{`"b"`, `""`}},
		{"G25", text, []string{`{"a":"x"}`}, []string{"{" + strings.Repeat(" ", 1000) + `"a":"x"}`}},
	} {
		g := compileT(t, c.schema, nil)
		for _, s := range c.accept {
			if !accepts(g, []byte(s)) {
				t.Errorf("%s: %q is refused", c.row, s)
			}
		}
		for _, s := range c.refuse {
			if accepts(g, []byte(s)) {
				t.Errorf("%s: %q is accepted", c.row, s)
			}
		}
	}
}

// G25: blanks are bounded where they are allowed at all.
func TestBlanks(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"required":["a"],"additionalProperties":false}`
	for _, c := range []struct {
		o      Options
		accept []string
		refuse []string
	}{
		{Options{}, []string{`{"a":[1,2]}`}, []string{`{"a": [1,2]}`, ` {"a":[]}`, `{"a":[]} `}},
		{Options{Spaced: true}, []string{`{"a": [1, 2]}`, `{"a": []}`}, []string{`{"a":[1, 2]}`, `{"a": [1,2]}`, `{"a":  [1, 2]}`, `{ "a": []}`}},
		{Options{Blanks: 2}, []string{`{"a":[1,2]}`, "\n\n{ \t\"a\"\r\n:  [ 1 , 2 ]  } ", "{\n \"a\": [\n ]\n}"}, []string{`{   "a":[]}`, `   {"a":[]}`, `{"a":[1   ]}`, `{"a":[]}   `, "{\v\"a\":[]}"}},
		{Options{Spaced: true, Blanks: 1}, []string{`{"a":  [1, 2] }`, `{"a": [1]}`}, []string{`{"a":[1]}`, `{"a":   [1]}`}},
	} {
		g := compileT(t, schema, &c.o)
		for _, s := range c.accept {
			if !accepts(g, []byte(s)) {
				t.Errorf("%+v: %q is refused", c.o, s)
			}
		}
		for _, s := range append(c.refuse, "{"+strings.Repeat(" ", 1000)+`"a":[]}`) {
			if accepts(g, []byte(s)) {
				t.Errorf("%+v: %q is accepted", c.o, s)
			}
		}
	}
}

// G6: in the middle of a character only its continuation is legal.
func TestMaskInsideCharacter(t *testing.T) {
	v := smallVocabulary()
	for _, schema := range []string{`{"type":"string"}`, `{"type":"string","maxLength":3}`, `{"type":"string","pattern":"^😀+$"}`, `{"type":"string","pattern":"😀"}`} {
		m := compileT(t, schema, nil).NewMatcher(v)
		if err := m.AcceptBytes([]byte("\"\xf0\x9f")); err != nil {
			t.Fatal(schema, err)
		}
		legal := make([]uint64, v.words())
		if err := m.Mask(legal); err != nil {
			t.Fatal(err)
		}
		ids := legalTokens(legal)
		for _, id := range ids {
			if b := v.bytes(int32(id)); len(b) == 0 || b[0] < 0x80 || b[0] > 0xbf {
				t.Errorf("%s: %q is legal inside a character", schema, b)
			}
		}
		if len(ids) == 0 {
			t.Errorf("%s: nothing is legal", schema)
		}
	}
}

// G17: no state from which a key can only be escaped or made longer.
func TestNoTrapAtQuote(t *testing.T) {
	v := smallVocabulary()
	g := compileT(t, `{"type":"object","properties":{"a":{"const":"foo"},"b":{"const":"bar"}},"required":["b"]}`, nil)
	m := g.NewMatcher(v)
	if err := m.AcceptBytes([]byte(`{"b":"bar","a`)); err != nil {
		t.Fatal(err)
	}
	legal := make([]uint64, v.words())
	if err := m.Mask(legal); err != nil {
		t.Fatal(err)
	}
	if legal['"'/64]>>('"'%64)&1 != 0 {
		t.Error(`the quote is legal after "a`)
	}
	if legal['z'/64]>>('z'%64)&1 == 0 {
		t.Error(`z is not legal after "a`)
	}
}

// G27: end-of-sequence is legal at the end only, and its text counts for
// nothing; the same for one call and token by token.
func TestEndOfSequence(t *testing.T) {
	v := smallVocabulary()
	eos := v.eos[0]
	g := compileT(t, `{"type":"array","items":{"type":"string"},"maxItems":1}`, nil)
	m := g.NewMatcher(v)
	legal := make([]uint64, v.words())
	for _, c := range `["<|end|>"]` {
		if err := m.Mask(legal); err != nil {
			t.Fatal(err)
		}
		if legal[eos/64]>>(eos%64)&1 != 0 {
			t.Fatalf("the end is legal before %q", c)
		}
		if err := m.Accept(eos); !errors.Is(err, ErrRefused) {
			t.Fatalf("the end is accepted before %q: %v", c, err)
		}
		if err := m.Accept(int(c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Mask(legal); err != nil {
		t.Fatal(err)
	}
	if ids := legalTokens(legal); len(ids) != len(v.eos) || ids[0] != v.eos[0] || ids[1] != v.eos[1] {
		t.Errorf("at the end %v is legal, expected %v", ids, v.eos)
	}
	if !m.Done() || !m.Complete() {
		t.Error("not done")
	}
	if err := m.Accept(eos); err != nil || !m.Done() {
		t.Error(err)
	}
	if err := m.Mask(legal); err != nil || len(legalTokens(legal)) != 2 {
		t.Error("after the end", err)
	}
	if err := m.AcceptBytes([]byte("x")); !errors.Is(err, ErrRefused) {
		t.Error("text after the end:", err)
	}
	// A number can end and go on.
	m = compileT(t, `{"type":"integer"}`, nil).NewMatcher(v)
	if err := m.AcceptBytes([]byte("12")); err != nil {
		t.Fatal(err)
	}
	if err := m.Mask(legal); err != nil || legal[eos/64]>>(eos%64)&1 == 0 || legal['0'/64]>>('0'%64)&1 == 0 || m.Done() {
		t.Error("after a number both its end and a digit are legal", err)
	}
}

// G31: one call of a declared tool, and nothing else.
func TestToolCall(t *testing.T) {
	tools := []Tool{
		{Name: "read", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "read_file", Schema: []byte(`{"properties":{"x":{"type":"boolean"}},"required":["x"],"additionalProperties":false}`)},
		{Name: "now"},
		{Name: `odd "name"`, Schema: []byte(`true`)},
	}
	g, err := CompileTools(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		`{"name":"read","arguments":{"path":"/a"}}`, `{"name":"read","arguments":{"path":"/a","n":1}}`, `{"name":"read_file","arguments":{"x":true}}`,
		`{"name":"now","arguments":{}}`, `{"name":"odd \"name\"","arguments":{"any":[1,{"b":null}]}}`,
	} {
		if !accepts(g, []byte(s)) {
			t.Errorf("%s is refused", s)
		}
	}
	for _, s := range []string{
		`{"name":"rm","arguments":{}}`, `{"name":"read","arguments":{"x":true}}`, `{"name":"read_file","arguments":{"path":"/a"}}`, `{"name":"read","arguments":{}}`,
		`{"name":"now","arguments":{"a":1}}`, `{"name":"now"}`, `{"arguments":{},"name":"now"}`, `{"name":"now","arguments":{}}{"name":"now","arguments":{}}`,
		`{"name":"now","arguments":{}} and`, `{"name":"odd \"name\"","arguments":[]}`, `{"name":"odd \"name\"","arguments":"x"}`, `{"name":"now","arguments":{},"x":1}`,
		`[{"name":"now","arguments":{}}]`, `{"name":"read","arguments":{"path":"/a","path":"/b"}}`, `{"name":"read","arguments":{"p\u0061th":"/a"}}`,
	} {
		if accepts(g, []byte(s)) {
			t.Errorf("%s is accepted", s)
		}
	}
	any, err := CompileTools(tools, &Options{AnyOrder: true, Spaced: true})
	if err != nil {
		t.Fatal(err)
	}
	if !accepts(any, []byte(`{"name": "read", "arguments": {"n": 1, "path": "/a"}}`)) {
		t.Error("any order")
	}
	if accepts(any, []byte(`{"name": "read", "arguments": {"n": 1, "n": 2, "path": "/a"}}`)) || accepts(any, []byte(`{"name": "read", "arguments": {"n": 1}}`)) {
		t.Error("any order is no licence")
	}
}
