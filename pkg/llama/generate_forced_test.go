package llama

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// spelled is a constraint that allows one sequence of bytes.
type spelled struct {
	m    *Model
	left []byte
}

func (c *spelled) Mask(legal []uint64) error {
	clear(legal)
	for id := range c.m.Tokenizer().VocabSize() {
		if b := c.m.Tokenizer().TokenBytes(id); len(b) > 0 && bytes.HasPrefix(c.left, b) && !c.m.Tokenizer().IsSpecial(id) {
			legal[id/64] |= 1 << (id % 64)
		}
	}
	return nil
}

func (c *spelled) Forced() []byte { return c.left }
func (c *spelled) Done() bool     { return len(c.left) == 0 }

func (c *spelled) Accept(id int) error {
	b := c.m.Tokenizer().TokenBytes(id)
	if !bytes.HasPrefix(c.left, b) {
		return errNoLegal
	}
	// The bytes that Forced returned are the constraint's own.
	c.left = c.left[:copy(c.left, c.left[len(b):])]
	return nil
}

// What is forced comes byte by byte, also where the tokenizer would encode
// something else: no token is forced that spells other bytes.
func TestForcedBytesAreKept(t *testing.T) {
	for name, edit := range map[string][2]string{
		"plain": {},
		"space": {`"add_prefix_space": false`, `"add_prefix_space": true`},
		"NFC":   {`"normalizer": null`, `"normalizer": {"type": "NFC"}`},
		"strip": {`"normalizer": null`, `"normalizer": {"type": "Strip", "strip_left": true, "strip_right": true}`},
	} {
		files := testmodel.TinyFS(testmodel.TinyOptions{})
		before := string(files["tokenizer.json"].Data)
		after := strings.ReplaceAll(before, edit[0], edit[1])
		if name != "plain" && after == before {
			t.Fatalf("%s: nothing edited", name)
		}
		files["tokenizer.json"].Data = []byte(after)
		m, err := Load(files, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, want := range []string{"hello", "\xf0", "\xf0\x9f", "\x98\x80x", "e\u0301", "{\"a\": \"\xc3", " x ", "\xff\xfe", "<|im_end|>", "\n\n"} {
			var got []byte
			c := &spelled{m, []byte(want)}
			for token, err := range newSession(t, m, nil).Generate(context.Background(), []int{5}, &GenerateOptions{Constraint: c, IgnoreEOS: true}) {
				if err != nil {
					t.Errorf("%s: %q: %v", name, want, err)
				}
				got = append(got, m.Tokenizer().TokenBytes(token.ID)...)
			}
			if string(got) != want {
				t.Errorf("%s: %q came as %q", name, want, got)
			}
		}
	}
}
