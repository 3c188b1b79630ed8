package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// maxPrompt bounds a prompt that is read from a file: more than any context
// holds.
const maxPrompt = 64 << 20

// promptFlags say what the model is given.
type promptFlags struct {
	text, file, system string
	hasText            bool
	chat, special      bool
	flags              *flags
}

func (p *promptFlags) declare(f *flags) {
	p.flags = f
	f.string(&p.text, "p,prompt", "TEXT", "the prompt")
	f.string(&p.file, "f,file", "FILE", "read the prompt from a file ('-': standard input); a newline at its end is left out")
	f.bool(&p.chat, "chat", "the prompt is a user's message, put into the model's chat template; without a prompt, a conversation")
	f.string(&p.system, "system", "TEXT", "the system message of the chat")
	f.bool(&p.special, "parse-special", "the spelling of special tokens in the prompt means these tokens")
}

func (p *promptFlags) check() error {
	p.hasText = p.flags.given("p")
	switch {
	case p.hasText && p.flags.given("f"):
		return usagef("-p and -f are two prompts: give one")
	case !p.chat && !p.hasText && !p.flags.given("f"):
		return usagef("no prompt given: -p TEXT, -f FILE ('-' for standard input), or --chat")
	case p.flags.given("f") && p.file == "":
		return usagef("-f: expected a file name")
	case !p.chat && p.flags.given("system"):
		return usagef("--system needs --chat")
	}
	return nil
}

// interactive reports whether messages are to be read from standard input.
func (p *promptFlags) interactive() bool { return p.chat && !p.hasText && p.file == "" }

// read returns the prompt's text.
func (p *promptFlags) read(c *console) (string, error) {
	if p.file == "" {
		return p.text, nil
	}
	b, err := readText(c, p.file)
	return string(bytes.TrimSuffix(b, []byte("\n"))), err
}

// readText reads a file, or standard input for "-".
func readText(c *console, name string) ([]byte, error) {
	r := c.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxPrompt+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxPrompt {
		return nil, fmt.Errorf("%s: more than %d bytes of text", name, maxPrompt)
	}
	return b, nil
}

// encode returns the token ids of the prompt.
func (p *promptFlags) encode(m *llama.Model, text string) ([]int, error) {
	if p.chat {
		return encodeChat(m, p.messages(text), p.special)
	}
	return m.Tokenizer().Encode(text, &bpe.EncodeOptions{AddSpecial: true, ParseSpecial: p.special}), nil
}
