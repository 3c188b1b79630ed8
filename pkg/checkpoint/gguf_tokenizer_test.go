package checkpoint

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/gguf/gguftest"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
)

// The tokenizer of a GGUF file gives the ids of the folder's.
func TestGGUFTokenizer(t *testing.T) {
	files, f := tiny(t, testmodel.TinyOptions{})
	folder, err := OpenFS(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	want, err := folder.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, f.Bytes())
	got, err := c.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Hello the 2024 wörld", "<|im_start|>user\nhi<|im_end|>", "", "  and  the  "} {
		for _, parse := range []bool{false, true} {
			o := &bpe.EncodeOptions{ParseSpecial: parse, AddSpecial: true}
			if d := cmp.Diff(want.Encode(text, o), got.Encode(text, o)); d != "" {
				t.Errorf("%q: %s", text, d)
			}
		}
	}
	if !got.IsSpecial(1) || got.IsSpecial(3) {
		t.Error("special tokens")
	}
	if c.ChatTemplate() != "{{ messages }}" {
		t.Errorf("chat template %q", c.ChatTemplate())
	}
	var config map[string]any
	if err := json.Unmarshal(c.TokenizerConfig(), &config); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "unk_token": "<|endoftext|>", "chat_template": "{{ messages }}", "add_bos_token": false} {
		if config[key] != want {
			t.Errorf("%s is %v, want %v", key, config[key], want)
		}
	}
}

// Every name of a pre-tokenizer gives a tokenizer whose stages package bpe has,
// and tokenizer.json says the same.
func TestPreTokenizers(t *testing.T) {
	text := "I'LL pay 12345 for it\n\n  naïve 汉字 — they've"
	for _, name := range []string{"", "default", "gpt-2", "mpt", "olmo", "smollm", "starcoder", "llama-bpe", "llama3", "dbrx", "qwen2", "deepseek-r1-qwen",
		"tekken", "gpt-4o", "deepseek-v3", "deepseek-llm", "deepseek-coder"} {
		t.Run(name, func(t *testing.T) {
			_, f := tiny(t, testmodel.TinyOptions{})
			f.Set("tokenizer.ggml.pre", name)
			c := mustOpen(t, f.Bytes())
			got, err := c.Tokenizer()
			if err != nil {
				t.Fatal(err)
			}
			d, err := c.source.(*ggufSource).tokens.definition()
			if err != nil {
				t.Fatal(err)
			}
			data, err := tokenizerJSON(d)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := bpe.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			o := &bpe.EncodeOptions{AddSpecial: true}
			if d := cmp.Diff(parsed.Encode(text, o), got.Encode(text, o)); d != "" {
				t.Error(d)
			}
			if back := got.Decode(got.Encode(text, nil), nil); back != text {
				t.Errorf("decoded %q", back)
			}
		})
	}
}

// What a file's keys and token types do to the tokenizer.
func TestGGUFTokenizerSettings(t *testing.T) {
	_, f := tiny(t, testmodel.TinyOptions{})
	f.Set("tokenizer.ggml.pre", "llama-bpe")
	ids := func(text string) []int {
		tok, err := mustOpen(t, f.Bytes()).Tokenizer()
		if err != nil {
			t.Fatal(err)
		}
		return tok.Encode(text, &bpe.EncodeOptions{AddSpecial: true})
	}
	x := ids("x")
	if len(x) != 2 || x[0] != 1 {
		t.Errorf("llama-bpe: %v, want BOS first", x)
	}
	f.Set("tokenizer.ggml.add_bos_token", false)
	if got := ids("x"); !slices.Equal(got, x[1:]) {
		t.Errorf("without BOS: %v", got)
	}
	f.Set("tokenizer.ggml.add_bos_token", true)
	f.Set("tokenizer.ggml.add_eos_token", true)
	if got := ids("x"); !slices.Equal(got, []int{1, x[1], 2}) {
		t.Errorf("with both: %v", got)
	}
	// A word that was added after training, and padding where no token is.
	for i := range f.Pairs {
		switch v := f.Pairs[i].Value.(type) {
		case []string:
			if f.Pairs[i].Key == "tokenizer.ggml.tokens" {
				f.Pairs[i].Value = append(v, "wörld", "[PAD"+itoa(len(v)+1)+"]")
			}
		case []int32:
			f.Pairs[i].Value = append(v, tokenUserDefined, tokenUnused)
		}
	}
	n := testmodel.VocabSize()
	if got := ids("wörld"); !slices.Equal(got, []int{1, n, 2}) {
		t.Errorf("added word: %v, want its id, %d", got, n)
	}
	tok, err := mustOpen(t, f.Bytes()).Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tok.Token(n + 1); ok || tok.IsSpecial(n) {
		t.Error("padding is a token, or the added word special")
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestGGUFTokenizerErrors(t *testing.T) {
	change := func(f *gguftest.File, key string, to func(any) any) {
		for i := range f.Pairs {
			if f.Pairs[i].Key == key {
				f.Pairs[i].Value = to(f.Pairs[i].Value)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(f *gguftest.File)
		want   error
		text   string
	}{
		{"SentencePiece", func(f *gguftest.File) { f.Set("tokenizer.ggml.model", "llama") }, ErrUnsupported, "SentencePiece"},
		{"another model", func(f *gguftest.File) { f.Set("tokenizer.ggml.model", "bert") }, ErrUnsupported, `"bert"`},
		{"another pre-tokenizer", func(f *gguftest.File) { f.Set("tokenizer.ggml.pre", "viking") }, ErrUnsupported, `"viking"`},
		{"pre-tokenizer of another type", func(f *gguftest.File) { f.Set("tokenizer.ggml.pre", true) }, ErrMetadata, "tokenizer.ggml.pre"},
		{"no model", func(f *gguftest.File) { change(f, "tokenizer.ggml.model", func(any) any { return uint8(1) }) }, ErrMetadata, "tokenizer.ggml.model"},
		{"tokens of another type", func(f *gguftest.File) { f.Set("tokenizer.ggml.tokens", make([]int32, 1000)) }, ErrMetadata, "tokenizer.ggml.tokens"},
		{"too few types", func(f *gguftest.File) { f.Set("tokenizer.ggml.token_type", []int32{1}) }, ErrMetadata, "1 types for the"},
		{"not UTF-8", func(f *gguftest.File) {
			change(f, "tokenizer.ggml.tokens", func(v any) any { v.([]string)[9] = "\xff"; return v })
		}, ErrMetadata, "token 9"},
		{"a token twice", func(f *gguftest.File) {
			change(f, "tokenizer.ggml.tokens", func(v any) any { v.([]string)[9] = v.([]string)[8]; return v })
		}, bpe.ErrVocab, "model.gguf"},
		{"merge of one", func(f *gguftest.File) {
			change(f, "tokenizer.ggml.merges", func(v any) any { v.([]string)[1] = "ab"; return v })
		}, ErrMetadata, `merge 1, "ab"`},
		{"merge of nothing", func(f *gguftest.File) {
			change(f, "tokenizer.ggml.merges", func(v any) any { v.([]string)[0] = "a "; return v })
		}, ErrMetadata, "merge 0"},
		{"merge of unknown tokens", func(f *gguftest.File) {
			change(f, "tokenizer.ggml.merges", func(v any) any { v.([]string)[0] = "zz qq"; return v })
		}, bpe.ErrMerge, "model.gguf"},
		{"bos flag of another type", func(f *gguftest.File) { f.Set("tokenizer.ggml.add_bos_token", uint8(1)) }, ErrMetadata, "add_bos_token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := tiny(t, testmodel.TinyOptions{})
			c.change(f)
			ck := mustOpen(t, f.Bytes())
			_, err := ck.Tokenizer()
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.text)
			}
			if _, err := ck.Tensor(embeddings); err != nil {
				t.Errorf("the weights are unusable too: %v", err)
			}
		})
	}
}

// A program that normalises text would change the expression: see there.
func TestDeepSeekWords(t *testing.T) {
	class := []rune(deepSeekWords[strings.IndexByte(deepSeekWords, '[')+1 : strings.LastIndexByte(deepSeekWords, ']')])
	last := rune(0)
	for i, r := range class {
		if r == '-' && i > 0 {
			continue
		}
		if r <= last {
			t.Errorf("%q (%#x) stands after %q", r, r, last)
		}
		last = r
	}
}
