package bpe_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/leveret-os/leveret/pkg/bpe"
)

// alphabet returns the 256 byte tokens, so that any text has ids.
func alphabet() []string {
	var out []string
	next := rune(256)
	for b := rune(0); b < 256; b++ {
		r := b
		if b < '!' || b == 0x7F || 0x80 <= b && b <= 0xA0 || b == 0xAD {
			r, next = next, next+1
		}
		out = append(out, string(r))
	}
	return out
}

// definition is a small byte-level tokenizer: the bytes, the word " hello" and a
// control token.
func definition() bpe.Definition {
	return bpe.Definition{
		Vocab: append(alphabet(), "he", "ll", "hell", "hello", "Ġhello", "<|end|>"),
		Merges: [][2]string{
			{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {"Ġ", "hello"},
		},
		PreTokenizer: bpe.PreTokenizerConfig{Type: "ByteLevel", UseRegex: true},
		Decoder:      bpe.DecoderConfig{Type: "ByteLevel"},
		AddedTokens:  []bpe.AddedToken{{ID: 261, Content: "<|end|>", Special: true}},
	}
}

func newTokenizer() *bpe.Tokenizer {
	t, err := bpe.New(definition())
	if err != nil {
		log.Fatal(err)
	}
	return t
}

func Example() {
	t := newTokenizer()
	ids := t.Encode("hello hello!", nil)
	fmt.Println(ids)
	fmt.Println(t.Decode(ids, nil))
	// Output:
	// [259 260 33]
	// hello hello!
}

func ExampleNew() {
	t, err := bpe.New(bpe.Definition{
		Vocab:   []string{"a", "b", "ab"},
		Merges:  [][2]string{{"a", "b"}},
		Decoder: bpe.DecoderConfig{Type: "ByteLevel"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Encode("abba", nil))
	_, err = bpe.New(bpe.Definition{Vocab: []string{"a"}, Merges: [][2]string{{"a", "b"}}})
	fmt.Println(err)
	// Output:
	// [2 1 0]
	// bpe: Merges[0]: bad merge: "b" is not in the vocabulary
}

func ExampleParse() {
	t, err := bpe.Parse([]byte(`{
		"version": "1.0",
		"added_tokens": [{"id": 3, "content": "<s>", "special": true}],
		"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.VocabSize(), t.Encode("ab", nil))
	// Output: 4 [2]
}

func ExampleLoad() {
	// os.DirFS("path/to/model") gives a folder on disk.
	folder := fstest.MapFS{
		"vocab.json": {Data: []byte(`{"a":0,"b":1,"ab":2}`)},
		"merges.txt": {Data: []byte("#version: 0.2\na b\n")},
	}
	t, err := bpe.Load(folder)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Encode("ab", nil))
	// Output: [2]
}

func ExampleTokenizer_Encode() {
	t := newTokenizer()
	// The spelling of a control token in text is only text …
	fmt.Println(len(t.Encode("hello<|end|>", nil)))
	// … unless the program says that it wrote the text itself.
	fmt.Println(t.Encode("hello<|end|>", &bpe.EncodeOptions{ParseSpecial: true}))
	// Output:
	// 8
	// [259 261]
}

func ExampleTokenizer_Decode() {
	t := newTokenizer()
	ids := []int{259, 260, 261}
	fmt.Println(t.Decode(ids, nil))
	fmt.Println(t.Decode(ids, &bpe.DecodeOptions{SkipSpecial: true}))
	// Output:
	// hello hello<|end|>
	// hello hello
}

func ExampleTokenizer_NewDecoder() {
	t := newTokenizer()
	d := t.NewDecoder(nil)
	for _, id := range t.Encode("é!", nil) {
		fmt.Printf("%q ", d.Add(id)) // the two bytes of é are shown together
	}
	fmt.Printf("%q\n", d.Flush())
	// Output: "" "é" "!" ""
}

func ExampleDecoder_Add() {
	t := newTokenizer()
	d := t.NewDecoder(nil)
	fmt.Printf("%q %q %q\n", d.Add(0xF0), d.Add(0x9F), d.Add('a')) // cut short by another character
	// Output: "" "" "�a"
}

func ExampleDecoder_Flush() {
	t := newTokenizer()
	d := t.NewDecoder(nil)
	fmt.Printf("%q %q\n", d.Add(0xF0), d.Flush())
	// Output: "" "�"
}

func ExampleTokenizer_TokenBytes() {
	t := newTokenizer()
	fmt.Printf("%q %q\n", t.TokenBytes(260), t.TokenBytes(1000))
	// Output: " hello" ""
}

func ExampleTokenizer_Token() {
	t := newTokenizer()
	fmt.Println(t.Token(260))
	fmt.Println(t.Token(1000))
	// Output:
	// Ġhello true
	//  false
}

func ExampleTokenizer_ID() {
	t := newTokenizer()
	fmt.Println(t.ID("Ġhello"))
	// Output: 260 true
}

func ExampleTokenizer_VocabSize() {
	fmt.Println(newTokenizer().VocabSize())
	// Output: 262
}

func ExampleTokenizer_IsSpecial() {
	t := newTokenizer()
	fmt.Println(t.IsSpecial(260), t.IsSpecial(261))
	// Output: false true
}

func ExampleTokenizer_AddedTokens() {
	for _, a := range newTokenizer().AddedTokens() {
		fmt.Println(a.ID, a.Content, a.Special)
	}
	// Output: 261 <|end|> true
}
