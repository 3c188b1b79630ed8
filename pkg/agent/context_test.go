package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// pairs fails unless a conversation is system, user, and then calls each with
// its own result.
func pairs(t *testing.T, s *script) {
	t.Helper()
	for i, m := range s.seen {
		if m[0].Role != "system" || m[1].Role != "user" || len(m)%2 != 0 {
			t.Fatalf("prompt %d: %d messages, %q, %q", i, len(m), m[0].Role, m[1].Role)
		}
		for j := 2; j < len(m); j += 2 {
			if len(m[j].ToolCalls) != 1 || m[j+1].Role != "tool" || m[j].ToolCalls[0].ID != m[j+1].ToolCallID {
				t.Fatalf("prompt %d: message %d has lost its pair: %+v, %+v", i, j, m[j], m[j+1])
			}
		}
	}
}

// Row A19 of the cases: in a context that fills up a call and its result stay
// or go together, the oldest ones first, and the task stays.
func TestContextFillsUp(t *testing.T) {
	var calls []string
	for i := range 12 {
		calls = append(calls, fmt.Sprintf(`{"name":"echo","arguments":{"text":"%s","n":%d}}`, strings.Repeat("x", 50*(i%4)), i))
	}
	s := &script{context: 3000, calls: append(calls, doneCall)}
	steps, err := collect(t, context.Background(), newAgent(t, s, &Options{CallTokens: 300, ResultTokens: 300, System: "s"}, echo()), "the task")
	if err != nil {
		t.Fatal(err)
	}
	pairs(t, s)
	for i, step := range steps {
		if step.Prompt+300 > 3000 {
			t.Errorf("step %d: a prompt of %d tokens", step.N, step.Prompt)
		}
		if i > 0 && (step.Dropped < steps[i-1].Dropped || step.Dropped > i-1) {
			t.Errorf("step %d: %d dropped after %d", step.N, step.Dropped, steps[i-1].Dropped)
		}
	}
	last := s.seen[len(s.seen)-1]
	dropped := steps[len(steps)-1].Dropped
	if dropped == 0 || !strings.HasPrefix(last[1].Content, "the task") || !strings.Contains(last[1].Content, fmt.Sprint(dropped)) {
		t.Errorf("%d dropped, task %q", dropped, last[1].Content)
	}
	if want := fmt.Sprintf(`"n":%d`, 12-(len(last)-2)/2); !strings.Contains(string(last[2].ToolCalls[0].Arguments), want) {
		t.Errorf("the oldest call that stayed is %s, expected %s", last[2].ToolCalls[0].Arguments, want)
	}
}

// Malformed calls are dropped with what was said about them, too.
func TestContextFillsUpWithMalformedCalls(t *testing.T) {
	var calls []string
	for i := range 12 {
		calls = append(calls, fmt.Sprintf("nonsense %d %s", i, strings.Repeat("y", 300)))
	}
	s := &script{context: 3000, calls: append(calls, doneCall)}
	if _, err := collect(t, context.Background(), newAgent(t, s, &Options{CallTokens: 400, MaxFailures: 100, System: "s"}), "task"); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.seen {
		if len(m)%2 != 0 {
			t.Errorf("%d messages", len(m))
		}
	}
}

func TestContextFull(t *testing.T) {
	t.Run("by the task", func(t *testing.T) {
		s := &script{context: 2000, calls: []string{doneCall}}
		steps, err := collect(t, context.Background(), newAgent(t, s, nil), strings.Repeat("a", 2000))
		is(t, err, ErrContextFull)
		if len(steps) != 1 || steps[0].End != ContextFull || s.written != 0 {
			t.Errorf("steps %+v", steps)
		}
	})
	t.Run("by one result", func(t *testing.T) {
		s := &script{context: 2000, calls: []string{`{"name":"echo","arguments":{}}`, `{"name":"big","arguments":{}}`, doneCall}}
		big := tool("big", func(context.Context) (Result, error) { return Result{Text: strings.Repeat("b", 5000)}, nil })
		steps, err := collect(t, context.Background(), newAgent(t, s, &Options{ResultTokens: 1900, System: "s"}, echo(), big), "task")
		is(t, err, ErrContextFull)
		if len(steps) != 3 || steps[2].Dropped != 1 {
			t.Errorf("steps %+v", steps)
		}
		pairs(t, s)
	})
}

// By default a result never fills the context by itself.
func TestDefaultsFitTheContext(t *testing.T) {
	for _, context := range []int{3000, 4096, 100000} {
		o, err := (*Options)(nil).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if err := o.fit(context); err != nil {
			t.Fatal(err)
		}
		if o.ResultTokens > context/4 || o.CallTokens > context/4 || o.ResultTokens < 1 {
			t.Errorf("context %d: results of %d tokens, calls of %d", context, o.ResultTokens, o.CallTokens)
		}
	}
}
