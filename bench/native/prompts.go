package native

import (
	"errors"
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
	draftTokens  = 96   // generated with and without drafts
	batchTokens  = 64   // generated in each of several sessions
	batchSize    = 8    // sessions
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
	case taskDraft:
		list[0].Tokens = 4
		// Twice each in turns; the better of two counts.
		for range 2 {
			for _, p := range draftPrompts {
				ids := t.Encode(p.text, &bpe.EncodeOptions{AddSpecial: true, ParseSpecial: true})
				add(p.key, ids, p.text, draftTokens)
				add(p.key+"_draft", ids, p.text, draftTokens)
				list[len(list)-1].Draft = true
			}
		}
	case taskBatch:
		list[0].Tokens = 4
		for range 2 {
			err = errors.Join(err, addWords(keyBatchOne, shortContext, batchTokens, 6), addWords(keyBatch, shortContext, batchTokens, 6))
			list[len(list)-1].Sessions = batchSize
		}
	case taskBusy:
		list[0].Tokens = 4
		err = addWords("busy", shortContext, decodeTokens, 5)
	}
	return list, context, err
}

// draftPrompts are conversations whose answers give back much of the prompt, and
// one whose answer does not.
var draftPrompts = []struct{ key, text string }{
	{keyCode, conversation("Repeat this code exactly:\n" + `def read_config(path):
    with open(path) as f:
        data = json.load(f)
    for key in ("name", "version", "author"):
        if key not in data:
            raise ValueError(f"{path}: no {key}")
    return data

def write_config(path, data):
    with open(path, "w") as f:
        json.dump(data, f, indent=2)
`)},
	{keyRewrite, conversation("Rewrite this text, correcting any errors:\n" +
		"The city council met on Tuesday to discuss the new bridge over the river Alder. The bridge, which will cost 14 million crowns, is to replace the ferry that has carried passengers since 1921. Council member Petra Lind said that the bridge would shorten the way to the hospital by twenty minutes. Her colleague Jonas Berg objected that the ferry was part of the town's history and asked that it be kept for tourists in the summer. The council decided to begin construction in March and to keep the ferry in operation until the bridge is open. A public hearing will take place on the ninth of January in the town hall.")},
	{keyProse, conversation("Explain how rain forms.")},
}

// conversation spells a user's message as the checkpoint's chat template does.
func conversation(message string) string {
	return "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n<|im_start|>user\n" + message + "<|im_end|>\n<|im_start|>assistant\n"
}
