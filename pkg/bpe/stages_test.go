package bpe

import (
	"encoding/json"
	"slices"
	"testing"
)

// collector is a last stage that keeps the pieces.
type collector struct{ pieces *[]string }

func (c collector) cut(_ *encoder, piece string, _ int) { *c.pieces = append(*c.pieces, piece) }

// TestStages runs single normalisers and pre-tokenisers, among them each regular
// expression that has a scanner.
func TestStages(t *testing.T) {
	type stageVectors struct {
		Normalizer   json.RawMessage   `json:"normalizer"`
		PreTokenizer json.RawMessage   `json:"pre_tokenizer"`
		Texts        []string          `json:"texts"`
		Want         []json.RawMessage `json:"want"`
	}
	for _, s := range load[[]stageVectors](t, "stages.json.gz") {
		if s.Normalizer != nil {
			r, err := newJSONReader(s.Normalizer, "")
			if err != nil {
				t.Fatal(err)
			}
			config, err := (&parser{jsonReader: r}).normalizer()
			if err != nil {
				t.Fatal(err)
			}
			f, err := compileNormalizer(config, "")
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range s.Texts {
				var want string
				if err := json.Unmarshal(s.Want[i], &want); err != nil {
					t.Fatal(err)
				}
				if got := f(text); got != want {
					t.Errorf("%s of %+q: %+q, want %+q", s.Normalizer, text, got, want)
				}
			}
			continue
		}
		r, err := newJSONReader(s.PreTokenizer, "")
		if err != nil {
			t.Fatal(err)
		}
		config, err := (&parser{jsonReader: r}).preTokenizer()
		if err != nil {
			t.Fatal(err)
		}
		stages, byteLevel, err := compilePreTokenizer(config)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		e := &encoder{t: &Tokenizer{stages: append(stages, collector{&got})}}
		for i, text := range s.Texts {
			var want []string
			if err := json.Unmarshal(s.Want[i], &want); err != nil {
				t.Fatal(err)
			}
			got = nil
			e.atStart = true
			e.piece(0, text)
			for k := range got {
				if byteLevel {
					got[k] = string(appendMapped(nil, got[k]))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s of %+q:\n got %+q\nwant %+q", s.PreTokenizer, text, got, want)
			}
		}
	}
}

// TestUnknownRegex: an expression without a scanner is refused by name.
func TestUnknownRegex(t *testing.T) {
	for _, regex := range []string{
		"", "(a)", "a|b", "a*", ".", "^a", "a$", "[", "[]", "[a", "[^]", "[a-", "[z-a]", `\w+`, `\p{Greek}+`, `\p{L`, `\pL`, `[\S]`,
		"[[^a]]+", "[a&&b]+", "[[:alpha:]]+", "a{0,1}", "a{2,1}", "a{x}", "a{1", "a{1}b", "a{9999}", "?", "a?", "ab", "a??b",
		`\`, `[a\`, `\u12`, `\uD800`, `(?i:a)`, `\s+(?!\S)`, RegexGPT2 + " ", "[[[[[[a]]]]]]+",
	} {
		if _, err := compilePattern(Pattern{Regex: regex}, "here"); err == nil {
			t.Errorf("%q was accepted", regex)
		} else if regex != "" {
			wantError(t, err, ErrUnsupported, "here", quote(regex))
		}
	}
}
