package bpe

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// TestCases runs the vectors of GPT-2, Llama 3, MPT and StarCoder. In them the
// special tokens of the text are on.
func TestCases(t *testing.T) {
	toks := map[string]*Tokenizer{}
	count := map[string]int{}
	for _, v := range load[[]vector](t, "cases.json") {
		if toks[v.Tokenizer] == nil {
			toks[v.Tokenizer] = tokenizer(t, v.Tokenizer)
		}
		tok := toks[v.Tokenizer]
		count[v.Tokenizer]++
		equalIDs(t, v.Tokenizer+": "+v.Text, tok.Encode(v.Text, &EncodeOptions{ParseSpecial: true}), v.IDs)
		if got := tok.Decode(v.IDs, nil); got != v.Decode {
			t.Errorf("%s: decoded %q, want %q", v.Tokenizer, got, v.Decode)
		}
	}
	for _, name := range []string{"gpt-2", "llama3", "mpt", "starcoder"} {
		if count[name] != 47 {
			t.Errorf("%s has %d vectors, want 47", name, count[name])
		}
	}
}

// smolLM2 runs the vectors of SmolLM2, special tokens on.
func smolLM2(t *testing.T, tok *Tokenizer) {
	t.Helper()
	vectors := load[[]vector](t, "smollm2_vectors.json")
	if len(vectors) != 182 {
		t.Fatalf("%d vectors, want 182", len(vectors))
	}
	for _, v := range vectors {
		equalIDs(t, v.Text, tok.Encode(v.Text, &EncodeOptions{ParseSpecial: true}), v.IDs)
		if got := tok.Decode(v.IDs, nil); got != v.Decode {
			t.Errorf("%q: decoded %q, want %q", v.Text, got, v.Decode)
		}
		if got := tok.Decode(v.IDs, &DecodeOptions{SkipSpecial: true}); got != v.Skip {
			t.Errorf("%q: decoded %q without special tokens, want %q", v.Text, got, v.Skip)
		}
	}
}

func TestSmolLM2(t *testing.T) { smolLM2(t, tokenizer(t, "smollm2")) }

func TestSmolLM2Checkpoint(t *testing.T) {
	for _, form := range []string{"f32", "bf16"} {
		t.Run(form, func(t *testing.T) {
			tok, err := Load(os.DirFS(testmodel.Dir(t, form)))
			if err != nil {
				t.Fatal(err)
			}
			if tok.VocabSize() != 49152 {
				t.Errorf("VocabSize() = %d, want 49152", tok.VocabSize())
			}
			smolLM2(t, tok)
		})
	}
}

type tokenizerVectors struct {
	Tokenizer json.RawMessage `json:"tokenizer"`
	Vectors   []vector        `json:"vectors"`
}

// TestQwen2 runs a tokenizer that normalises (NFC).
func TestQwen2(t *testing.T) {
	tok := tokenizer(t, "qwen2")
	for _, v := range load[[]vector](t, "qwen2_vectors.json.gz") {
		v.check(t, tok)
	}
}

// TestSynthetic runs small tokenizers with all kinds of stages and flags. They
// are a sample of those that tools/bpefuzz draws.
func TestSynthetic(t *testing.T) {
	all := load[[]tokenizerVectors](t, "synthetic.json.gz")
	if len(all) < 40 {
		t.Fatalf("only %d tokenizers", len(all))
	}
	for i, f := range all {
		tok := parse(t, f.Tokenizer)
		for _, v := range f.Vectors {
			v.check(t, tok)
		}
		if t.Failed() {
			t.Fatalf("tokenizer %d", i)
		}
	}
}
