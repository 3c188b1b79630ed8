// Generate continues a text, token by token.
//
//	generate MODEL PROMPT
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate MODEL PROMPT")
		os.Exit(2)
	}
	// Ctrl-C ends the generation between two tokens.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := generate(ctx, os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate writes prompt and its continuation to w.
func generate(ctx context.Context, w io.Writer, path, prompt string) error {
	model, err := llama.Open(path, nil)
	if err != nil {
		return err
	}
	defer model.Close()
	session, err := model.NewSession(nil)
	if err != nil {
		return err
	}
	defer session.Close()

	fmt.Fprint(w, prompt)
	ids := model.Tokenizer().Encode(prompt, &bpe.EncodeOptions{AddSpecial: true})
	start, tokens := time.Now(), 0
	for token, err := range session.Generate(ctx, ids, &llama.GenerateOptions{
		MaxTokens: 64,
		Sampling:  llama.Sampling{Temperature: 0.7, TopP: 0.9, Seed: 1},
	}) {
		if err != nil {
			return err
		}
		fmt.Fprint(w, token.Text)
		tokens++
	}
	fmt.Fprintf(w, "\n\n%d tokens, %.1f a second\n", tokens, float64(tokens)/time.Since(start).Seconds())
	return nil
}
