package agent

import (
	"errors"
	"fmt"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/grammar"
	"github.com/leveret-os/leveret/pkg/llama"
)

// LlamaOptions say how a model of pkg/llama writes calls. The zero value, and
// nil, are the defaults.
type LlamaOptions struct {
	// Context is the number of tokens of a run's context; 0 means what the model
	// was made for, at most 8,192.
	Context int
	// Sampling says how a token is picked; the zero value is greedily. From one
	// call to the next the seed goes up by one.
	Sampling llama.Sampling
	// Open lets the model write arguments that a tool's schema does not declare,
	// where it does not forbid them.
	Open bool
}

// Llama is a model of pkg/llama that writes calls, and cannot write anything
// else: pkg/grammar says at each token what is legal. Several agents may use it
// at the same time.
type Llama struct {
	model      *llama.Model
	opts       LlamaOptions
	chat       *chat
	vocabulary *grammar.Vocabulary
}

// NewLlama makes a model ready for agents. The model stays the caller's to
// close, after the agents.
func NewLlama(model *llama.Model, opts *LlamaOptions) (*Llama, error) {
	l := &Llama{model: model}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.Context == 0 {
		l.opts.Context = min(model.Config().ContextLength(), 8192)
	}
	template, err := model.ChatTemplate()
	if err != nil && !errors.Is(err, llama.ErrNoChatTemplate) {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if l.chat, err = newChat(template); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if bos := model.Config().BOSTokenID; template == nil && bos != nil {
		l.chat.bos = []int{*bos}
	}
	l.vocabulary, err = vocabularyOf(model)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return l, nil
}

// vocabularyOf tells a grammar what the model's tokens say. Special tokens say
// nothing: the text "<|im_end|>" in a call is written in pieces.
func vocabularyOf(model *llama.Model) (*grammar.Vocabulary, error) {
	tok, config := model.Tokenizer(), model.Config()
	n := min(tok.VocabSize(), config.VocabSize)
	var eos []int
	for _, id := range config.EOSTokenIDs {
		if id < n {
			eos = append(eos, id)
		}
	}
	return grammar.NewVocabulary(n, func(id int) []byte {
		if tok.IsSpecial(id) {
			return nil
		}
		return tok.TokenBytes(id)
	}, eos)
}

// maxCall bounds a call, in bytes. The number of tokens ends it long before.
const maxCall = 1 << 16

// grammarOptions are those of all calls.
func (l *Llama) grammarOptions() *grammar.Options {
	return &grammar.Options{Closed: !l.opts.Open, Spaced: l.chat.spaced, MaxBytes: maxCall}
}

// Check reports a tool whose schema cannot be compiled to a grammar.
func (l *Llama) Check(tool Spec) error {
	_, err := grammar.CompileTools([]grammar.Tool{{Name: tool.Name, Schema: tool.Schema}}, l.grammarOptions())
	return err
}

// Bind compiles the tools and opens a session.
func (l *Llama) Bind(tools []Spec) (Caller, error) {
	var list []grammar.Tool
	for _, t := range tools {
		list = append(list, grammar.Tool{Name: t.Name, Schema: t.Schema})
	}
	g, err := grammar.CompileTools(list, l.grammarOptions())
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	session, err := l.model.NewSession(&llama.SessionOptions{Context: l.opts.Context})
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return &llamaCaller{l: l, tools: tools, grammar: g, session: session}, nil
}

// llamaCaller is a Llama that is bound to tools.
type llamaCaller struct {
	l       *Llama
	tools   []Spec
	grammar *grammar.Grammar
	session *llama.Session
	calls   uint64
}

func (c *llamaCaller) Context() int { return c.session.Context() }

func (c *llamaCaller) Prompt(messages []llama.Message) ([]int, error) {
	return c.l.chat.prompt(c.l.model.Tokenizer(), messages, c.tools)
}

func (c *llamaCaller) Cut(text string, n int) string {
	return cutTokens(c.l.model.Tokenizer(), text, n)
}

func (c *llamaCaller) Close() error {
	c.session.Close()
	return nil
}

// cutTokens returns the beginning of a text that has at most n tokens.
func cutTokens(tok *bpe.Tokenizer, text string, n int) string {
	if n <= 0 {
		return ""
	}
	ids := tok.Encode(text, nil)
	for most := len(text) - 1; len(ids) > n; most = len(text) * 15 / 16 {
		size := 0
		for _, id := range ids[:n] {
			size += len(tok.TokenBytes(id))
		}
		// The beginning alone may have other tokens, and more, or a tokenizer may
		// count other bytes than the text has. Either way it gets shorter.
		text = clip(text, min(size, most))
		ids = tok.Encode(text, nil)
	}
	return text
}
