package bpe

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// fixture returns a file of testdata, unpacked.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(name, err)
	}
	if data, err = io.ReadAll(z); err != nil {
		t.Fatal(name, err)
	}
	return data
}

// tokenizer returns one of the tokenizers of testdata: gpt-2, llama3, mpt,
// starcoder, smollm2.
func tokenizer(t testing.TB, name string) *Tokenizer {
	t.Helper()
	return parse(t, fixture(t, name+".json.gz"))
}

func parse(t testing.TB, data []byte) *Tokenizer {
	t.Helper()
	tok, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// vector is a text with what the oracle makes of it.
type vector struct {
	Tokenizer string `json:"tokenizer"`
	Text      string `json:"text"`
	IDs       []int  `json:"ids"`     // special tokens in text off
	Special   []int  `json:"special"` // on; absent where equal
	Added     []int  `json:"added"`   // on, with the post-processor; absent where equal
	Decode    string `json:"decode"`  // of Added
	Skip      string `json:"skip"`    // of Added without special tokens
}

// load reads a JSON file of testdata.
func load[T any](t testing.TB, name string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(fixture(t, name), &v); err != nil {
		t.Fatal(name, err)
	}
	return v
}

// check compares a tokenizer with one vector, in all directions.
func (v vector) check(t *testing.T, tok *Tokenizer) {
	t.Helper()
	special, added := v.IDs, v.IDs
	if v.Special != nil {
		special = v.Special
	}
	if v.Added != nil {
		added = v.Added
	}
	equalIDs(t, v.Text, tok.Encode(v.Text, nil), v.IDs)
	equalIDs(t, v.Text+" (special)", tok.Encode(v.Text, &EncodeOptions{ParseSpecial: true}), special)
	equalIDs(t, v.Text+" (added)", tok.Encode(v.Text, &EncodeOptions{ParseSpecial: true, AddSpecial: true}), added)
	for _, opts := range []*DecodeOptions{nil, {SkipSpecial: true}} {
		want := v.Decode
		if opts != nil {
			want = v.Skip
		}
		if got := tok.Decode(added, opts); got != want {
			t.Errorf("%q: decoded %q, want %q", v.Text, got, want)
		}
		got := strings.Join(stream(tok, added, opts), "")
		if fallback := tok.decode.fallback && strings.Contains(want, replacement); got != want && !fallback {
			t.Errorf("%q: streamed %q, want %q", v.Text, got, want)
		}
	}
}

func equalIDs(t *testing.T, text string, got, want []int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%q: ids %v, want %v", text, got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%q: ids %v, want %v", text, got, want)
			return
		}
	}
}

// stream decodes ids one at a time and returns the pieces, that of Flush last.
func stream(tok *Tokenizer, ids []int, opts *DecodeOptions) []string {
	d := tok.NewDecoder(opts)
	var out []string
	for _, id := range ids {
		out = append(out, d.Add(id))
	}
	return append(out, d.Flush())
}

// whole reports that a piece of a stream is made of whole characters.
func whole(piece string) bool { return utf8.ValidString(piece) }

// wantError checks the cause of an error and that its text has each part.
func wantError(t *testing.T, err, cause error, parts ...string) {
	t.Helper()
	if !errors.Is(err, cause) {
		t.Errorf("error %v, want one that wraps %q", err, cause)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
}

func quote(s string) string { return strconv.Quote(s) }

// mapFS is a folder of files in memory.
type mapFS map[string][]byte

func (m mapFS) Open(name string) (fs.File, error) {
	files := fstest.MapFS{}
	for n, data := range m {
		files[n] = &fstest.MapFile{Data: data}
	}
	return files.Open(name)
}
