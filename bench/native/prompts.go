package native

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
)

// Lengths, in tokens.
const (
	firstTokens  = 128  // generated after the prompt of 5
	chatTokens   = 32   // generated after the conversation
	prefill      = 512  // of the prompt whose time counts
	shortContext = 128  // before the tokens whose rate counts
	deepContext  = 2048 // before them in a long context
	decodeTokens = 128  // generated, the first not counted
)

// words returns a prompt of n tokens and its text: arbitrary words of the
// vocabulary, each one token, so that engines which take text get the same
// tokens. Another salt gives other words: no prompt begins like an earlier one,
// which an engine might remember.
func words(t *bpe.Tokenizer, n, salt int) ([]int, string, error) {
	var vocabulary []int
	for id := range t.VocabSize() {
		text := t.TokenBytes(id)
		plain := len(text) >= 4 && text[0] == ' ' &&
			!slices.ContainsFunc(text[1:], func(c byte) bool { return c < 'a' || c > 'z' })
		if plain && !t.IsSpecial(id) {
			vocabulary = append(vocabulary, id)
		}
	}
	if len(vocabulary) == 0 {
		return nil, "", fmt.Errorf("the vocabulary has no words")
	}
	ids := make([]int, n)
	var text strings.Builder
	for i := range ids {
		ids[i] = vocabulary[(i*7919+salt*104729+13)%len(vocabulary)]
		text.Write(t.TokenBytes(ids[i]))
	}
	if got := t.Encode(text.String(), nil); !slices.Equal(got, ids) {
		return nil, "", fmt.Errorf("a prompt of %d words has other tokens than it was made of", n)
	}
	return ids, text.String(), nil
}

// steps returns what a task asks of an engine. With tokens, the conversation
// is there too, whose tokens are compared with the reference's.
func steps(t *bpe.Tokenizer, task string, tokens bool) ([]step, int, error) {
	var list []step
	context := 0
	add := func(name string, ids []int, text string, n int) {
		list = append(list, step{Name: name, IDs: ids, Text: text, Tokens: n})
		context = max(context, len(ids)+n)
	}
	addWords := func(name string, prompt, n, salt int) error {
		ids, text, err := words(t, prompt, salt)
		add(name, ids, text, n)
		return err
	}
	var err error
	add("first", reference.Plain.IDs, reference.Plain.Text, firstTokens)
	switch task {
	case taskShort:
		err = addWords("decode", shortContext, decodeTokens, 1)
		for i := range 2 {
			if err == nil {
				err = addWords("prefill", prefill, 1, 2+i)
			}
		}
		if tokens {
			add("chat", reference.Chat.IDs, reference.Chat.Text, chatTokens)
		}
	case taskDeep:
		list[0].Tokens = 4 // to warm up
		err = addWords("deep", deepContext, decodeTokens, 4)
	case taskBusy:
		list[0].Tokens = 4
		err = addWords("busy", shortContext, decodeTokens, 5)
	}
	return list, context, err
}
