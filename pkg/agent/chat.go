package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// plainTemplate is for models without a chat template.
const plainTemplate = `{% for message in messages %}{% if message.role == 'system' %}{{ message.content }}

{% elif message.role == 'assistant' %}Assistant: {{ message.content }}
{% else %}User: {{ message.content }}
{% endif %}{% endfor %}{% if add_generation_prompt %}Assistant: {% endif %}`

// chat writes conversations with calls by a model's chat template. What a
// template can do differs, so it is tried out.
type chat struct {
	template *llama.ChatTemplate
	extra    map[string]any
	// tools: the template has a place for tools, calls and their results.
	// Otherwise tools stand in the system message, calls are what the assistant
	// says, and results what the user says.
	tools bool
	// system: the template has a place for a system message. Otherwise it is the
	// beginning of the task.
	system bool
	// prefix is what the template writes between the beginning of the
	// assistant's message and a call, like "<tool_call>\n".
	prefix string
	// spaced: the template writes calls with a space after commas and colons.
	spaced bool
	bos    []int // before a prompt of plainTemplate
}

// newChat tries out a model's template; nil means that it has none.
func newChat(template *llama.ChatTemplate) (*chat, error) {
	c := &chat{template: template}
	if template == nil {
		var err error
		if c.template, err = llama.NewChatTemplate(plainTemplate, nil); err != nil {
			return nil, err
		}
	}
	if c.template.Uses("enable_thinking") { // a call is all that the model may write
		c.extra = map[string]any{"enable_thinking": false}
	}
	var problem error
	for _, try := range []struct{ tools, system bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		c.tools, c.system = try.tools, try.system
		if problem = c.try(); problem == nil {
			if c.tools {
				c.learnCall()
			}
			return c, nil
		}
	}
	return nil, fmt.Errorf("the chat template does not write a conversation: %w", problem)
}

// probe is a conversation whose parts are recognised in what a template writes.
var probe = struct {
	tool     Spec
	messages []llama.Message
	marks    []string
}{
	Spec{"probe_tool", "probe description", []byte(`{"type":"object","properties":{"probe_key":{"type":"string"}},"required":["probe_key"]}`)},
	[]llama.Message{
		{Role: "system", Content: "probe system"},
		{Role: "user", Content: "probe task"},
		{Role: "assistant", ToolCalls: []llama.ToolCall{{ID: "call00001", Name: "probe_tool", Arguments: []byte(`{"probe_key":"probe argument"}`)}}},
		{Role: "tool", Content: "probe result", ToolCallID: "call00001", Name: "probe_tool"},
		{Role: "assistant", ToolCalls: []llama.ToolCall{{ID: "call00002", Name: "probe_tool", Arguments: []byte(`{"probe_key":"second argument"}`)}}},
		{Role: "tool", Content: "second result", ToolCallID: "call00002", Name: "probe_tool"},
	},
	[]string{"probe system", "probe task", "probe_tool", "probe_key", "probe argument", "probe result", "second argument", "second result"},
}

// try reports what is wrong with the template when it is used in this way.
func (c *chat) try() error {
	if c.tools && !c.template.Uses("tools") {
		return errors.New("it has no place for tools")
	}
	text, err := c.render(probe.messages, []Spec{probe.tool}, true)
	if err != nil {
		return err
	}
	if again, err := c.render(probe.messages, []Spec{probe.tool}, true); err != nil || again != text {
		return errors.New("it writes the same conversation differently each time")
	}
	at := 0
	for _, mark := range probe.marks {
		i := strings.Index(text, mark)
		if i < 0 {
			return fmt.Errorf("it leaves out what stands for %q", mark)
		}
		if strings.HasPrefix(mark, "second") && i < at {
			return errors.New("it changes the order of messages")
		}
		at = i
	}
	return nil
}

var probeCall = regexp.MustCompile(`\{\s*"name"\s*:(\s*)"probe_tool"`)

// learnCall finds out how the template writes a call.
func (c *chat) learnCall() {
	begin, err := c.render(probe.messages[:2], []Spec{probe.tool}, true)
	if err != nil {
		return
	}
	whole, err := c.render(probe.messages[:3], []Spec{probe.tool}, false)
	if err != nil {
		return
	}
	rest, ok := strings.CutPrefix(whole, begin)
	if !ok {
		return
	}
	at := probeCall.FindStringSubmatchIndex(rest)
	if at == nil || strings.ContainsAny(rest[:at[0]], "{}") || len(rest[:at[0]]) > 100 {
		return // a form that is not ours: the model will see its own calls in it
	}
	c.prefix, c.spaced = rest[:at[0]], at[2] < at[3]
}

// prompt encodes a conversation up to where the model writes a call.
func (c *chat) prompt(tok *bpe.Tokenizer, messages []llama.Message, tools []Spec) ([]int, error) {
	messages, o, err := c.arrange(messages, tools)
	if err != nil {
		return nil, err
	}
	o.AddGenerationPrompt = true
	ids, err := c.template.Encode(tok, messages, o)
	if err != nil {
		return nil, err
	}
	ids = append(c.bos[:len(c.bos):len(c.bos)], ids...)
	return append(ids, tok.Encode(c.prefix, &bpe.EncodeOptions{ParseSpecial: true})...), nil
}

func (c *chat) render(messages []llama.Message, tools []Spec, generation bool) (string, error) {
	messages, o, err := c.arrange(messages, tools)
	if err != nil {
		return "", err
	}
	o.AddGenerationPrompt = generation
	return c.template.Render(messages, o)
}

// arrange turns a conversation into one that the template has a place for.
func (c *chat) arrange(messages []llama.Message, tools []Spec) ([]llama.Message, *llama.ChatOptions, error) {
	o := &llama.ChatOptions{Extra: c.extra}
	described := ""
	for _, t := range tools {
		data, err := t.describe(c.tools)
		if err != nil {
			return nil, nil, err
		}
		if c.tools {
			o.Tools = append(o.Tools, data)
		} else {
			described += "\n" + string(data)
		}
	}
	var out []llama.Message
	preface := ""
	if !c.tools && (len(messages) == 0 || messages[0].Role != "system") {
		messages = append([]llama.Message{{Role: "system"}}, messages...)
	}
	for _, m := range messages {
		if m.Role == "system" && !c.tools {
			m.Content = strings.TrimPrefix(m.Content+"\n\n", "\n\n") + "Every message of yours is one call of a tool, in JSON: {\"name\": …, \"arguments\": {…}}. The tools are:" + described
		}
		switch {
		case m.Role == "system" && !c.system:
			preface = m.Content + "\n\n"
			continue
		case m.Role == "assistant" && len(m.ToolCalls) > 0 && !c.tools:
			m = llama.Message{Role: "assistant", Content: callText(m.ToolCalls[0])}
		case m.Role == "tool" && !c.tools:
			m = llama.Message{Role: "user", Content: "Result of " + m.Name + ":\n" + m.Content}
		case m.Role == "user":
			m.Content, preface = preface+m.Content, ""
		}
		out = append(out, m)
	}
	return out, o, nil
}

// callText writes a call as the grammar does.
func callText(c llama.ToolCall) string {
	name, err := json.Marshal(c.Name)
	if err != nil {
		return ""
	}
	return `{"name":` + string(name) + `,"arguments":` + string(c.Arguments) + `}`
}

// describe writes a tool for a template (OpenAI's form), or for the system
// message, without its wrapping.
func (s *Spec) describe(wrapped bool) (json.RawMessage, error) {
	function := struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}{s.Name, s.Description, s.Schema}
	var v any = function
	if wrapped {
		v = struct {
			Type     string `json:"type"`
			Function any    `json:"function"`
		}{"function", function}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // < and > are characters like any other to a model
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTool, s.Name, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
