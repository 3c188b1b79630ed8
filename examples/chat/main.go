// Chat talks with a model in the terminal: a line is a message.
//
//	chat MODEL
package main

import (
	"bufio"
	"context"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := chat(ctx, os.Stdin, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

// chat answers every line of r on w until r ends.
func chat(ctx context.Context, r io.Reader, w io.Writer, path string) error {
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
		answer, err := answer(ctx, w, model, session, messages)
		if err != nil {
			return err
		}
		messages = append(messages, llama.Message{Role: "assistant", Content: answer})
	}
	return lines.Err()
}

// answer streams the model's answer to messages to w and returns it.
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
			return "", err
		}
		fmt.Fprint(w, token.Text)
		text += token.Text
	}
	return text, nil
}
