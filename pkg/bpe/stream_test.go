package bpe

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStreamPrefixes: what a stream has shown after each id is what the oracle
// decodes from the ids so far, without the U+FFFD of an incomplete character.
func TestStreamPrefixes(t *testing.T) {
	v := load[struct {
		IDs       []int    `json:"ids"`
		PerPrefix []string `json:"per_prefix"`
	}](t, "stream_decode.json")
	tok := tokenizer(t, "smollm2")
	d := tok.NewDecoder(nil)
	shown := ""
	for i, id := range v.IDs {
		piece := d.Add(id)
		if !whole(piece) || strings.Contains(piece, replacement) {
			t.Errorf("id %d: piece %q", i, piece)
		}
		shown += piece
		if want := strings.TrimSuffix(v.PerPrefix[i], replacement); shown != want {
			t.Errorf("after id %d: %q, want %q", i, shown, want)
		}
		if got := tok.Decode(v.IDs[:i+1], nil); got != v.PerPrefix[i] {
			t.Errorf("Decode of %d ids: %q, want %q", i+1, got, v.PerPrefix[i])
		}
	}
	if rest := d.Flush(); rest != "" {
		t.Errorf("Flush() = %q", rest)
	}
}

// TestStreamMovesForward: whatever the ids, at most three bytes are held back, and
// the pieces together are what Decode returns.
func TestStreamMovesForward(t *testing.T) {
	tok := tokenizer(t, "gpt-2")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		d := tok.NewDecoder(nil)
		var ids []int
		var got strings.Builder
		for range 1 + rng.IntN(12) {
			id := rng.IntN(256) // the bytes, most of them not UTF-8 in this order
			ids = append(ids, id)
			piece := d.Add(id)
			if !whole(piece) {
				t.Fatalf("%v: piece %q", ids, piece)
			}
			got.WriteString(piece)
			if len(d.tail) > 3 {
				t.Fatalf("%v: %d bytes held back", ids, len(d.tail))
			}
		}
		got.WriteString(d.Flush())
		if want := tok.Decode(ids, nil); got.String() != want {
			t.Fatalf("%v: streamed %q, decoded %q", ids, got.String(), want)
		}
	}
}

// TestDecoderRestarts: Flush takes the decoder back to the start.
func TestDecoderRestarts(t *testing.T) {
	for _, f := range load[[]tokenizerVectors](t, "families.json.gz") {
		tok := parse(t, f.Tokenizer)
		d := tok.NewDecoder(nil)
		for range 2 {
			var got strings.Builder
			ids := tok.Encode(" Hello, world! 😀", nil)
			for _, id := range ids {
				got.WriteString(d.Add(id))
			}
			got.WriteString(d.Flush())
			if want := tok.Decode(ids, nil); got.String() != want {
				t.Errorf("streamed %q, want %q", got.String(), want)
			}
		}
	}
}

// TestByteFallbackFault: a run of byte tokens that is not UTF-8.
func TestByteFallbackFault(t *testing.T) {
	tok := parse(t, load[[]tokenizerVectors](t, "families.json.gz")[2].Tokenizer)
	token := func(s string) int {
		id, ok := tok.ID(s)
		if !ok {
			t.Fatalf("no token %q", s)
		}
		return id
	}
	a, e4, b8, f0 := token("a"), token("<0xE4>"), token("<0xB8>"), token("<0xF0>")
	for _, c := range []struct {
		ids    []int
		batch  string
		stream []string
	}{
		{[]int{a, e4, b8, e4}, "a\uFFFD\uFFFD\uFFFD", []string{"a", "", "", "\uFFFD\uFFFD\uFFFD", ""}},
		{[]int{a, e4, a}, "a\uFFFDa", []string{"a", "", "\uFFFDa", ""}},
		{[]int{e4, f0, f0, a, f0}, "\uFFFD\uFFFD\uFFFDa\uFFFD", []string{"", "\uFFFD\uFFFD", "\uFFFD", "a", "", "\uFFFD"}},
	} {
		if got := tok.Decode(c.ids, nil); got != c.batch {
			t.Errorf("Decode(%v) = %q, want %q", c.ids, got, c.batch)
		}
		if got := stream(tok, c.ids, nil); strings.Join(got, "|") != strings.Join(c.stream, "|") {
			t.Errorf("stream of %v: %q, want %q", c.ids, got, c.stream)
		}
	}
}
