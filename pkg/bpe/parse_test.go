package bpe

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// small wraps a vocabulary and merges as the smallest tokenizer.json.
func small(vocab, merges string, more ...string) string {
	return fmt.Sprintf(`{"version":"1.0",%s"model":{"type":"BPE","vocab":%s,"merges":%s}}`, strings.Join(more, ""), vocab, merges)
}

const ab = `{"a":0,"b":1,"ab":2}`

func TestParseForms(t *testing.T) {
	for name, file := range map[string]string{
		"old merges":       small(ab, `["a b"]`),
		"new merges":       small(ab, `[["a","b"]]`),
		"merges first":     `{"model":{"merges":["a b"],"vocab":{"ab":2,"a":0,"b":1}}}`,
		"escapes":          small(`{"\u0061":0,"b":1,"a\u0062":2}`, `["\u0061 b"]`),
		"nulls":            `{"added_tokens":null,"normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":null,"truncation":{"max_length":1},"padding":{},"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":"","fuse_unk":null,"byte_fallback":null,"ignore_merges":null,"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`,
		"no dropout":       strings.Replace(small(ab, `["a b"]`), `"vocab"`, `"dropout":0.0,"vocab"`, 1),
		"unknown fields":   small(ab, `["a b"]`, `"x":{"y":[1,-2.5e3,true,null,"\ud83d\ude00\/\b\f\n\r\t\\\""]},`),
		"doubled merge":    small(ab, `["a b","a b"]`),
		"white space":      strings.NewReplacer("{", "{ \n\t", ":", " \r\n: ", ",", " , ").Replace(small(ab, `["a b"]`)),
		"empty token":      small(`{"":3,"a":0,"b":1,"ab":2}`, `["a b"]`),
		"empty added":      small(ab, `["a b"]`, `"added_tokens":[{"id":9,"content":""}],`),
		"added of vocab":   small(ab, `["a b"]`, `"added_tokens":[{"id":7,"content":"ab"}],`),
		"added of a class": small(ab, `["a b"]`, `"added_tokens":[{"id":5,"content":"x","special":true},{"id":5,"content":"x","special":false}],`),
	} {
		tok, err := Parse([]byte(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		equalIDs(t, name, tok.Encode("ab", nil), []int{2})
	}
}

// TestParseErrors: what is wrong is named, with its place, and nothing else happens.
func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	nested := func(n int) string {
		return strings.Repeat(`{"type":"Sequence","normalizers":[`, n) + `{"type":"NFC"}` + strings.Repeat("]}", n)
	}
	many := strings.TrimSuffix(strings.Repeat(`{"type":"Digits","individual_digits":true},`, 100), ",")
	doubling := strings.TrimSuffix(strings.Repeat(`{"type":"Replace","pattern":{"String":"a"},"content":"aa"},`, 60), ",")
	for _, c := range []struct {
		name, file string
		cause      error
		parts      []string
	}{
		{"empty", "", ErrSyntax, []string{"byte 0", "the file ends"}},
		{"not JSON", "hello", ErrSyntax, []string{"byte 0"}},
		{"an array", "[]", ErrField, []string{"expected an object, found an array"}},
		{"BOM", "\ufeff{}", ErrSyntax, []string{"byte 0"}},
		{"not UTF-8", "{\"a\":\"\xff\"}", ErrSyntax, []string{"byte 6", "UTF-8"}},
		{"trailing", small(ab, `["a b"]`) + "x", ErrSyntax, []string{"follows"}},
		{"no model", `{"version":"1.0"}`, ErrField, []string{"model"}},
		{"no vocab", `{"model":{"merges":[]}}`, ErrField, []string{"vocab"}},
		{"no merges", `{"model":{"vocab":{}}}`, ErrField, []string{"merges"}},
		{"version", strings.Replace(small(ab, `[]`), "1.0", "2.0", 1), ErrUnsupported, []string{"version", `"2.0"`}},
		{"model type", strings.Replace(small(ab, `[]`), "BPE", "WordPiece", 1), ErrUnsupported, []string{"model.type", "WordPiece"}},
		{"doubled field", `{"version":"1.0","version":"1.0"}`, ErrField, []string{`"version" appears twice`}},
		{"dropout", strings.Replace(small(ab, `[]`), `"vocab"`, `"dropout":0.1,"vocab"`, 1), ErrUnsupported, []string{"model.dropout", "0.1"}},
		{"suffix", strings.Replace(small(ab, `[]`), `"vocab"`, `"end_of_word_suffix":"</w>","vocab"`, 1), ErrUnsupported, []string{"model.end_of_word_suffix", "</w>"}},
		{"unknown token", strings.Replace(small(ab, `[]`), `"vocab"`, `"unk_token":"<unk>","vocab"`, 1), ErrVocab, []string{"model.unk_token", "<unk>"}},
		{"deep", `{"x":` + deep, ErrSyntax, []string{"x (byte", "levels deep"}},
		{"deep object", `{"x":` + strings.Repeat(`{"a":`, 100_000), ErrSyntax, []string{"levels deep"}},
		{"nested stages", small(ab, `[]`, `"normalizer":`, nested(1000), `,`), ErrSyntax, []string{"normalizer", "levels deep"}},
		{"many stages", small(ab, `[]`, `"pre_tokenizer":{"type":"Sequence","pretokenizers":[`, many, `]},`), ErrUnsupported, []string{"pre_tokenizer.pretokenizers[64]"}},
		{"growing text", small(ab, `[]`, `"normalizer":{"type":"Sequence","normalizers":[`, doubling, `]},`), ErrUnsupported, []string{"normalizer.normalizers[12]", "grows"}},
		{"vocab list", small(`["a"]`, `[]`), ErrField, []string{"model.vocab", "expected an object"}},
		{"id string", small(`{"a":"0"}`, `[]`), ErrField, []string{"model.vocab.a", "a string"}},
		{"id negative", small(`{"a":-1}`, `[]`), ErrField, []string{"model.vocab.a", "negative"}},
		{"id fraction", small(`{"a":1.5}`, `[]`), ErrField, []string{"model.vocab", "fraction"}},
		{"id 2^31", small(`{"a":2147483648}`, `[]`), ErrField, []string{"model.vocab", "larger than 2147483647"}},
		{"id 2^64", small(`{"a":18446744073709551616}`, `[]`), ErrField, []string{"model.vocab"}},
		{"id far", small(`{"a":2147483647}`, `[]`), ErrVocab, []string{"model.vocab", `"a"`, "2147483647"}},
		{"id twice", small(`{"a":0,"b":0}`, `[]`), ErrVocab, []string{"model.vocab", `"a"`, `"b"`, "id 0"}},
		{"token twice", small(`{"a":0,"a":1}`, `[]`), ErrVocab, []string{"model.vocab", `"a" appears twice`}},
		{"merge left", small(ab, `["x b"]`), ErrMerge, []string{"model.merges[0]", `"x"`}},
		{"merge right", small(ab, `["a b","a x"]`), ErrMerge, []string{"model.merges[1]", `"x"`}},
		{"merge joined", small(ab, `["b a"]`), ErrMerge, []string{"model.merges[0]", `"ba"`}},
		{"merge form", small(ab, `["ab"]`), ErrField, []string{"model.merges", "merge 0", `"ab"`}},
		{"merge spaces", small(ab, `["a b c"]`), ErrField, []string{"merge 0", `"a b c"`}},
		{"merge sides", small(ab, `[["a","b","c"]]`), ErrField, []string{"merge 0", "3 sides"}},
		{"merge number", small(ab, `[1]`), ErrField, []string{"model.merges", "a number"}},
		{"added id", small(ab, `[]`, `"added_tokens":[{"id":2147483647,"content":"x"}],`), ErrAddedToken, []string{"added_tokens[0]", "2147483647", `"x"`}},
		{"added id taken", small(ab, `[]`, `"added_tokens":[{"id":0,"content":"x"}],`), ErrAddedToken, []string{"added_tokens[0]", `"x"`, `"a"`}},
		{"added id twice", small(ab, `[]`, `"added_tokens":[{"id":5,"content":"x"},{"id":5,"content":"y"}],`), ErrAddedToken, []string{"added_tokens[1]", `"x"`, `"y"`}},
		{"added without id", small(ab, `[]`, `"added_tokens":[{"content":"x"}],`), ErrField, []string{"added_tokens[0]", "id"}},
		{"added long", small(ab, `[]`, `"added_tokens":[{"id":5,"content":"`, strings.Repeat("x", 5000), `"}],`), ErrAddedToken, []string{"added_tokens[0]", "5000"}},
		{"added flag", small(ab, `[]`, `"added_tokens":[{"id":5,"content":"x","lstrip":1}],`), ErrField, []string{"added_tokens[0].lstrip", "a boolean"}},
		{"normaliser", small(ab, `[]`, `"normalizer":{"type":"Precompiled"},`), ErrUnsupported, []string{"normalizer.type", "Precompiled"}},
		{"normaliser inside", small(ab, `[]`, `"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Nmt"}]},`), ErrUnsupported, []string{"normalizer.normalizers[1].type", "Nmt"}},
		{"no type", small(ab, `[]`, `"normalizer":{},`), ErrField, []string{"normalizer", "type"}},
		{"replace", small(ab, `[]`, `"normalizer":{"type":"Replace","pattern":{"String":""},"content":"x"},`), ErrUnsupported, []string{"normalizer.pattern", "empty"}},
		{"replace nothing", small(ab, `[]`, `"normalizer":{"type":"Replace","content":"x"},`), ErrField, []string{"normalizer", "pattern"}},
		{"pre-tokeniser", small(ab, `[]`, `"pre_tokenizer":{"type":"UnicodeScripts"},`), ErrUnsupported, []string{"pre_tokenizer.type", "UnicodeScripts"}},
		{"regex", small(ab, `[]`, `"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a|b)*"},"behavior":"Isolated","invert":false},`), ErrUnsupported, []string{"pre_tokenizer.pattern", `"(a|b)*"`}},
		{"behaviour", small(ab, `[]`, `"pre_tokenizer":{"type":"Split","pattern":{"String":"a"},"behavior":"Kept","invert":false},`), ErrUnsupported, []string{"pre_tokenizer.behavior", "Kept"}},
		{"pattern", small(ab, `[]`, `"pre_tokenizer":{"type":"Split","pattern":{"String":"a","Regex":"b"},"behavior":"Isolated","invert":false},`), ErrField, []string{"pre_tokenizer.pattern"}},
		{"byte level", small(ab, `[]`, `"pre_tokenizer":{"type":"ByteLevel"},`), ErrField, []string{"pre_tokenizer", "add_prefix_space"}},
		{"post-processor", small(ab, `[]`, `"post_processor":{"type":"Other"},`), ErrUnsupported, []string{"post_processor.type", "Other"}},
		{"template id", small(ab, `[]`, `"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"x":{"id":"x","ids":[99],"tokens":["x"]}}},`), ErrField, []string{"post_processor.single[0]", "99"}},
		{"template token", small(ab, `[]`, `"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{}},`), ErrField, []string{"single[0]", `"x"`}},
		{"template text", small(ab, `[]`, `"post_processor":{"type":"TemplateProcessing","single":[],"pair":[],"special_tokens":{}},`), ErrUnsupported, []string{"post_processor.single", "0 texts"}},
		{"decoder", small(ab, `[]`, `"decoder":{"type":"CTC"},`), ErrUnsupported, []string{"decoder.type", "CTC"}},
		{"decoder order", small(ab, `[]`, `"decoder":{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"ByteFallback"}]},`), ErrUnsupported, []string{"decoder.decoders[1]"}},
		{"escape", `{"\x":1}`, ErrSyntax, []string{"escape"}},
		{"surrogate", `{"\ud800":1}`, ErrSyntax, []string{"surrogate"}},
		{"surrogates", `{"\udc00\ud800":1}`, ErrSyntax, []string{"surrogate"}},
		{"control", "{\"a\nb\":1}", ErrSyntax, []string{"control character"}},
		{"number", `{"a":01}`, ErrSyntax, nil},
		{"comma", `{"a":1,}`, ErrSyntax, nil},
	} {
		tok, err := Parse([]byte(c.file))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		if tok != nil {
			t.Errorf("%s: a tokenizer beside the error", c.name)
		}
		wantError(t, err, c.cause, append([]string{"bpe: "}, c.parts...)...)
		if len(err.Error()) > 5000 {
			t.Errorf("%s: the error has %d bytes", c.name, len(err.Error()))
		}
	}
}

// TestParseTruncated: no prefix of a file is a tokenizer.
func TestParseTruncated(t *testing.T) {
	file := small(ab, `["a b",["a","b"]]`, `"added_tokens":[{"id":5,"content":"\u0078","special":true}],`,
		`"normalizer":{"type":"NFC"},"decoder":{"type":"ByteLevel"},`)
	if _, err := Parse([]byte(file)); err != nil {
		t.Fatal(err)
	}
	for n := range len(file) {
		if _, err := Parse([]byte(file[:n])); !errors.Is(err, ErrSyntax) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestParseAllocation: a small file never takes much memory.
func TestParseAllocation(t *testing.T) {
	file := []byte(small(`{"a":524287}`, `[]`, `"added_tokens":[{"id":524280,"content":"x"}],`))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Parse(file); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	bytes := after.TotalAlloc - before.TotalAlloc
	if bytes > 4<<20 {
		t.Errorf("a file of %d bytes took %d bytes", len(file), bytes)
	}
}

func TestNewErrors(t *testing.T) {
	base := func() Definition { return Definition{Vocab: []string{"a", "b", "ab", "", "x"}} }
	for _, c := range []struct {
		name   string
		change func(*Definition)
		cause  error
		parts  []string
	}{
		{"token twice", func(d *Definition) { d.Vocab = append(d.Vocab, "a") }, ErrVocab, []string{`"a"`, "0", "5"}},
		{"not UTF-8", func(d *Definition) { d.Vocab[1] = "\xff" }, ErrVocab, []string{"Vocab[1]"}},
		{"merge", func(d *Definition) { d.Merges = [][2]string{{"a", "b"}, {"b", "a"}} }, ErrMerge, []string{"Merges[1]", `"ba"`}},
		{"added", func(d *Definition) { d.AddedTokens = []AddedToken{{ID: 1, Content: "y"}} }, ErrAddedToken, []string{"AddedTokens[0]", `"b"`}},
		{"added not UTF-8", func(d *Definition) { d.AddedTokens = []AddedToken{{ID: 9, Content: "\xff"}} }, ErrAddedToken, []string{"AddedTokens[0]"}},
		{"added negative", func(d *Definition) { d.AddedTokens = []AddedToken{{ID: -1, Content: "y"}} }, ErrAddedToken, []string{"AddedTokens[0]", "-1"}},
		{"stage", func(d *Definition) { d.PreTokenizer.Type = "Nothing" }, ErrUnsupported, []string{"pre_tokenizer.type", "Nothing"}},
		{"metaspace", func(d *Definition) { d.PreTokenizer = PreTokenizerConfig{Type: "Metaspace", PrependScheme: "always"} }, ErrField, []string{"replacement"}},
		{"strip", func(d *Definition) { d.Decoder = DecoderConfig{Type: "Strip", Content: "  "} }, ErrField, []string{"decoder"}},
		{"special", func(d *Definition) {
			d.PostProcessor = PostProcessorConfig{Type: "TemplateProcessing", Single: []TemplatePiece{{Special: "s", IDs: []int{3}}, {}}}
		}, ErrField, []string{"post_processor.single[0]", "3"}},
	} {
		d := base()
		c.change(&d)
		_, err := New(d)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		wantError(t, err, c.cause, c.parts...)
	}
	tok, err := New(base())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tok.Token(3); ok || tok.VocabSize() != 5 || tok.TokenBytes(3) != nil {
		t.Error("the hole has a token")
	}
}
