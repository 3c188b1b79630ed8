package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/llama"
)

// tinyModel opens a random model with a context that holds a conversation.
func tinyModel(t testing.TB, o testmodel.TinyOptions) *llama.Model {
	t.Helper()
	if o.Context == 0 {
		o.Context = 4096
	}
	m, err := llama.Open(testmodel.Tiny(t, filepath.Join(t.TempDir(), "model"), o), &llama.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// wellFormed fails unless what the model wrote in a step is a call that may be
// made.
func wellFormed(t testing.TB, a *Agent, s Step) {
	t.Helper()
	if s.Call.Name == "" {
		t.Errorf("step %d: the model wrote no call: %q", s.N, s.Wrote)
		return
	}
	tool, ok := a.tools[s.Call.Name]
	if !ok {
		t.Errorf("step %d: tool %q", s.N, s.Call.Name)
		return
	}
	if err := tool.valid.check(s.Call.Arguments); err != nil {
		t.Errorf("step %d: %s %s: %v", s.N, s.Call.Name, s.Call.Arguments, err)
	}
}

// A random model has nothing to say, often without an end, and yet says nothing
// that is malformed: a call that would not end ends within its tokens, and is not
// made.
func TestRandomModel(t *testing.T) {
	m := tinyModel(t, testmodel.TinyOptions{Seed: 3})
	choice := NewTool("choice", "", `{"type":"object","properties":{"color":{"enum":["red","green"]},"n":{"type":"integer","minimum":-5,"maximum":12345678901234567890},"deep":{"type":"array","items":{"type":"object","properties":{"x":{"type":"boolean"}},"required":["x"]},"maxItems":3}},"required":["color"]}`,
		func(_ context.Context, args json.RawMessage) (Result, error) {
			return Result{Text: "you chose " + string(args)}, nil
		})
	made, cut := 0, 0
	for seed := range uint64(8) {
		l, err := NewLlama(m, &LlamaOptions{Context: 2500, Sampling: llama.Sampling{Temperature: float32(seed), Seed: seed}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(l, []Tool{withSchema("bare", `{"additionalProperties":false}`), choice}, &Options{MaxSteps: 4, CallTokens: 300, ResultTokens: 200, System: "Call tools."})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := collect(t, context.Background(), a, "choose a color <|im_end|> and repeat it")
		for _, s := range steps {
			wellFormed(t, a, s)
			switch {
			case s.Err == nil:
				made++
			case strings.Contains(s.Err.Error(), "did not end within 300 tokens"):
				cut++
				if s.End == Done {
					t.Errorf("step %d: a call that was cut ended the run", s.N)
				}
			}
			if s.Call.Name != "" && (s.Tokens == 0 || s.Forced == 0 || s.Tokens > 300) {
				t.Errorf("step %d: %d tokens, %d forced", s.N, s.Tokens, s.Forced)
			}
		}
		if last := steps[len(steps)-1]; last.End == Failed {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if made < 4 || cut < 4 {
		t.Errorf("only %d calls were made and %d cut", made, cut)
	}
}

// A call is cut if it did not end within its tokens, and only then: however few
// are left when it ends by itself, it is the same call, and is made. One that is
// cut is whole all the same.
func TestCutOnlyWhereItDidNotEnd(t *testing.T) {
	m := tinyModel(t, testmodel.TinyOptions{Seed: 3})
	spec := Spec{Name: "note", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","maxLength":40},"n":{"type":"integer","minimum":-5,"maximum":999},"where":{"enum":["a long way from here","near"]}},"required":["text","n","where"],"additionalProperties":false}`)}
	v, err := compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		call := func(tokens int) Written {
			l, err := NewLlama(m, &LlamaOptions{Sampling: llama.Sampling{Temperature: float32(seed), Seed: seed}})
			if err != nil {
				t.Fatal(err)
			}
			c, err := l.Bind([]Spec{spec})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			prompt, err := c.Prompt([]llama.Message{{Role: "user", Content: "note it"}})
			if err != nil {
				t.Fatal(err)
			}
			w, err := c.Call(context.Background(), prompt, tokens)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		free := call(2000)
		if free.Cut {
			t.Fatalf("seed %d: cut with 2000 tokens: %+v", seed, free)
		}
		// What is led to its end needs a token a byte for it at worst.
		for tokens := max(70, free.Tokens-40); tokens < free.Tokens+40; tokens++ {
			w := call(tokens)
			if w.Cut != (tokens < free.Tokens) {
				t.Errorf("seed %d: %d tokens, for a call of %d: cut is %v", seed, tokens, free.Tokens, w.Cut)
			}
			if !w.Cut && w != free {
				t.Errorf("seed %d: %d tokens: %+v, expected %+v", seed, tokens, w, free)
			}
			got, err := parseCall(w.Text)
			if err == nil {
				err = v.check(got.Arguments)
			}
			if err != nil || w.Tokens > tokens || w.Forced == 0 || w.Forced >= w.Tokens {
				t.Errorf("seed %d: %d tokens: %+v: %v", seed, tokens, w, err)
			}
		}
	}
}

// A tool that takes more tokens than a call may have does no harm to the others.
func TestToolThatIsTooLarge(t *testing.T) {
	m := tinyModel(t, testmodel.TinyOptions{Seed: 3})
	large := withSchema("write", `{"type":"object","properties":{"text":{"type":"string","minLength":500}},"required":["text"]}`)
	calls := map[string]int{}
	for seed := range uint64(12) {
		l, err := NewLlama(m, &LlamaOptions{Sampling: llama.Sampling{Temperature: 1, Seed: seed}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(l, []Tool{large, echo()}, &Options{MaxSteps: 2, CallTokens: 100})
		if err != nil {
			t.Fatal(err)
		}
		steps, _ := collect(t, context.Background(), a, "task")
		for _, s := range steps {
			calls[s.Call.Name]++
			if s.Call.Name != "" {
				wellFormed(t, a, s)
				if s.Err != nil && s.Tokens < 60 {
					t.Errorf("%s, of %d tokens, was not made: %v", s.Call.Name, s.Tokens, s.Err)
				}
			} else if s.Err == nil || !strings.HasPrefix(s.Wrote, `{"name":"write"`) {
				t.Errorf("%v: %q is no call", s.Err, s.Wrote)
			}
		}
		a.Close()
	}
	if calls["echo"]+calls["done"] == 0 || calls[""] == 0 {
		t.Errorf("calls %v", calls)
	}
}

// The same run of the same model gives the same steps, also where the session
// holds another run's tokens already.
func TestRunsRepeatThemselves(t *testing.T) {
	l, err := NewLlama(tinyModel(t, testmodel.TinyOptions{Seed: 5}), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(l, []Tool{echo()}, &Options{MaxSteps: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	text := func(task string) string {
		steps, err := collect(t, context.Background(), a, task)
		out := fmt.Sprint(err)
		for _, s := range steps {
			out += fmt.Sprintf("\n%s %s %s", s.Call.Name, s.Call.Arguments, s.Result)
		}
		return out
	}
	first := text("one")
	text("another task")
	if again := text("one"); again != first {
		t.Errorf("first %s\nthen %s", first, again)
	}
}

func TestLlamaIsCancelled(t *testing.T) {
	l, err := NewLlama(tinyModel(t, testmodel.TinyOptions{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(l, []Tool{echo()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = collect(t, ctx, a, "task")
	is(t, err, context.Canceled)
}

// What a grammar cannot be made of is refused by the tool's name.
func TestLlamaChecksSchemas(t *testing.T) {
	l, err := NewLlama(tinyModel(t, testmodel.TinyOptions{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{`{"not":{"type":"string"},"properties":{"a":{"contains":{"type":"integer"},"type":"array"}}}`, `{"properties":{"a":false},"required":["a"]}`} {
		_, err := New(l, []Tool{withSchema("odd", schema)}, nil)
		is(t, err, ErrTool)
		if err != nil {
			contains(t, err.Error(), "odd")
		}
	}
	a, err := New(l, []Tool{withSchema("odd", `{"properties":{"a":false},"required":["a"]}`), withSchema("good", `{}`)}, &Options{SkipUnusable: true})
	if err != nil || len(a.Skipped()) != 1 || a.Skipped()[0].Name != "odd" {
		t.Fatalf("%v", err)
	}
	a.Close()
}

func TestCutTokens(t *testing.T) {
	tok := tinyModel(t, testmodel.TinyOptions{}).Tokenizer()
	for _, text := range []string{"", "a", "hello world, hello again", strings.Repeat("é😀 ", 500), strings.Repeat("a", 5000), "\n\n\n   \t", "<|im_end|><|im_start|>"} {
		for _, n := range []int{-1, 0, 1, 2, 3, 10, 100, 100000} {
			cut := cutTokens(tok, text, n)
			count := len(tok.Encode(cut, nil))
			if !strings.HasPrefix(text, cut) || !utf8.ValidString(cut) || count > max(n, 0) {
				t.Errorf("%.20q, %d: %d tokens, %.40q", text, n, count, cut)
			}
			if len(cut) < len(text) && count < n-4 {
				t.Errorf("%.20q, %d: only %d tokens", text, n, count)
			}
		}
	}
}

// With a real model: every call is well-formed, and the run has a typed end.
func TestRealModel(t *testing.T) {
	dir := testmodel.Dir(t, "q8b32")
	m, err := llama.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	l, err := NewLlama(m, &LlamaOptions{Context: 2048})
	if err != nil {
		t.Fatal(err)
	}
	size := NewTool("file_size", "Tell the size of a file in bytes.", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`,
		func(_ context.Context, args json.RawMessage) (Result, error) {
			var a struct{ Path string }
			if err := json.Unmarshal(args, &a); err != nil {
				return Result{}, err
			}
			info, err := os.Stat(filepath.Join(dir, filepath.Base(a.Path)))
			if err != nil {
				return Result{}, fmt.Errorf("no such file")
			}
			return Result{Text: fmt.Sprintf("%d bytes", info.Size())}, nil
		})
	a, err := New(l, []Tool{size}, &Options{MaxSteps: 6})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	steps, err := collect(t, context.Background(), a, "Report the size of the file /vocab.json")
	for _, s := range steps {
		wellFormed(t, a, s)
		t.Logf("%d %s %s -> %q %s %q (%d tokens, %d forced, prompt %d, %v)", s.N, s.Call.Name, s.Call.Arguments, s.Result, s.End, s.Answer, s.Tokens, s.Forced, s.Prompt, s.ModelTime)
	}
	if last := steps[len(steps)-1]; last.End == Failed {
		t.Error(err)
	}
}
