package llama

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/leveret-os/leveret/internal/jinja"
)

var (
	// ErrChatTemplate means a chat template that cannot be parsed, uses a part of
	// Jinja that is not supported, or fails on what it is given. The error names
	// the line.
	ErrChatTemplate = errors.New("llama: chat template")
	// ErrNoChatTemplate means a model without a chat template.
	ErrNoChatTemplate = errors.New("llama: the model has no chat template")
	// ErrChatLimit means a chat template that takes too many steps, too much
	// memory, or nests too deep.
	ErrChatLimit = errors.New("llama: chat template takes too much")
	// ErrChatRefused means that the template refuses the conversation, by its
	// raise_exception. The error holds the template's message.
	ErrChatRefused = errors.New("llama: the chat template refuses the conversation")
)

// A Message is one message of a conversation.
type Message struct {
	// Role is "system", "user", "assistant", "tool" or what else the template
	// knows.
	Role string
	// Content is the message's text.
	Content string
	// Reasoning is what an assistant thought before it answered. Templates see
	// it as reasoning_content.
	Reasoning string
	// ToolCalls are the tools that an assistant calls.
	ToolCalls []ToolCall
	// ToolCallID and Name say, in a message of a tool, which call it answers.
	ToolCallID, Name string
	// Extra holds further members for the template, or replaces those above:
	// a content of several parts, for example. Values are as in encoding/json.
	Extra map[string]any
}

// A ToolCall is a call of a tool by an assistant.
type ToolCall struct {
	ID   string // "" for none
	Name string
	// Arguments is a JSON value, mostly an object.
	Arguments json.RawMessage
}

// ChatOptions say how a conversation is rendered. The zero value, and nil, mean
// without a prompt for the assistant's next message.
type ChatOptions struct {
	// AddGenerationPrompt ends the text with the beginning of an assistant's
	// message, for the model to go on from.
	AddGenerationPrompt bool
	// Tools are descriptions of tools, JSON objects as in OpenAI's interface:
	// {"type": "function", "function": {"name", "description", "parameters"}}.
	// The order of members is kept.
	Tools []json.RawMessage
	// Extra holds further variables of the template, such as enable_thinking.
	// Values are as in encoding/json.
	Extra map[string]any
	// Now is the clock of templates that state the date; nil means time.Now.
	Now func() time.Time
	// Fuel is the budget for steps and bytes of intermediate text; 0 means one
	// that is ample for any real template.
	Fuel int
}

// A ChatTemplate turns conversations into prompts. It is immutable and safe for
// concurrent use.
//
// Templates are programs in Jinja that come with a model. They are interpreted
// as Hugging Face's transformers would, within limits (ErrChatLimit).
type ChatTemplate struct {
	template *jinja.Template
	tokens   map[string]string // "bos_token" → "<s>"
}

// NewChatTemplate parses a chat template. tokenizerConfig is the model's
// tokenizer_config.json, which names the special tokens that templates write
// (bos_token, eos_token and others); it may be nil.
func NewChatTemplate(source string, tokenizerConfig []byte) (*ChatTemplate, error) {
	template, err := jinja.Parse(source)
	if err != nil {
		return nil, chatError(err)
	}
	tokens, err := specialTokens(tokenizerConfig)
	if err != nil {
		return nil, err
	}
	return &ChatTemplate{template, tokens}, nil
}

// specialTokens reads the members of tokenizer_config.json whose names end in
// "_token": strings, or objects with the string as content.
func specialTokens(data []byte) (map[string]string, error) {
	tokens := map[string]string{}
	if len(data) == 0 {
		return tokens, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("%w: tokenizer_config.json: %w", ErrChatTemplate, err)
	}
	for _, key := range []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"} {
		v, ok := members[key]
		if !ok || string(v) == "null" {
			continue
		}
		var token struct{ Content *string }
		if json.Unmarshal(v, &token.Content) != nil && (json.Unmarshal(v, &token) != nil || token.Content == nil) {
			return nil, fmt.Errorf("%w: tokenizer_config.json: %s: want a string or an object with content, found %s", ErrChatTemplate, key, abbreviate(v))
		}
		tokens[key] = *token.Content
	}
	return tokens, nil
}

// ChatTemplate returns the model's chat template. Special tokens that
// tokenizer_config.json does not name are those of config.json.
func (m *Model) ChatTemplate() (*ChatTemplate, error) {
	source, tokenizerConfig := m.ck.ChatTemplate(), m.ck.TokenizerConfig()
	if m.closed.Load() {
		return nil, ErrClosed
	}
	if source == "" {
		return nil, ErrNoChatTemplate
	}
	t, err := NewChatTemplate(source, tokenizerConfig)
	if err != nil {
		return nil, err
	}
	name := func(key string, id *int) {
		if _, ok := t.tokens[key]; !ok && id != nil {
			if token, ok := m.tok.Token(*id); ok {
				t.tokens[key] = token
			}
		}
	}
	name("bos_token", m.config.BOSTokenID)
	if len(m.config.EOSTokenIDs) == 1 {
		name("eos_token", &m.config.EOSTokenIDs[0])
	}
	return t, nil
}

// Uses reports whether the template refers to a variable of that name: "tools",
// or one for ChatOptions.Extra.
func (t *ChatTemplate) Uses(variable string) bool { return t.template.Mentions(variable) }

// Render returns the text of a conversation. To encode it use Encode: in the
// text alone, special tokens of the template and the same characters in a
// message can no longer be told apart.
func (t *ChatTemplate) Render(messages []Message, opts *ChatOptions) (string, error) {
	r, err := t.render(messages, opts)
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

func (t *ChatTemplate) render(messages []Message, opts *ChatOptions) (*jinja.Rendering, error) {
	var o ChatOptions
	if opts != nil {
		o = *opts
	}
	list := make([]jinja.Value, len(messages))
	for i := range messages {
		v, err := messages[i].value()
		if err != nil {
			return nil, fmt.Errorf("%w: message %d: %w", ErrChatTemplate, i, err)
		}
		list[i] = v
	}
	vars := map[string]jinja.Value{"messages": jinja.List(list...), "tools": nil, "documents": nil, "add_generation_prompt": o.AddGenerationPrompt}
	if len(o.Tools) > 0 {
		if !t.Uses("tools") {
			return nil, fmt.Errorf("%w: it has no place for tools", ErrChatTemplate)
		}
		var tools []jinja.Value
		for i, data := range o.Tools {
			v, err := jinja.FromJSON(data)
			if err != nil {
				return nil, fmt.Errorf("%w: tool %d: %w", ErrChatTemplate, i, err)
			}
			tools = append(tools, v)
		}
		vars["tools"] = jinja.List(tools...)
	}
	for name, v := range o.Extra {
		w, err := fromGo(v)
		if err != nil {
			return nil, fmt.Errorf("%w: variable %q: %w", ErrChatTemplate, name, err)
		}
		vars[name] = w
	}
	return t.execute(vars, &o)
}

// execute renders with the given variables and the special tokens.
func (t *ChatTemplate) execute(vars map[string]jinja.Value, o *ChatOptions) (*jinja.Rendering, error) {
	for name, token := range t.tokens {
		if _, ok := vars[name]; !ok {
			vars[name] = jinja.Written(token)
		}
	}
	r, err := t.template.Render(vars, &jinja.Options{Fuel: o.Fuel, Now: o.Now})
	if err != nil {
		return nil, chatError(err)
	}
	return r, nil
}

// chatError gives an error of the interpreter its public cause.
func chatError(err error) error {
	switch {
	case errors.Is(err, jinja.ErrRaised):
		return fmt.Errorf("%w: %w", ErrChatRefused, err)
	case errors.Is(err, jinja.ErrLimit):
		return fmt.Errorf("%w: %w", ErrChatLimit, err)
	}
	return fmt.Errorf("%w: %w", ErrChatTemplate, err)
}

// value is what the template sees of a message.
func (m *Message) value() (jinja.Value, error) {
	d := jinja.NewDict()
	d.Set("role", jinja.Given(m.Role))
	d.Set("content", jinja.Given(m.Content))
	if m.Reasoning != "" {
		d.Set("reasoning_content", jinja.Given(m.Reasoning))
	}
	if len(m.ToolCalls) > 0 {
		var calls []jinja.Value
		for i, c := range m.ToolCalls {
			v, err := c.value()
			if err != nil {
				return nil, fmt.Errorf("tool call %d: %w", i, err)
			}
			calls = append(calls, v)
		}
		d.Set("tool_calls", jinja.List(calls...))
	}
	if m.ToolCallID != "" {
		d.Set("tool_call_id", jinja.Given(m.ToolCallID))
	}
	if m.Name != "" {
		d.Set("name", jinja.Given(m.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		v, err := fromGo(m.Extra[name])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		d.Set(name, v)
	}
	return d, nil
}

func (c *ToolCall) value() (jinja.Value, error) {
	arguments := jinja.Value(jinja.NewDict())
	if len(c.Arguments) > 0 {
		var err error
		if arguments, err = jinja.FromJSON(c.Arguments); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
	}
	function := jinja.NewDict()
	function.Set("name", jinja.Given(c.Name))
	function.Set("arguments", arguments)
	d := jinja.NewDict()
	if c.ID != "" {
		d.Set("id", jinja.Given(c.ID))
	}
	d.Set("type", jinja.Given("function"))
	d.Set("function", function)
	return d, nil
}

// fromGo converts by way of JSON, except for what JSON would not keep.
func fromGo(v any) (jinja.Value, error) {
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return jinja.Given(v), nil
	case float64:
		return v, nil
	case json.RawMessage:
		return jinja.FromJSON(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jinja.FromJSON(data)
}
