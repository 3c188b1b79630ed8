package llama_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// digits is a constraint: a number of so many digits.
type digits struct {
	tokenizer *bpe.Tokenizer
	left      int
}

func (d *digits) Mask(legal []uint64) error {
	clear(legal)
	for id := range d.tokenizer.VocabSize() {
		text := d.tokenizer.TokenBytes(id)
		if n := len(text); 0 < n && n <= d.left && len(bytes.Trim(text, "0123456789")) == 0 {
			legal[id/64] |= 1 << (id % 64)
		}
	}
	return nil
}

func (d *digits) Forced() []byte { return nil }

func (d *digits) Accept(id int) error {
	d.left -= len(d.tokenizer.TokenBytes(id))
	return nil
}

func (d *digits) Done() bool { return d.left == 0 }

func ExampleConstraint() {
	model := tinyModel()
	defer model.Close()
	session, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	prompt := model.Tokenizer().Encode("A number: ", nil)
	number := ""
	for token, err := range session.Generate(context.Background(), prompt, &llama.GenerateOptions{
		Constraint: &digits{tokenizer: model.Tokenizer(), left: 6},
	}) {
		if err != nil {
			log.Fatal(err)
		}
		number += token.Text
		if token.Finish != "" {
			fmt.Println(len(number), "digits, ended by", token.Finish)
		}
	}
	// Output: 6 digits, ended by constraint
}
