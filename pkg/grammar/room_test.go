package grammar

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestKeysNearTheEnd: wherever the room for the text ends, also inside a key of
// which all that begin like it came already, there is a legal token, and the
// text comes to a valid end.
func TestKeysNearTheEnd(t *testing.T) {
	v := smallVocabulary()
	walks := 120
	if testing.Short() {
		walks = 12
	}
	for n, schema := range []string{
		// A required key that is declared, beside kinds of others.
		`{"type":"object","properties":{"b":{"type":"null"},"key":{"type":"number"}},"required":["key"],"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":{"type":"integer","minimum":-808}}`,
		`{"type":"object","properties":{"key":{"type":"null"}},"required":["key"],"additionalProperties":{"type":"null"}}`,
		// Few keys of each length.
		`{"type":"object","patternProperties":{"^a+$":{"type":"null"}},"additionalProperties":false}`,
		`{"type":"object","patternProperties":{"^(ab)*$":{"type":"null"}},"additionalProperties":false}`,
		`{"type":"object","patternProperties":{"^[ab]+$":{"type":"null"}},"additionalProperties":false}`,
		`{"type":"object","patternProperties":{"^(a|x{40})$":{"type":"null"},"^b+$":{"const":"a long text"}},"additionalProperties":false}`,
		`{"type":"object","patternProperties":{"^[ab]{0,3}$":{"type":"null"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"aa":{"type":"null"}},"required":["aa"],"patternProperties":{"^a+$":{"type":"null"}},"additionalProperties":false}`,
		`{"type":"object","patternProperties":{"^a+$":{"type":"null"}},"additionalProperties":false,"minProperties":6}`,
		`{"type":"object","patternProperties":{"^a$|^b":{"type":"null"},"^c+$":{"type":"string","minLength":5}},"additionalProperties":false,"minProperties":5}`,
		`{"type":"object","propertyNames":{"pattern":"^(é|\\n)+$"},"minProperties":3,"additionalProperties":{"type":"null"}}`,
		`{"type":"array","items":{"type":"object","patternProperties":{"^a+$":{"$ref":"#"}},"additionalProperties":false,"minProperties":1}}`,
		// Any string, of kinds of which some take more.
		`{"type":"object","patternProperties":{"b$":{"const":"a text that takes more room than others"}},"additionalProperties":{"type":"null"}}`,
		`{"type":"object","properties":{"k":{"type":"null"}},"required":["k"],"patternProperties":{"^$":{"const":"a text that takes more room"},"^x":{"type":"object"}},"additionalProperties":{"type":"null"},"minProperties":3}`,
		`{"type":"string","pattern":"b{60}$"}`,
		// Two objects at once.
		`{"anyOf":[{"type":"object","patternProperties":{"^a+$":{"type":"null"}},"additionalProperties":false},{"type":"object","propertyNames":{"pattern":"^(aa)*$"},"additionalProperties":{"enum":[null,"a longer text"]},"minProperties":4}]}`,
	} {
		reference := validator(t, schema)
		for i := range walks {
			r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			g := compileT(t, schema, &Options{AnyOrder: i%2 == 1, Spaced: i%5 == 1, Blanks: i % 7 / 6, MaxBytes: 90 + r.IntN(400)})
			text := longWalk(t, fmt.Sprintf("%s, walk %d", schema, i), g, v, r)
			x, err := decodeStrict(text)
			if err != nil {
				t.Fatalf("%s: %s: %v", schema, text, err)
			}
			if err := reference.Validate(x); err != nil {
				t.Fatalf("%s: %s: %#v", schema, text, err)
			}
		}
	}
}

// longWalk follows masks at random, but ends nothing that can go on: no object,
// and few keys.
func longWalk(t testing.TB, what string, g *Grammar, v *Vocabulary, r *rand.Rand) []byte {
	t.Helper()
	m := g.NewMatcher(v)
	legal := make([]uint64, v.words())
	long := r.IntN(3)
	var text []byte
	for !m.Done() {
		if err := m.Mask(legal); err != nil {
			t.Fatalf("%s: after %q: %v", what, text, err)
		}
		ids := legalTokens(legal)
		id := ids[r.IntN(len(ids))]
		for range 12 {
			other := ids[r.IntN(len(ids))]
			if bytes.ContainsAny(v.bytes(int32(id)), "}]") || len(v.bytes(int32(id))) == 0 || r.IntN(2) < long && bytes.Contains(v.bytes(int32(id)), []byte{'"'}) {
				id = other
			}
		}
		if err := m.Accept(id); err != nil {
			t.Fatalf("%s: after %q the mask has %q, but: %v", what, text, v.bytes(int32(id)), err)
		}
		text = append(text, v.bytes(int32(id))...)
	}
	return text
}
