package grammar

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestCases runs the cases of testdata/cases.json: faults that other projects
// met. Each names the oracle that gave the answer. A value that is to be
// accepted may be spelled in one way only; here the texts are compact, in the
// order of the schema, except where spellings lists another.
func TestCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID, Hex, Want, Note string
			Schema              json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	// Integers have no fraction, so that they decode into a Go int.
	spellings := map[string]string{
		"int-1.0": `{"a":1}`,
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			text, err := hex.DecodeString(c.Hex)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Compile(c.Schema, nil)
			if err != nil {
				if c.Want != "reject" || !strings.Contains(err.Error(), "oneOf") {
					t.Fatal(err)
				}
				return
			}
			if s := spellings[c.ID]; s != "" {
				text = []byte(s)
			}
			if got := accepts(g, text); got != (c.Want == "accept") {
				t.Errorf("%s: accepted is %v, want %s (%s)", text, got, c.Want, c.Note)
			}
		})
	}
	if len(file.Cases) < 60 {
		t.Errorf("only %d cases", len(file.Cases))
	}
}

// accepts reports whether text is one of the grammar's, read at once and byte by
// byte.
func accepts(g *Grammar, text []byte) bool {
	m := g.NewMatcher(nil)
	one := m.AcceptBytes(text) == nil && m.Complete()
	m.Reset()
	each := true
	for i := range text {
		each = each && m.AcceptBytes(text[i:i+1]) == nil
	}
	if each = each && m.Complete(); each != one {
		panic("read at once and byte by byte differ")
	}
	return one
}
