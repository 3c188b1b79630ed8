package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/leveret-os/leveret/pkg/llama"
)

func TestRunToDone(t *testing.T) {
	s := &script{calls: []string{`{"name":"echo","arguments":{"text":"hi"}}`, `{"name":"done","arguments":{"answer":"it says hi\n😀"}}`}}
	steps, err := collect(t, context.Background(), newAgent(t, s, nil, echo()), "say hi")
	if err != nil || len(steps) != 2 {
		t.Fatalf("%v, %d steps", err, len(steps))
	}
	if got := steps[0]; got.Call.Name != "echo" || got.Result != `{"text":"hi"}` || got.End != "" || got.Err != nil {
		t.Errorf("first step %+v", got)
	}
	if got := steps[1]; got.Answer != "it says hi\n😀" || got.End != Done || got.Result != "" {
		t.Errorf("last step %+v", got)
	}
	m := s.seen[1]
	if len(m) != 4 || m[0].Role != "system" || m[1].Content != "say hi" || m[2].ToolCalls[0].Name != "echo" || m[3].Role != "tool" || m[3].ToolCallID != m[2].ToolCalls[0].ID {
		t.Errorf("conversation %+v", m)
	}
	if names := s.tools[0].Name + " " + s.tools[1].Name; names != "echo done" {
		t.Errorf("tools %s", names)
	}
}

// Row A10 of the cases: an identical call is answered with a notice, then ends
// the run; a different call begins the count anew.
func TestRepeatedCall(t *testing.T) {
	same := `{"name":"echo","arguments":{"text":"a","n":1}}`
	spelled := ` {"arguments": {"n":1,"text":"\u0061"}, "name":"echo"} `
	other := `{"name":"echo","arguments":{"text":"b"}}`
	for _, c := range []struct {
		name    string
		calls   []string
		steps   int
		notices []int
		reason  Reason
	}{
		{"three", []string{same}, 3, []int{2}, RepeatedCall},
		{"spelled otherwise", []string{same, spelled, same}, 3, []int{2}, RepeatedCall},
		{"reset", []string{same, same, other, same, same, other, doneCall}, 7, []int{2, 5}, Done},
		{"other after the notice", []string{same, same, doneCall}, 3, []int{2}, Done},
		{"malformed", []string{"nonsense"}, 3, []int{2}, RepeatedCall},
		{"undeclared", []string{`{"name":"rm","arguments":{}}`}, 3, []int{2}, RepeatedCall},
		{"numbers that differ", []string{`{"name":"echo","arguments":{"n":9007199254740993}}`, `{"name":"echo","arguments":{"n":9007199254740992}}`, doneCall}, 3, nil, Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			steps, err := runScript(t, nil, c.calls, echo())
			if len(steps) != c.steps || steps[len(steps)-1].End != c.reason {
				t.Fatalf("%d steps, %v", len(steps), err)
			}
			if c.reason == RepeatedCall {
				is(t, err, ErrRepeatedCall)
				if last := steps[len(steps)-1]; last.Result != "" || last.ToolTime != 0 {
					t.Errorf("the last call was made: %+v", last)
				}
			}
			var notices []int
			for _, s := range steps {
				if strings.Contains(s.Result, "notice") {
					notices = append(notices, s.N)
				}
			}
			if fmt.Sprint(notices) != fmt.Sprint(c.notices) {
				t.Errorf("notices at %v, want %v", notices, c.notices)
			}
		})
	}
}

func TestStepLimit(t *testing.T) {
	n := 0
	s := &script{}
	s.write = func(context.Context, []llama.Message, int) (Written, error) {
		n++
		return Written{Text: fmt.Sprintf(`{"name":"echo","arguments":{"n":%d}}`, n)}, nil
	}
	steps, err := collect(t, context.Background(), newAgent(t, s, &Options{MaxSteps: 4}, echo()), "task")
	is(t, err, ErrStepLimit)
	if len(steps) != 4 || steps[3].End != StepLimit || steps[3].Result == "" {
		t.Errorf("%d steps, the last %+v", len(steps), steps[len(steps)-1])
	}
	// Done with the last step is done.
	if _, err := runScript(t, &Options{MaxSteps: 1}, []string{doneCall}); err != nil {
		t.Error(err)
	}
}

// Row A16: what a tool does wrong is a result for the model.
func TestToolsThatMisbehave(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for _, c := range []struct {
		name   string
		call   func(ctx context.Context) (Result, error)
		target error
		shown  string
	}{
		{"panics", func(context.Context) (Result, error) { panic("x") }, ErrPanic, "error: the tool crashed: x"},
		{"panics with nil", func(context.Context) (Result, error) { panic(nil) }, ErrPanic, "error: the tool crashed"},
		{"panics with what panics", func(context.Context) (Result, error) { panic(bomb{}) }, ErrPanic, "error: the tool crashed: a agent.bomb"},
		{"dereferences nil", func(context.Context) (Result, error) { var s *Step; return Result{Text: s.Answer}, nil }, ErrPanic, "nil pointer"},
		{"ends its goroutine", func(context.Context) (Result, error) { runtime.Goexit(); return Result{}, nil }, ErrPanic, "ended its goroutine"},
		{"hangs", func(context.Context) (Result, error) { <-release; return Result{}, nil }, ErrTimeout, "error: the tool took too long"},
		{"hangs until it is told", func(ctx context.Context) (Result, error) { <-ctx.Done(); return Result{}, ctx.Err() }, ErrTimeout, "error: the tool took too long"},
		{"fails", func(context.Context) (Result, error) { return Result{}, errors.New("no such file") }, nil, "error: no such file"},
		{"panics in its head", func(context.Context) (Result, error) {
			return Result{Text: "x", Head: func(int) string { panic("late") }}, nil
		}, ErrPanic, "late"},
		{"fails beyond measure", func(context.Context) (Result, error) { return Result{}, errors.New(strings.Repeat("é", 1<<20)) }, nil, "bytes shown]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := []string{`{"name":"bad","arguments":{}}`, doneCall}
			steps, err := runScript(t, &Options{CallTimeout: 50 * time.Millisecond}, calls, tool("bad", c.call))
			if err != nil || len(steps) != 2 {
				t.Fatalf("%v, %d steps", err, len(steps))
			}
			if steps[0].Err == nil || c.target != nil && !errors.Is(steps[0].Err, c.target) {
				t.Errorf("error %v", steps[0].Err)
			}
			contains(t, steps[0].Result, c.shown)
			if len(steps[0].Result) > 4096 || !utf8.ValidString(steps[0].Result) {
				t.Errorf("a result of %d bytes", len(steps[0].Result))
			}
		})
	}
}

type bomb struct{}

func (bomb) Error() string { panic("again") }

// Failed calls in a row end the run; one that goes well in between begins the
// count anew.
func TestToolFailures(t *testing.T) {
	fails := tool("fails", func(context.Context) (Result, error) { return Result{}, errors.New("no") })
	call := func(n int) string { return fmt.Sprintf(`{"name":"fails","arguments":{"n":%d}}`, n) }
	good := `{"name":"echo","arguments":{}}`
	steps, err := runScript(t, &Options{MaxFailures: 2}, []string{call(1), good, call(2), call(3), doneCall}, fails, echo())
	is(t, err, ErrToolFailures)
	if len(steps) != 4 || steps[3].End != ToolFailures {
		t.Errorf("%d steps, %v", len(steps), err)
	}
}

// A tool may itself be an agent; its end is not the end of the outer run.
func TestReasonIsTheOutermost(t *testing.T) {
	inner := tool("inner", func(context.Context) (Result, error) { return Result{}, end(StepLimit, "%w: 3", ErrStepLimit) })
	steps, err := runScript(t, &Options{MaxFailures: 1}, []string{`{"name":"inner","arguments":{}}`}, inner)
	is(t, err, ErrToolFailures)
	is(t, err, ErrStepLimit)
	if steps[0].End != ToolFailures {
		t.Errorf("ended by %q", steps[0].End)
	}
}

// Row A16, the other half: the run ends when it is cancelled, wherever it is.
func TestCancel(t *testing.T) {
	started := make(chan struct{}, 1)
	waits := tool("waits", func(ctx context.Context) (Result, error) {
		started <- struct{}{}
		<-ctx.Done()
		return Result{}, ctx.Err()
	})
	t.Run("in a tool", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-started; cancel() }()
		steps, err := collect(t, ctx, newAgent(t, &script{calls: []string{`{"name":"waits","arguments":{}}`}}, nil, waits), "task")
		is(t, err, context.Canceled)
		if len(steps) != 1 || steps[0].End != Cancelled || steps[0].Call.Name != "waits" {
			t.Errorf("steps %+v", steps)
		}
	})
	t.Run("in the model", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		s := &script{write: func(ctx context.Context, _ []llama.Message, _ int) (Written, error) {
			cancel()
			return Written{}, fmt.Errorf("model: %w", ctx.Err())
		}}
		_, err := collect(t, ctx, newAgent(t, s, nil), "task")
		is(t, err, context.Canceled)
	})
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := collect(t, ctx, newAgent(t, &script{calls: []string{doneCall}}, nil), "task")
		is(t, err, context.Canceled)
	})
	t.Run("by time", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		steps, err := collect(t, ctx, newAgent(t, &script{calls: []string{`{"name":"waits","arguments":{}}`}}, nil, waits), "task")
		is(t, err, context.DeadlineExceeded)
		if steps[0].End != Cancelled {
			t.Errorf("ended by %q", steps[0].End)
		}
	})
	t.Run("while another runs", func(t *testing.T) {
		running := make(chan struct{})
		runs := tool("runs", func(ctx context.Context) (Result, error) { close(running); <-ctx.Done(); return Result{}, nil })
		a := newAgent(t, &script{calls: []string{`{"name":"runs","arguments":{}}`}}, nil, runs)
		ctx, cancel := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		wait.Go(func() { collect(t, ctx, a, "first") })
		<-running
		second, cancelSecond := context.WithCancel(context.Background())
		cancelSecond()
		_, err := collect(t, second, a, "second")
		is(t, err, context.Canceled)
		cancel()
		wait.Wait()
	})
	t.Run("by the consumer", func(t *testing.T) {
		a := newAgent(t, &script{calls: []string{`{"name":"echo","arguments":{}}`, doneCall}}, nil, echo())
		for range a.Run(context.Background(), "task") {
			break
		}
		if _, err := collect(t, context.Background(), a, "task"); err != nil {
			t.Error(err)
		}
	})
}

// An error of the model ends the run, also one that looks like a cancellation.
func TestModelFails(t *testing.T) {
	for _, cause := range []error{errors.New("out of order"), context.DeadlineExceeded} {
		s := &script{write: func(context.Context, []llama.Message, int) (Written, error) { return Written{Text: `{"na`}, cause }}
		steps, err := collect(t, context.Background(), newAgent(t, s, nil), "task")
		is(t, err, cause)
		if steps[0].End != Failed || steps[0].Wrote != `{"na` {
			t.Errorf("step %+v", steps[0])
		}
	}
}

// What a model that is bound to nothing may write is answered, never made.
func TestMalformedCalls(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	for text, problem := range map[string]string{
		``:                                     "malformed JSON",
		`{"name":"echo"`:                       "malformed JSON",
		`[]`:                                   "a call is an object",
		`"echo"`:                               "a call is an object",
		`{"arguments":{}}`:                     "names its tool",
		`{"name":7,"arguments":{}}`:            "names its tool",
		`{"name":"echo"}`:                      "has arguments",
		`{"name":"echo","arguments":null}`:     "has arguments",
		`{"name":"echo","arguments":"{}"}`:     "has arguments",
		`{"name":"echo","arguments":{},"x":1}`: "nothing else",
		`{"Name":"echo","arguments":{}}`:       "names its tool",
		`{"name":"echo","arguments":{}}{"name":"done"}`:         "malformed JSON",
		`{"name":"echo","arguments":{}} trailing`:               "malformed JSON",
		`{"name":"echo","name":"done","arguments":{}}`:          `duplicate key "name"`,
		`{"name":"echo","arguments":{"n":1,"\u006e":2}}`:        `duplicate key "n"`,
		`{"name":"echo","arguments":{"text":"\ud83d"}}`:         "surrogate",
		"{\"name\":\"echo\",\"arguments\":{\"text\":\"\xff\"}}": "not UTF-8",
		`{"name":"echo","arguments":{"n":1e999999999}}`:         "exponent",
		`{"name":"echo","arguments":` + deep + `}`:              "deeper",
		`{"name":"rm","arguments":{}}`:                          `no tool "rm"`,
		`{"name":"echo","arguments":{"text":1}}`:                "text: expected string",
		`{"name":"echo","arguments":{"Text":"a"}}`:              "additionalProperties",
		`{"name":"echo","arguments":{"n":1.5}}`:                 "n: expected integer",
		`{"name":"done","arguments":{}}`:                        "answer",
		`{"name":"done","arguments":{"answer":1}}`:              "answer: expected string",
	} {
		steps, err := runScript(t, nil, []string{text, doneCall}, echo())
		if err != nil || len(steps) != 2 {
			t.Errorf("%s: %v", text, err)
			continue
		}
		is(t, steps[0].Err, ErrArguments)
		contains(t, steps[0].Result, "error: ", problem)
		if strings.Contains(steps[0].Result, "agent:") {
			t.Errorf("the model is told %q", steps[0].Result)
		}
	}
}

// A call that does not end within its tokens is not made.
func TestCallIsTooLong(t *testing.T) {
	long := `{"name":"echo","arguments":{"text":"` + strings.Repeat("a", 500) + `"}}`
	s := &script{calls: []string{long, doneCall}}
	steps, err := collect(t, context.Background(), newAgent(t, s, &Options{CallTokens: 100}, echo()), "task")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, steps[0].Result, "did not end within 100 tokens")
	if m := s.seen[1]; m[2].Role != "assistant" || len(m[2].Content) > 200 || m[3].Role != "user" {
		t.Errorf("conversation %+v", m)
	}
}

// Arguments reach the tool as they were written: all digits, no float between.
func TestArgumentsKeepTheirDigits(t *testing.T) {
	const n = "123456789012345678901234567890"
	var got string
	big := NewTool("big", "", `{"type":"object","properties":{"n":{"type":"integer","minimum":123456789012345678901234567890,"maximum":123456789012345678901234567890}},"required":["n"]}`,
		func(_ context.Context, args json.RawMessage) (Result, error) {
			got = string(args)
			return Result{}, nil
		})
	steps, err := runScript(t, nil, []string{`{"name":"big","arguments":{"n":` + n + `}}`, `{"name":"big","arguments":{"n":` + n[:29] + `1}}`, doneCall}, big)
	if err != nil {
		t.Fatal(err)
	}
	if got != `{"n":`+n+`}` {
		t.Errorf("the tool got %s", got)
	}
	is(t, steps[1].Err, ErrArguments)
}

// A tool cannot change the call that the history holds.
func TestToolWritesIntoItsArguments(t *testing.T) {
	vandal := NewTool("vandal", "", `{"type":"object"}`, func(_ context.Context, args json.RawMessage) (Result, error) {
		for i := range args {
			args[i] = 'X'
		}
		return Result{}, nil
	})
	steps, err := runScript(t, nil, []string{`{"name":"vandal","arguments":{"a":1}}`, doneCall}, vandal)
	if err != nil || string(steps[0].Call.Arguments) != `{"a":1}` {
		t.Errorf("%v, arguments %s", err, steps[0].Call.Arguments)
	}
}
