package tasks

import (
	"context"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// A Teacher is a model that does each task as it was planned. It writes prompts
// and cuts results just as the model that it stands for would, so what it has
// said and seen is what that model is trained on.
type Teacher struct {
	agent.Model
	tok  *bpe.Tokenizer
	task *Task
	// prompt and call are the last ones.
	prompt []int
	call   string
}

// NewTeacher returns a teacher for a model. Bind is for one agent at a time.
func NewTeacher(model *llama.Model) (*Teacher, error) {
	writer, err := agent.NewLlama(model, nil)
	if err != nil {
		return nil, err
	}
	return &Teacher{Model: writer, tok: model.Tokenizer()}, nil
}

// Next says which task comes next.
func (t *Teacher) Next(task *Task) { t.task = task }

// Last returns the tokens of the last prompt, and the call after it.
func (t *Teacher) Last() (prompt []int, call string) { return t.prompt, t.call }

// Bind implements agent.Model.
func (t *Teacher) Bind(tools []agent.Spec) (agent.Caller, error) {
	c, err := t.Model.Bind(tools)
	if err != nil {
		return nil, err
	}
	return &teaching{c, t, nil}, nil
}

type teaching struct {
	agent.Caller
	teacher *Teacher
	results []string
}

func (c *teaching) Prompt(messages []llama.Message) ([]int, error) {
	c.results = c.results[:0]
	for _, m := range messages {
		if m.Role == "tool" {
			c.results = append(c.results, m.Content)
		}
	}
	return c.Caller.Prompt(messages)
}

func (c *teaching) Call(ctx context.Context, prompt []int, maxTokens int) (agent.Written, error) {
	c.teacher.prompt = prompt
	c.teacher.call = c.teacher.task.next(c.results).text()
	return agent.Written{Text: c.teacher.call}, nil
}
