package grammar

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNearTheEnd: wherever the room for the text ends, in bytes or in tokens, also
// inside a key of which all that begin like it came already, there is a legal
// token, and the text comes to a valid end.
func TestNearTheEnd(t *testing.T) {
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
		`{"type":"string","pattern":"^[a-z]+$"}`,
		`{"type":"array","items":{"type":"string","pattern":"^[a-z]*[0-9]{20}$"}}`,
		// Two objects at once.
		`{"anyOf":[{"type":"object","patternProperties":{"^a+$":{"type":"null"}},"additionalProperties":false},{"type":"object","propertyNames":{"pattern":"^(aa)*$"},"additionalProperties":{"enum":[null,"a longer text"]},"minProperties":4}]}`,
	} {
		reference := validator(t, schema)
		for i := range walks {
			r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			o := &Options{AnyOrder: i%2 == 1, Spaced: i%5 == 1, Blanks: i % 7 / 6}
			tokens := 90 + r.IntN(400)
			if i%3 != 0 {
				o.MaxBytes, tokens = tokens, -1
			}
			g := compileT(t, schema, o)
			text := longWalk(t, fmt.Sprintf("%s, walk %d", schema, i), g, v, r, tokens)
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
// and few keys and strings. It may take so many tokens; -1: no bound.
func longWalk(t *testing.T, what string, g *Grammar, v *Vocabulary, r *rand.Rand, tokens int) []byte {
	t.Helper()
	m := g.NewMatcher(v)
	if err := m.LimitTokens(tokens); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	legal := make([]uint64, v.words())
	long := r.IntN(3)
	var text []byte
	for n := 0; !m.Done(); n++ {
		if tokens >= 0 && n > tokens {
			t.Fatalf("%s: more than %d tokens: %q", what, tokens, text)
		}
		if n%16 == 0 {
			checkMask(t, fmt.Sprintf("%s after %q", what, text), m)
		}
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

// TestLimitTokens: the bound that is set on the way.
func TestLimitTokens(t *testing.T) {
	v := smallVocabulary()
	legal := make([]uint64, v.words())
	g := compileT(t, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, nil)
	m := g.NewMatcher(v)
	if err := m.LimitTokens(7); !errors.Is(err, ErrLimit) { // {"a":""}
		t.Errorf("7 tokens for 8 bytes: %v", err)
	}
	if err := m.LimitTokens(8); err != nil {
		t.Fatal(err)
	}
	if err := m.AcceptBytes([]byte(`{"a":"x`)); !errors.Is(err, ErrLimit) {
		t.Errorf("a character too many: %v", err)
	}
	if err := m.LimitTokens(20); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"`, `a`, `":"`, "abc"} {
		if err := m.Mask(legal); err != nil || m.Limited() {
			t.Fatalf("%v, limited: %v", err, m.Limited())
		}
		if err := m.Accept(tokenOf(t, v, text)); err != nil {
			t.Fatal(err)
		}
	}
	// One more token, whatever its bytes, and "}.
	if err := m.LimitTokens(3); err != nil {
		t.Fatal(err)
	}
	if err := m.Mask(legal); err != nil || !m.Limited() {
		t.Fatalf("%v, limited: %v", err, m.Limited())
	}
	if err := m.Accept(tokenOf(t, v, `\\`)); err != nil {
		t.Errorf("a whole escape: %v", err)
	}
	c := m.Clone()
	checkMask(t, "two tokens are left", c)
	if err := c.Accept(tokenOf(t, v, "é")); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "1 tokens are left") {
		t.Errorf("the clone has more room: %v", err)
	}
	if err := c.Accept(tokenOf(t, v, `"}`)); err != nil || !c.Done() {
		t.Error(err)
	}
	if err := m.LimitTokens(-1); err != nil {
		t.Fatal(err)
	}
	if err := m.AcceptBytes([]byte(`abcdefghijklmnopqrstuvw"}`)); err != nil || !m.Done() {
		t.Error(err)
	}
	m.Reset()
	if m.Limited() {
		t.Error("limited before the first mask")
	}
}

// tokenOf returns the token of a text.
func tokenOf(t *testing.T, v *Vocabulary, text string) int {
	t.Helper()
	for id := range v.size {
		if string(v.bytes(int32(id))) == text {
			return id
		}
	}
	t.Fatalf("no token %q", text)
	return -1
}
