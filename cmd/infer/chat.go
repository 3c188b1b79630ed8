package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/leveret-os/leveret/pkg/llama"
)

// messages returns the chat that a single prompt begins.
func (p *promptFlags) messages(text string) []llama.Message {
	var m []llama.Message
	if p.system != "" {
		m = append(m, llama.Message{Role: "system", Content: p.system})
	}
	return append(m, llama.Message{Role: "user", Content: text})
}

// converse reads messages from standard input, one a line, and answers each.
// On a terminal it shows where to write.
func (r *runFlags) converse(ctx context.Context, c *console, model *llama.Model, options llama.GenerateOptions) error {
	n := r.context
	if n == 0 {
		n = min(model.Config().ContextLength(), defaultContext)
	}
	session, err := model.NewSession(&llama.SessionOptions{Context: n})
	if err != nil {
		return err
	}
	defer session.Close()
	if _, err := model.ChatTemplate(); err != nil {
		return err
	}
	prompt := terminal(c.stdin) && terminal(c.stdout)
	if prompt {
		fmt.Fprintln(c.stderr, "A message a line; an empty line or Ctrl-D ends.")
	}
	var messages []llama.Message
	if r.prompt.system != "" {
		messages = append(messages, llama.Message{Role: "system", Content: r.prompt.system})
	}
	lines := readLines(c.stdin)
	for {
		if prompt {
			fmt.Fprint(c.stdout, "> ")
		}
		var line readLine
		select {
		case <-ctx.Done():
			fmt.Fprintln(c.stdout)
			return errInterrupted
		case line = <-lines:
		}
		if line.err == io.EOF || line.err == nil && line.text == "" {
			return nil
		}
		if line.err != nil {
			return line.err
		}
		messages = append(messages, llama.Message{Role: "user", Content: line.text})
		answer, err := r.answer(ctx, c, session, messages, options)
		if err != nil {
			return err
		}
		messages = append(messages, llama.Message{Role: "assistant", Content: answer})
	}
}

// answer generates the next message. Of the conversation only what the session
// does not hold yet is computed.
func (r *runFlags) answer(ctx context.Context, c *console, s *llama.Session, messages []llama.Message, options llama.GenerateOptions) (string, error) {
	ids, err := encodeChat(s.Model(), messages, r.prompt.special)
	if err != nil {
		return "", err
	}
	rest, err := s.Rewind(ids)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	out := &textSink{w: c.stdout}
	for token, err := range s.Generate(ctx, rest, &options) {
		if interrupted(ctx, err) {
			out.end(nil)
			return "", errInterrupted
		}
		if errors.Is(err, llama.ErrContext) {
			return "", fmt.Errorf("the conversation no longer fits: %w", err)
		}
		if err != nil {
			return "", err
		}
		text.WriteString(token.Text)
		if err := out.token(token); err != nil {
			return "", err
		}
		if token.Finish == llama.FinishContext {
			c.note("the context of %d positions is full", s.Context())
		}
	}
	return text.String(), out.end(nil)
}

type readLine struct {
	text string
	err  error
}

// maxLine bounds one message of a conversation.
const maxLine = 1 << 20

// readLines reads lines in a goroutine of its own, so that an interrupt need
// not wait for one.
func readLines(r io.Reader) <-chan readLine {
	lines := make(chan readLine)
	go func() {
		s := bufio.NewScanner(r)
		s.Buffer(nil, maxLine)
		for s.Scan() {
			lines <- readLine{text: s.Text()}
		}
		err := s.Err()
		switch {
		case err == nil:
			err = io.EOF
		case errors.Is(err, bufio.ErrTooLong):
			err = fmt.Errorf("a message is longer than %d bytes", maxLine)
		}
		lines <- readLine{err: err}
	}()
	return lines
}
