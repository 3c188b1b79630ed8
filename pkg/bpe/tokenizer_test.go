package bpe

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestTokens(t *testing.T) {
	tok := tokenizer(t, "gpt-2")
	id, ok := tok.ID("Ġworld")
	if !ok {
		t.Fatal("no token Ġworld")
	}
	if s, ok := tok.Token(id); s != "Ġworld" || !ok {
		t.Errorf("Token(%d) = %q, %v", id, s, ok)
	}
	if b := tok.TokenBytes(id); string(b) != " world" {
		t.Errorf("TokenBytes(%d) = %q", id, b)
	}
	for _, id := range []int{-1, 50257, math.MaxInt, 40000} {
		if s, ok := tok.Token(id); ok {
			t.Errorf("Token(%d) = %q", id, s)
		}
		if b := tok.TokenBytes(id); b != nil {
			t.Errorf("TokenBytes(%d) = %q", id, b)
		}
		if tok.IsSpecial(id) || tok.Decode([]int{id}, nil) != "" || tok.NewDecoder(nil).Add(id) != "" {
			t.Errorf("%d is a token", id)
		}
	}
	if _, ok := tok.ID("no such token"); ok {
		t.Error("an id for no token")
	}
	if got := tok.AddedTokens(); len(got) != 1 || got[0].Content != "<|endoftext|>" || got[0].ID != 50256 || !got[0].Special {
		t.Errorf("AddedTokens() = %+v", got)
	}
	if !tok.IsSpecial(50256) || tok.IsSpecial(64) || tok.VocabSize() != 50257 {
		t.Error("special tokens or size")
	}
	if got := tok.Encode("", nil); got != nil {
		t.Errorf("Encode of nothing is %v", got)
	}
	for b := range 256 {
		id, ok := tok.ID(string(byteToRune[b]))
		if got := tok.TokenBytes(id); !ok || !slices.Equal(got, []byte{byte(b)}) {
			t.Errorf("byte %#x: %v", b, got)
		}
	}
}

// TestTokenBytesSpelled: the bytes of all tokens of a text are the text.
func TestTokenBytesSpelled(t *testing.T) {
	for _, name := range []string{"gpt-2", "llama3", "starcoder", "smollm2"} {
		tok := tokenizer(t, name)
		const text = "naïve café: 世界 😀 <|im_end|>\n\t x = 12345678"
		var b []byte
		for _, id := range tok.Encode(text, nil) {
			b = append(b, tok.TokenBytes(id)...)
		}
		if string(b) != text {
			t.Errorf("%s: %q", name, b)
		}
	}
}

// TestConcurrent uses one tokenizer from several goroutines; run it with -race.
func TestConcurrent(t *testing.T) {
	tok := tokenizer(t, "smollm2")
	vectors := load[[]vector](t, "smollm2_vectors.json")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range vectors {
				v := vectors[(i+g*40)%len(vectors)]
				if !slices.Equal(tok.Encode(v.Text, &EncodeOptions{ParseSpecial: true}), v.IDs) && len(v.IDs) > 0 {
					t.Errorf("%q differs", v.Text)
				}
				if tok.Decode(v.IDs, nil) != v.Decode {
					t.Errorf("%q decodes otherwise", v.Text)
				}
			}
		})
	}
	wg.Wait()
}

// TestAddedOverlaps: white space that one added token took and another claims.
// The expectations are the reference library's, where it has any (it panics on
// the last ones).
func TestAddedOverlaps(t *testing.T) {
	tok := withAdded(t,
		AddedToken{Content: "\n", LStrip: true, RStrip: true}, AddedToken{Content: " x"}, AddedToken{Content: "<R>", RStrip: true},
		AddedToken{Content: "\t"})
	for text, want := range map[string][]int{
		"\n\n":      {50257},
		"<R> x":     {50259, 50258},
		"<R>  x":    {50259, 50258},
		"<R>\t":     {50259, 50260},
		"<R>\t b":   {50259, 50260, 275},
		"<R>  \n  ": {50259},
	} {
		equalIDs(t, text, tok.Encode(text, nil), want)
	}
}

// TestAddedRunsAreLinear: each of many tokens takes the white space behind it.
func TestAddedRunsAreLinear(t *testing.T) {
	tok := withAdded(t, AddedToken{Content: "\n", RStrip: true}, AddedToken{Content: "\t", LStrip: true})
	const n = 200_000
	if got := len(tok.Encode(strings.Repeat("\n", n), nil)); got != n {
		t.Errorf("%d tokens, want %d", got, n)
	}
	if got := len(tok.Encode(strings.Repeat("\t", n), nil)); got != n {
		t.Errorf("%d tokens, want %d", got, n)
	}
}

// TestHiddenToken: a token that may not match hides those within it.
func TestHiddenToken(t *testing.T) {
	tok := withAdded(t, AddedToken{Content: "<|b|>", Special: true}, AddedToken{Content: "b|"})
	equalIDs(t, "special on", tok.Encode("<|b|>b|", &EncodeOptions{ParseSpecial: true}), []int{50257, 50258})
	ids := tok.Encode("<|b|>b|", nil)
	if ids[len(ids)-1] != 50258 || slices.Index(ids, 50258) != len(ids)-1 {
		t.Errorf("special off: %v", ids)
	}
}

func TestPostProcessor(t *testing.T) {
	def := Definition{
		Vocab:       []string{"a", "b", "<s>", "</s>"},
		AddedTokens: []AddedToken{{ID: 2, Content: "<s>", Special: true}, {ID: 3, Content: "</s>", Special: true}},
		PostProcessor: PostProcessorConfig{Type: "Sequence", Processors: []PostProcessorConfig{
			{Type: "ByteLevel"},
			{Type: "TemplateProcessing", Single: []TemplatePiece{{Special: "<s>", IDs: []int{2}}, {}, {Special: "</s>", IDs: []int{3}}}},
		}},
	}
	tok, err := New(def)
	if err != nil {
		t.Fatal(err)
	}
	equalIDs(t, "with", tok.Encode("ab", &EncodeOptions{AddSpecial: true}), []int{2, 0, 1, 3})
	equalIDs(t, "without", tok.Encode("ab", nil), []int{0, 1})
	equalIDs(t, "empty", tok.Encode("", &EncodeOptions{AddSpecial: true}), []int{2, 3})
	// Without a decoder tokens are joined by spaces.
	if got := tok.Decode([]int{2, 0, 1}, nil); got != "<s> a b" {
		t.Errorf("Decode = %q", got)
	}
	if got := strings.Join(stream(tok, []int{2, 0, 1}, &DecodeOptions{SkipSpecial: true}), "|"); got != "|a| b|" {
		t.Errorf("stream = %q", got)
	}
	roberta := small(`{"a":0,"<s>":1,"</s>":2}`, `[]`, `"post_processor":{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",1],"trim_offsets":true,"add_prefix_space":false},`)
	equalIDs(t, "Roberta", parse(t, []byte(roberta)).Encode("a", &EncodeOptions{AddSpecial: true}), []int{1, 0, 2})
}
