package bpe

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// pair returns the files vocab.json and merges.txt of a tokenizer of testdata.
func pair(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	var file struct {
		Model struct {
			Vocab  json.RawMessage
			Merges []string
		}
	}
	if err := json.Unmarshal(fixture(t, name+".json.gz"), &file); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		"vocab.json": {Data: file.Model.Vocab},
		"merges.txt": {Data: []byte("#version: 0.2\n" + strings.Join(file.Model.Merges, "\n") + "\n")},
	}
}

func TestLoadPair(t *testing.T) {
	folder := pair(t, "gpt-2")
	folder["special_tokens_map.json"] = &fstest.MapFile{Data: []byte(
		`{"bos_token":"<|endoftext|>","eos_token":{"content":"<|endoftext|>","lstrip":false},"pad_token":null,"unk_token":"<none>"}`)}
	tok, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range load[[]vector](t, "cases.json") {
		if v.Tokenizer == "gpt-2" {
			equalIDs(t, v.Text, tok.Encode(v.Text, &EncodeOptions{ParseSpecial: true}), v.IDs)
		}
	}
	if !tok.IsSpecial(50256) {
		t.Error("<|endoftext|> is not special")
	}
}

func TestLoadPairConfig(t *testing.T) {
	folder := pair(t, "gpt-2")
	folder["added_tokens.json"] = &fstest.MapFile{Data: []byte(`{"<|im_end|>":50300,"<x>":50301}`)}
	folder["tokenizer_config.json"] = &fstest.MapFile{Data: []byte(`{
		"tokenizer_class":"Qwen2TokenizerFast","add_prefix_space":null,"eos_token":"<|im_end|>","model_max_length":1e30,
		"additional_special_tokens":["<y>"],
		"added_tokens_decoder":{"50302":{"content":"<y>","rstrip":true,"special":true},"50301":{"content":"<x>","lstrip":true}}}`)}
	tok, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	equalIDs(t, "added", tok.Encode("b <x><y> <|im_end|>", &EncodeOptions{ParseSpecial: true}), []int{65, 50301, 50302, 50300})
	if n := tok.VocabSize(); n != 50303 {
		t.Errorf("VocabSize() = %d", n)
	}
	// Qwen's expression takes numbers apart.
	equalIDs(t, "digits", tok.Encode("11", nil), []int{16, 16})
}

func TestLoadPrefersTokenizerJSON(t *testing.T) {
	folder := pair(t, "gpt-2")
	folder["tokenizer.json"] = &fstest.MapFile{Data: fixture(t, "starcoder.json.gz")}
	tok, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tok.ID("<fim_prefix>"); !ok {
		t.Error("not the vocabulary of tokenizer.json")
	}
}

func TestLoadErrors(t *testing.T) {
	with := func(name, data string) fstest.MapFS {
		m := fstest.MapFS{
			"vocab.json": {Data: []byte(`{"a":0,"b":1,"ab":2}`)},
			"merges.txt": {Data: []byte("#version: 0.2\r\na b\r\n\n")},
		}
		if data == "" {
			delete(m, name)
		} else {
			m[name] = &fstest.MapFile{Data: []byte(data)}
		}
		return m
	}
	if _, err := Load(with("x", "x")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, data string
		cause      error
		parts      []string
	}{
		{"vocab.json", "", ErrNotFound, []string{"neither tokenizer.json nor vocab.json"}},
		{"merges.txt", "", ErrNotFound, []string{"merges.txt is not"}},
		{"tokenizer.json", "{", ErrSyntax, []string{"tokenizer.json"}},
		{"vocab.json", `{"a":0,"b":"c"}`, ErrField, []string{"vocab.json.b"}},
		{"vocab.json", "{\"a\xff\":0}", ErrSyntax, []string{"vocab.json (byte 3)"}},
		{"vocab.json", `{"a":0}{}`, ErrSyntax, []string{"vocab.json"}},
		{"merges.txt", "a b\nab", ErrSyntax, []string{"merges.txt:2", `"ab"`}},
		{"merges.txt", "a b\n\nb x\n", ErrMerge, []string{"merges.txt:3", `"x"`}},
		{"merges.txt", "a \xff", ErrSyntax, []string{"merges.txt", "UTF-8"}},
		{"added_tokens.json", `{"x":-1}`, ErrField, []string{"added_tokens.json.x"}},
		{"added_tokens.json", `{"x":0}`, ErrAddedToken, []string{"added tokens[0]", `"a"`}},
		{"special_tokens_map.json", `[]`, ErrField, []string{"special_tokens_map.json"}},
		{"tokenizer_config.json", `{"added_tokens_decoder":{"1x":{}}}`, ErrField, []string{"tokenizer_config.json.added_tokens_decoder", `"1x"`}},
		{"tokenizer_config.json", `{"tokenizer_class":"LlamaTokenizer"}`, ErrUnsupported, []string{"tokenizer_config.json.tokenizer_class", "LlamaTokenizer"}},
	} {
		_, err := Load(with(c.name, c.data))
		if err == nil {
			t.Errorf("%s = %q: accepted", c.name, c.data)
			continue
		}
		wantError(t, err, c.cause, c.parts...)
		if c.cause == ErrNotFound && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is no fs.ErrNotExist", err)
		}
	}
	if _, err := Load(fstest.MapFS{"tokenizer.json": {Mode: fs.ModeDir}}); err == nil {
		t.Error("a folder named tokenizer.json was accepted")
	}
}

// TestLoadCheckpointPair: the older pair of files of the real checkpoint. They do
// not say that digits stand alone, so texts with numbers may differ.
// What is no regular file is not opened: a pipe would wait for a writer.
func TestLoadIrregularFiles(t *testing.T) {
	for _, name := range []string{"tokenizer.json", "vocab.json", "merges.txt"} {
		for _, mode := range []fs.FileMode{fs.ModeNamedPipe, fs.ModeDevice, fs.ModeDir} {
			files := fstest.MapFS{
				"vocab.json": {Data: []byte(`{"a": 0}`)},
				"merges.txt": {},
			}
			files[name] = &fstest.MapFile{Mode: mode}
			if _, err := Load(files); !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s as %v: error %v, want one of an irregular file", name, mode, err)
			}
		}
	}
}

func TestLoadCheckpointPair(t *testing.T) {
	dir := testmodel.Dir(t, "bf16")
	folder := fstest.MapFS{}
	for _, name := range []string{"vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json"} {
		data, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		folder[name] = &fstest.MapFile{Data: data}
	}
	tok, err := Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, v := range load[[]vector](t, "smollm2_vectors.json") {
		if strings.ContainsFunc(v.Text, func(r rune) bool { return classes().of(r)&classNumeric != 0 }) {
			continue
		}
		compared++
		equalIDs(t, v.Text, tok.Encode(v.Text, &EncodeOptions{ParseSpecial: true}), v.IDs)
	}
	if compared < 100 {
		t.Errorf("only %d vectors have no digit", compared)
	}
}
