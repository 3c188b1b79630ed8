// Extract has a model turn a text into JSON that is sure to be valid by a schema,
// without an agent: a grammar says at each token what may come next.
//
//	extract "Send Ada 3 boxes of tea by Friday"
//	extract -model MODEL "Send Ada 3 boxes of tea by Friday"
//
// The model that is built in was trained for other work: what it writes is valid,
// and makes no sense.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/grammar"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/tiny"
)

// schema is what the model has to write.
const schema = `{
	"type": "object",
	"properties": {
		"customer": {"type": "string", "minLength": 1, "maxLength": 40},
		"item":     {"type": "string", "minLength": 1, "maxLength": 40},
		"quantity": {"type": "integer", "minimum": 1, "maximum": 1000},
		"urgent":   {"type": "boolean"}
	},
	"required": ["customer", "item", "quantity", "urgent"],
	"additionalProperties": false
}`

// maxTokens is how many tokens the JSON may have.
const maxTokens = 200

func main() {
	path := flag.String("model", "", "a model folder or GGUF file; without it, the model that is built in")
	flag.Parse()
	text := "Send Ada 3 boxes of tea by Friday"
	if flag.NArg() > 0 {
		text = strings.Join(flag.Args(), " ")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := extract(ctx, os.Stdout, *path, text); err != nil {
		fmt.Fprintln(os.Stderr, "extract:", err)
		os.Exit(1)
	}
}

// extract writes to w what a model makes of a text.
func extract(ctx context.Context, w io.Writer, path, text string) error {
	model, err := open(path)
	if err != nil {
		return err
	}
	defer model.Close()
	session, err := model.NewSession(nil)
	if err != nil {
		return err
	}
	defer session.Close()

	// A grammar and a vocabulary are made once; a matcher is for one text.
	g, err := grammar.Compile([]byte(schema), &grammar.Options{Spaced: true})
	if err != nil {
		return err
	}
	vocabulary, err := vocabularyOf(model)
	if err != nil {
		return err
	}
	matcher := g.NewMatcher(vocabulary)
	// Whatever the model wants to write, the text comes to its end.
	if err := matcher.LimitTokens(maxTokens); err != nil {
		return err
	}

	prompt := fmt.Sprintf("Message: %s\nThe order in it, as JSON with customer, item, quantity and urgent:\n", text)
	ids := model.Tokenizer().Encode(prompt, &bpe.EncodeOptions{AddSpecial: true})
	for token, err := range session.Generate(ctx, ids, &llama.GenerateOptions{MaxTokens: maxTokens, Constraint: matcher}) {
		if err != nil {
			return err
		}
		fmt.Fprint(w, token.Text)
	}
	fmt.Fprintln(w)
	return nil
}

func open(path string) (*llama.Model, error) {
	if path == "" {
		return tiny.Open(nil)
	}
	return llama.Open(path, nil)
}

// vocabularyOf tells a grammar what the model's tokens say. Special tokens say
// nothing: their text is written in pieces, like any other.
func vocabularyOf(model *llama.Model) (*grammar.Vocabulary, error) {
	tok, config := model.Tokenizer(), model.Config()
	return grammar.NewVocabulary(min(tok.VocabSize(), config.VocabSize), func(id int) []byte {
		if tok.IsSpecial(id) {
			return nil
		}
		return tok.TokenBytes(id)
	}, config.EOSTokenIDs)
}
