package bpe

import (
	"fmt"
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

// sentencePiece is a tokenizer in the manner of Llama 2: spaces are "▁", unknown
// characters are spelled by their bytes.
func sentencePiece(t *testing.T) *Tokenizer {
	t.Helper()
	def := Definition{
		Vocab: []string{"<unk>", "▁", "a", "b", "▁a", "ab", "▁ab"}, Merges: [][2]string{{"a", "b"}, {"▁", "ab"}, {"▁", "a"}},
		UnknownToken: "<unk>", FuseUnknown: true, ByteFallback: true,
		Normalizer: NormalizerConfig{Type: "Sequence", Normalizers: []NormalizerConfig{
			{Type: "Prepend", Prepend: "▁"}, {Type: "Replace", Pattern: Pattern{String: " "}, Content: "▁"},
		}},
		Decoder: DecoderConfig{Type: "Sequence", Decoders: []DecoderConfig{
			{Type: "Replace", Pattern: Pattern{String: "▁"}, Content: " "}, {Type: "ByteFallback"}, {Type: "Fuse"},
			{Type: "Strip", Content: " ", Start: 1},
		}},
	}
	for b := range 256 {
		def.Vocab = append(def.Vocab, fmt.Sprintf("<0x%02X>", b))
	}
	tok, err := New(def)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestSentencePiece(t *testing.T) {
	tok := sentencePiece(t)
	const first = 7 // the id of <0x00>
	equalIDs(t, "ab a中 b", tok.Encode("ab a中 b", nil), []int{6, 4, first + 0xE4, first + 0xB8, first + 0xAD, 1, 3})
	if b := tok.TokenBytes(6); string(b) != " ab" {
		t.Errorf("TokenBytes(6) = %q", b)
	}
	if b := tok.TokenBytes(first + 0xE4); string(b) != "\xE4" {
		t.Errorf("TokenBytes of a byte token = %q", b)
	}
	d := tok.NewDecoder(nil)
	for range 2 { // Flush takes the decoder back to the start
		for _, text := range []string{"ab a中 b", " ab", "中中", "a😀", "", " ", "  a"} {
			ids := tok.Encode(text, nil)
			var got strings.Builder
			for _, id := range ids {
				piece := d.Add(id)
				if !whole(piece) {
					t.Errorf("%q: piece %q", text, piece)
				}
				got.WriteString(piece)
			}
			got.WriteString(d.Flush())
			if got.String() != text || tok.Decode(ids, nil) != text {
				t.Errorf("%q: streamed %q, decoded %q", text, got.String(), tok.Decode(ids, nil))
			}
		}
	}
}

// TestByteFallbackFault: a run of byte tokens that is not UTF-8.
func TestByteFallbackFault(t *testing.T) {
	tok := sentencePiece(t)
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

// TestStreamAllocates nothing for tokens that are whole characters.
func TestStreamAllocates(t *testing.T) {
	tok := tokenizer(t, "smollm2")
	ids := tok.Encode("The quick brown fox jumps over the lazy dog.\n naïve", nil)
	d := tok.NewDecoder(&DecodeOptions{SkipSpecial: true})
	if n := testing.AllocsPerRun(100, func() {
		for _, id := range ids {
			d.Add(id)
		}
	}); n != 0 {
		t.Errorf("%g allocations for %d tokens", n, len(ids))
	}
}
