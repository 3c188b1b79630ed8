package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/pkg/llama"
)

// script is a model that writes what a test says. Its tokens are bytes.
type script struct {
	context int
	calls   []string // written in turn; the last one again and again
	write   func(ctx context.Context, messages []llama.Message, maxTokens int) (Written, error)
	check   func(Spec) error

	tools    []Spec
	seen     [][]llama.Message // the conversation of each prompt
	written  int
	closed   int
	maxToken []int
}

func (s *script) Check(tool Spec) error {
	if s.check != nil {
		return s.check(tool)
	}
	return nil
}

func (s *script) Bind(tools []Spec) (Caller, error) {
	s.tools = tools
	return s, nil
}

func (s *script) Context() int {
	if s.context == 0 {
		return 100000
	}
	return s.context
}

// Prompt writes the conversation out; every byte is a token.
func (s *script) Prompt(messages []llama.Message) ([]int, error) {
	s.seen = append(s.seen, messages)
	data, err := json.Marshal(messages)
	return make([]int, len(data)), err
}

func (s *script) Call(ctx context.Context, prompt []int, maxTokens int) (Written, error) {
	s.maxToken = append(s.maxToken, maxTokens)
	if s.write != nil {
		return s.write(ctx, s.seen[len(s.seen)-1], maxTokens)
	}
	text := s.calls[min(s.written, len(s.calls)-1)]
	s.written++
	if len(text) > maxTokens {
		return Written{Text: text[:maxTokens], Tokens: maxTokens, Cut: true}, nil
	}
	return Written{Text: text, Tokens: len(text)}, nil
}

func (s *script) Cut(text string, n int) string { return clip(text, n) }

func (s *script) Close() error {
	s.closed++
	return nil
}

const doneCall = `{"name":"done","arguments":{"answer":"ok"}}`

// echo is a tool that returns its arguments.
func echo() Tool {
	return NewTool("echo", "Returns its arguments.", `{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"additionalProperties":false}`,
		func(ctx context.Context, args json.RawMessage) (Result, error) {
			return Result{Text: string(args)}, nil
		})
}

// tool returns a tool without arguments that runs f.
func tool(name string, f func(ctx context.Context) (Result, error)) Tool {
	return NewTool(name, "", `{"type":"object"}`, func(ctx context.Context, _ json.RawMessage) (Result, error) { return f(ctx) })
}

// newAgent returns an agent of a script.
func newAgent(t testing.TB, s *script, opts *Options, tools ...Tool) *Agent {
	t.Helper()
	a, err := New(s, tools, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// collect runs a task to its end and checks what holds for every run.
func collect(t testing.TB, ctx context.Context, a *Agent, task string) ([]Step, error) {
	t.Helper()
	var steps []Step
	var last error
	for s, err := range a.Run(ctx, task) {
		if last != nil || len(steps) > 0 && steps[len(steps)-1].End != "" {
			t.Fatal("a step after the end")
		}
		if (err == nil) != (s.End == "" || s.End == Done) {
			t.Fatalf("step %d ends by %q with error %v", s.N, s.End, err)
		}
		if err != nil && ReasonOf(err) != s.End {
			t.Fatalf("error %v has reason %q, the step %q", err, ReasonOf(err), s.End)
		}
		steps, last = append(steps, s), err
		if s.N != len(steps) {
			t.Fatalf("step %d has number %d", len(steps), s.N)
		}
	}
	if len(steps) == 0 || steps[len(steps)-1].End == "" {
		t.Fatal("a run without an end")
	}
	return steps, last
}

// runScript runs calls and returns all steps with the end.
func runScript(t testing.TB, opts *Options, calls []string, tools ...Tool) ([]Step, error) {
	t.Helper()
	return collect(t, context.Background(), newAgent(t, &script{calls: calls}, opts, tools...), "task")
}

// contains fails unless text has all parts.
func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not contain %q", text, p)
		}
	}
}

// is fails unless err is target.
func is(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, expected %v", err, target)
	}
}
