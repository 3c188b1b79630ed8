package grammar_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leveret-os/leveret/pkg/grammar"
)

// bytesVocabulary has a token for each byte, and one that ends the text.
func bytesVocabulary() *grammar.Vocabulary {
	v, err := grammar.NewVocabulary(257, func(id int) []byte {
		if id == 256 {
			return nil
		}
		return []byte{byte(id)}
	}, []int{256})
	if err != nil {
		panic(err)
	}
	return v
}

func legalText(legal []uint64) string {
	text := ""
	for id := range 257 {
		if legal[id/64]>>(id%64)&1 != 0 {
			if id == 256 {
				return text + "<end>"
			}
			text += string(rune(id))
		}
	}
	return text
}

func ExampleCompile() {
	g, err := grammar.Compile([]byte(`{"type":"integer","minimum":5,"maximum":12}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"5", "12", "13", "05"} {
		m := g.NewMatcher(nil)
		err := m.AcceptBytes([]byte(text))
		fmt.Println(text, err == nil && m.Complete())
	}

	_, err = grammar.Compile([]byte(`{"properties":{"a":{"not":{"type":"null"}}}}`), nil)
	var e *grammar.SchemaError
	fmt.Println(errors.Is(err, grammar.ErrUnsupported), errors.As(err, &e))
	fmt.Println(e.Keyword, e.Pointer)
	// Output:
	// 5 true
	// 12 true
	// 13 false
	// 05 false
	// true true
	// not #/properties/a
}

func ExampleCompileTools() {
	g, err := grammar.CompileTools([]grammar.Tool{
		{Name: "list_dir", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "now"},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{
		`{"name":"list_dir","arguments":{"path":"/"}}`,
		`{"name":"list_dir","arguments":{}}`,
		`{"name":"rm","arguments":{}}`,
		`{"name":"now","arguments":{}}`,
	} {
		fmt.Println(g.NewMatcher(nil).AcceptBytes([]byte(text)))
	}
	// Output:
	// <nil>
	// grammar: not legal here: byte 32: '}'
	// grammar: not legal here: byte 9: 'r'
	// <nil>
}

func ExampleNewVocabulary() {
	// With a pkg/bpe tokenizer t:
	//
	//	v, err := grammar.NewVocabulary(t.VocabSize(), func(id int) []byte {
	//		if t.IsSpecial(id) {
	//			return nil
	//		}
	//		return t.TokenBytes(id)
	//	}, eos)
	tokens := []string{"{", "}", `"`, "a", `":`, "<|end|>"}
	v, err := grammar.NewVocabulary(len(tokens), func(id int) []byte { return []byte(tokens[id]) }, []int{5})
	fmt.Println(v.Size(), err)
	// Output: 6 <nil>
}

func ExampleVocabulary_Size() {
	fmt.Println(bytesVocabulary().Size())
	// Output: 257
}

func ExampleGrammar_NewMatcher() {
	g, err := grammar.Compile([]byte(`{"enum":["yes","no"]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := bytesVocabulary()
	m := g.NewMatcher(v)
	legal := make([]uint64, (v.Size()+63)/64)
	for _, token := range []int{'"', 'n', 'o', '"', 256} {
		if err := m.Mask(legal); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("legal:", legalText(legal))
		if err := m.Accept(token); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("done:", m.Done())
	// Output:
	// legal: "
	// legal: ny
	// legal: o
	// legal: "
	// legal: <end>
	// done: true
}

func ExampleMatcher_Forced() {
	g, err := grammar.CompileTools([]grammar.Tool{
		{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "done"},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := g.NewMatcher(nil)
	for _, chosen := range []string{"r", `a.txt"`} {
		forced := m.Forced()
		fmt.Printf("forced %s chosen %s\n", forced, chosen)
		if err := m.AcceptBytes(append(forced, chosen...)); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("forced %s\n", m.Forced())
	// Output:
	// forced {"name":" chosen r
	// forced ead_file","arguments":{"path":" chosen a.txt"
	// forced }}
}

func ExampleMatcher_Clone() {
	g, err := grammar.Compile([]byte(`{"type":"boolean"}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := g.NewMatcher(nil)
	c := m.Clone()
	fmt.Println(m.AcceptBytes([]byte("true")), c.AcceptBytes([]byte("false")))
	fmt.Println(m.Complete(), m.Done())
	m.Reset()
	fmt.Println(m.Complete())
	// Output:
	// <nil> <nil>
	// true true
	// false
}

// A model that never wants to stop comes to an end, and a valid one.
func ExampleMatcher_LimitTokens() {
	g, err := grammar.Compile([]byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := bytesVocabulary()
	m := g.NewMatcher(v)
	fmt.Println("within 5:", errors.Is(m.LimitTokens(5), grammar.ErrLimit))
	fmt.Println("within 16:", m.LimitTokens(16))
	legal := make([]uint64, (v.Size()+63)/64)
	for !m.Done() {
		if err := m.Mask(legal); err != nil {
			fmt.Println(err)
			return
		}
		// The last letter before "{" that is legal, else the first of all tokens.
		best := -1
		for id := range v.Size() {
			if legal[id/64]>>(id%64)&1 != 0 && (best < 0 || id >= 'a' && id <= 'z') {
				best = id
			}
		}
		if err := m.Accept(best); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(string(rune(best)))
	}
	fmt.Println("\nlimited:", m.Limited())
	// Output:
	// within 5: true
	// within 16: <nil>
	// {"text":"zzzzz"}
	// limited: true
}
