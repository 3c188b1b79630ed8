package bpe

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse: any bytes give a tokenizer or an error; a tokenizer then works.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"gpt-2", "llama3"} {
		data := fixture(f, name+".json.gz")
		f.Add(data[:min(len(data), 3000)])
	}
	for _, s := range []string{
		"", "{}", "[]", `{"model":{"vocab":{},"merges":[]}}`, small(ab, `["a b"]`), small(ab, `[["a","b"]]`),
		small(`{"a":2147483647,"b":0}`, `[]`), small(`{"a":0,"b":0}`, `[]`),
		small(ab, `["a b"]`, `"added_tokens":[{"id":7,"content":" x\n","single_word":true,"lstrip":true,"rstrip":true,"normalized":true,"special":true},{"id":8,"content":"ab"}],`),
		small(ab, `[]`, `"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKD"},{"type":"Lowercase"},{"type":"Prepend","prepend":"▁"},{"type":"Strip","strip_left":true,"strip_right":true},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":"▁"}]},`),
		small(ab, `[]`, `"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"`+strings.ReplaceAll(RegexLlama3, `\`, `\\`)+`"},"behavior":"MergedWithNext","invert":true},{"type":"Digits","individual_digits":true},{"type":"Punctuation"},{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]},`),
		small(ab, `[]`, `"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},`),
		small(ab, `[]`, `"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"a","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"a":{"id":"a","ids":[0],"tokens":["a"]}}},"decoder":{"type":"ByteLevel"},`),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Parse(data)
		if err != nil {
			if tok != nil || !strings.HasPrefix(err.Error(), "bpe: ") {
				t.Fatalf("%v, %v", tok, err)
			}
			return
		}
		ids := tok.Encode("ab <s> Ab 12  é\xff\n", &EncodeOptions{ParseSpecial: true, AddSpecial: true})
		for _, id := range append(ids, 0, 1, 2) {
			if id < 0 || len(ids) > 0 && slices.Max(ids) >= tok.VocabSize() {
				t.Fatalf("ids %v of %d", ids, tok.VocabSize())
			}
			tok.TokenBytes(id)
		}
		if text := tok.Decode(ids, nil); !utf8.ValidString(text) {
			t.Fatalf("decoded %q", text)
		}
		stream(tok, ids, nil)
	})
}

// FuzzRoundTrip: byte-level tokenizers without a normaliser give every text back,
// whether special tokens are on or off: all of its bytes that have tokens (SmolLM2
// has none for 21 of them, U+0013 among them).
func FuzzRoundTrip(f *testing.F) {
	var toks []*Tokenizer
	for _, name := range []string{"gpt-2", "llama3", "mpt", "starcoder", "smollm2"} {
		toks = append(toks, tokenizer(f, name))
	}
	for _, v := range load[[]vector](f, "smollm2_vectors.json")[:40] {
		f.Add(v.Text)
	}
	f.Add("\x13")
	f.Add("a\xf0\x9f\x98b <|im_end|><|endoftext|>  \n\t '\u017f \u0345\u0334")
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range toks {
			var known []byte
			for _, b := range []byte(validUTF8(text)) {
				if tok.model.byteIDs[b] >= 0 {
					known = append(known, b)
				}
			}
			want := validUTF8(string(known))
			for _, opts := range []*EncodeOptions{nil, {ParseSpecial: true}} {
				ids := tok.Encode(text, opts)
				if got := tok.Decode(ids, nil); got != want {
					t.Fatalf("%+q: %v decodes to %+q", text, ids, got)
				}
				if opts == nil && slices.ContainsFunc(ids, tok.IsSpecial) {
					t.Fatalf("%+q: special token in %v", text, ids)
				}
			}
		}
	})
}

// FuzzStream: the pieces of a stream are whole characters and together what Decode
// returns.
func FuzzStream(f *testing.F) {
	toks := []*Tokenizer{tokenizer(f, "gpt-2"), tokenizer(f, "llama3")}
	f.Add([]byte{0, 1, 2, 162, 242, 222, 87})
	f.Add([]byte("\xff\xfe\x80\xc3\xf0\x9f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tok := range toks {
			var ids []int
			for i, b := range data {
				id := int(b)
				if i > 0 && data[i-1] == 0xff {
					id = int(b) * 257 // beyond the single bytes
				}
				ids = append(ids, id)
			}
			for _, opts := range []*DecodeOptions{nil, {SkipSpecial: true}} {
				pieces := stream(tok, ids, opts)
				for _, p := range pieces {
					if !whole(p) {
						t.Fatalf("%v: piece %+q", ids, p)
					}
				}
				if got, want := strings.Join(pieces, ""), tok.Decode(ids, opts); got != want {
					t.Fatalf("%v: streamed %+q, decoded %+q", ids, got, want)
				}
			}
		}
	})
}

// FuzzLoadPair: merges.txt and the configuration files of a folder.
func FuzzLoadPair(f *testing.F) {
	f.Add([]byte("#version: 0.2\na b\n"), []byte(`{"tokenizer_class":"GPT2Tokenizer","added_tokens_decoder":{"3":{"content":"x"}}}`))
	f.Add([]byte("a b"), []byte(`{"additional_special_tokens":["a"],"bos_token":{"content":"b"}}`))
	f.Fuzz(func(t *testing.T, merges, config []byte) {
		tok, err := Load(mapFS{"vocab.json": []byte(ab), "merges.txt": merges, "tokenizer_config.json": config, "special_tokens_map.json": config})
		if err == nil {
			tok.Encode("ab x", &EncodeOptions{ParseSpecial: true})
		}
	})
}

// FuzzRegex: any expression is refused or has a scanner that moves forward.
func FuzzRegex(f *testing.F) {
	for regex := range knownRegexes {
		f.Add(regex, "a 1\n")
	}
	for _, s := range []string{`\s?\p{L}+`, `[^\r\n\p{L}]{2,3}`, `[a-z&&b]`, `[[a]b-]+`, `\u00e9?[^\S]`, `[0-9][0-9]`} {
		f.Add(s, "é 12 ab\r\n")
	}
	f.Fuzz(func(t *testing.T, regex, text string) {
		s, err := compilePattern(Pattern{Regex: regex}, "regex")
		if err != nil {
			return
		}
		text = validUTF8(text)
		for i := 0; i < len(text); {
			start, end := s.next(text, i)
			if start < i || end > len(text) || end < start || start == end && start < len(text) {
				t.Fatalf("%q in %q at %d: %d, %d", regex, text, i, start, end)
			}
			if !utf8.ValidString(text[start:end]) {
				t.Fatalf("%q in %q cuts a character", regex, text)
			}
			i = end
		}
	})
}
