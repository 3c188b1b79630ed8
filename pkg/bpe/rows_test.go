package bpe

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The tests of this file are faults met in other projects of this kind. The
// letters are those of the list they come from.

func TestIgnoreMerges(t *testing.T) { // B1: llama.cpp pull request 7193
	tok := tokenizer(t, "llama3")
	equalIDs(t, " Việt", tok.Encode(" Việt", nil), []int{101798})
}

func TestSpacesBeforeWord(t *testing.T) { // B2: llama.cpp issues 3502 and 6104
	equalIDs(t, "GPT-2", tokenizer(t, "gpt-2").Encode("a   b", nil), []int{64, 220, 220, 275})
	equalIDs(t, "Llama 3", tokenizer(t, "llama3").Encode("a   b", nil), []int{64, 256, 293})
}

func TestContractions(t *testing.T) { // B5: GPT-3-Encoder issue 5
	tok := tokenizer(t, "gpt-2")
	equalIDs(t, "I'LL", tok.Encode("I'LL", nil), []int{40, 6, 3069})
	var pieces []string
	stages := append(slices.Clone(tok.stages), collector{&pieces})
	(&encoder{t: &Tokenizer{stages: stages}}).piece(0, "we'll we'LL'ſ")
	if want := []string{"we", "'ll", " we", "'", "LL", "'", "ſ"}; !slices.Equal(pieces, want) {
		t.Errorf("pieces %q, want %q", pieces, want)
	}
}

func TestDigits(t *testing.T) { // B7
	equalIDs(t, "Llama 3", tokenizer(t, "llama3").Encode("12345678", nil), []int{4513, 10961, 2495})
	equalIDs(t, "GPT-2", tokenizer(t, "gpt-2").Encode("12345678", nil), []int{10163, 2231, 30924})
	tok := tokenizer(t, "starcoder")
	ids := tok.Encode("12345678", nil)
	for i, id := range ids {
		if s, _ := tok.Token(id); s != string("12345678"[i]) {
			t.Errorf("StarCoder: token %d is %q", i, s)
		}
	}
	if len(ids) != 8 {
		t.Errorf("StarCoder: %d tokens, want 8", len(ids))
	}
}

func TestStreamedCharacters(t *testing.T) { // B9: iree issue 24039, mlx-vlm issue 1665
	tok := tokenizer(t, "gpt-2")
	ids := tok.Encode("é😀x", nil)
	equalIDs(t, "é😀x", ids, []int{2634, 47249, 222, 87})
	if got, want := stream(tok, ids, nil), []string{"é", "", "😀", "x", ""}; !slices.Equal(got, want) {
		t.Errorf("stream %q, want %q", got, want)
	}
}

// withAdded returns GPT-2 with more added tokens, from id 50257 on.
func withAdded(t *testing.T, more ...AddedToken) *Tokenizer {
	t.Helper()
	var file map[string]json.RawMessage
	if err := json.Unmarshal(fixture(t, "gpt-2.json.gz"), &file); err != nil {
		t.Fatal(err)
	}
	list := []map[string]any{{"id": 50256, "content": "<|endoftext|>", "special": true}}
	for i, a := range more {
		list = append(list, map[string]any{
			"id": 50257 + i, "content": a.Content, "lstrip": a.LStrip, "rstrip": a.RStrip, "single_word": a.SingleWord,
			"normalized": a.Normalized, "special": a.Special,
		})
	}
	var err error
	if file["added_tokens"], err = json.Marshal(list); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, data)
}

func TestAddedTokenFlags(t *testing.T) { // B12: transformers issue 33371; B15: the longest first
	tok := withAdded(t,
		AddedToken{Content: "<L>", LStrip: true}, AddedToken{Content: "<R>", RStrip: true},
		AddedToken{Content: "<LONG>"}, AddedToken{Content: "<LONG><R2>"}, AddedToken{Content: "word", SingleWord: true})
	for text, want := range map[string][]int{
		"a  <L>  b":      {64, 50257, 220, 275},
		"a  <R>  b":      {64, 220, 220, 50258, 65},
		"<LONG><R2>":     {50260},
		"<LONG>":         {50259},
		"<LONG><LONG>":   {50259, 50259},
		"<L><R>":         {50257, 50258},
		"a<L":            {64, 27, 43},
		" \n<L>":         {50257},
		"word":           {50261},
		"word.":          {50261, 13},
		"word word":      {50261, 220, 50261},
		"<R>  <L>  <R> ": {50258, 50257, 220, 220, 50258},
	} {
		equalIDs(t, text, tok.Encode(text, nil), want)
	}
	for _, text := range []string{"words", "sword", "_word", "word_", "éword", "word1"} {
		if slices.Contains(tok.Encode(text, nil), 50261) {
			t.Errorf("%q matched the single word", text)
		}
	}
}

func TestSpecialTextIsPlain(t *testing.T) { // B17
	tok := tokenizer(t, "gpt-2")
	const text = "a<|endoftext|>b"
	equalIDs(t, text, tok.Encode(text, &EncodeOptions{ParseSpecial: true}), []int{64, 50256, 65})
	plain := tok.Encode(text, nil)
	if slices.Contains(plain, 50256) || len(plain) < 5 {
		t.Errorf("special token in plain text: %v", plain)
	}
	if got := tok.Decode(plain, &DecodeOptions{SkipSpecial: true}); got != text {
		t.Errorf("decoded %q", got)
	}
}

func TestLongRuns(t *testing.T) { // B19
	for _, name := range []string{"gpt-2", "llama3", "mpt", "starcoder", "smollm2"} {
		tok := tokenizer(t, name)
		for _, unit := range []string{"a", " ", "\n", "=", "ab", "a ", "é", "😀", "\xff", "1", "'s", "<|"} {
			const n = 100_000
			text := strings.Repeat(unit, n)
			ids := tok.Encode(text, nil)
			if got, want := tok.Decode(ids, nil), strings.ToValidUTF8(unit, replacement); got != strings.Repeat(want, n) {
				t.Errorf("%s: %q × %d does not come back", name, unit, n)
			}
		}
	}
}

// T1: a stop string that comes in two pieces. The decoder's part: the pieces show
// exactly the bytes of their tokens, no more and no less.
func TestStreamedPieces(t *testing.T) {
	tok := tokenizer(t, "gpt-2")
	ids := append(tok.Encode("\nUser", nil), tok.Encode(":", nil)...)
	pieces := stream(tok, ids, nil)
	if got := strings.Join(pieces, ""); got != "\nUser:" || pieces[len(pieces)-2] != ":" {
		t.Errorf("pieces %q", pieces)
	}
}
