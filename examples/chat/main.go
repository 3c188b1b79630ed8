// Chat talks with a model in the terminal: a line is a message. Ctrl-C ends an
// answer, and between answers the program.
//
//	chat MODEL
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/leveret-os/leveret/pkg/llama"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: chat MODEL")
		os.Exit(2)
	}
	if err := chat(os.Stdin, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

// chat answers every line of r on w until r ends.
func chat(r io.Reader, w io.Writer, path string) error {
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

	var messages []llama.Message
	lines := bufio.NewScanner(r)
	for fmt.Fprint(w, "> "); lines.Scan(); fmt.Fprint(w, "\n> ") {
		messages = append(messages, llama.Message{Role: "user", Content: lines.Text()})
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		answer, err := answer(ctx, w, model, session, messages)
		stop()
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		messages = append(messages, llama.Message{Role: "assistant", Content: answer})
	}
	fmt.Fprintln(w)
	return lines.Err()
}

// answer streams the model's answer to messages to w and returns it; with an
// error, what there was of it.
func answer(ctx context.Context, w io.Writer, model *llama.Model, session *llama.Session, messages []llama.Message) (string, error) {
	template, err := model.ChatTemplate()
	if err != nil {
		return "", err
	}
	ids, err := template.Encode(model.Tokenizer(), messages, &llama.ChatOptions{AddGenerationPrompt: true})
	if err != nil {
		return "", err
	}
	// What the session computed for earlier messages is kept.
	rest, err := session.Rewind(ids)
	if err != nil {
		return "", err
	}
	text := ""
	for token, err := range session.Generate(ctx, rest, &llama.GenerateOptions{MaxTokens: 256}) {
		if err != nil {
			return text, err
		}
		fmt.Fprint(w, token.Text)
		text += token.Text
	}
	return text, nil
}
