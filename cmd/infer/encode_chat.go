package main

import (
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// encodeChat returns the tokens of a conversation that the model goes on from.
// What users write is text, unless special says that the spelling of special
// tokens in it means these tokens.
func encodeChat(m *llama.Model, messages []llama.Message, special bool) ([]int, error) {
	template, err := m.ChatTemplate()
	if err != nil {
		return nil, err
	}
	options := &llama.ChatOptions{AddGenerationPrompt: true}
	if !special {
		return template.Encode(m.Tokenizer(), messages, options)
	}
	text, err := template.Render(messages, options)
	if err != nil {
		return nil, err
	}
	return m.Tokenizer().Encode(text, &bpe.EncodeOptions{ParseSpecial: true}), nil
}
