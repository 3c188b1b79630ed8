package tasks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/grammar"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/tiny"
	"github.com/leveret-os/leveret/pkg/tiny/internal/tasks"
)

func teach(t *testing.T) (*llama.Model, *tasks.Teacher, *tasks.Bench) {
	t.Helper()
	model, err := tiny.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	teacher, err := tasks.NewTeacher(model)
	if err != nil {
		t.Fatal(err)
	}
	bench, err := tasks.NewBench(t.TempDir(), teacher)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bench.Close() })
	return model, teacher, bench
}

// Who follows the plan of a task does it right, whatever set it is of.
func TestPlansAreRight(t *testing.T) {
	_, teacher, bench := teach(t)
	for name, set := range map[string]*tasks.Set{"training": tasks.Training(7), "development": tasks.Development(7), "held-out": tasks.HeldOut(7)} {
		for i := range 600 {
			task := set.Task(i)
			teacher.Next(task)
			o, err := bench.Run(context.Background(), task)
			if err != nil {
				t.Fatal(err)
			}
			// Those of training may be about files that are not there, or too large.
			if o.Reason != agent.Done || o.Wrong != nil && name != "training" {
				t.Errorf("%s %d: %s %v\n%q", name, i, o.Reason, o.Wrong, task.Text)
			}
		}
	}
}

// Equal seeds make equal tasks, and others others.
func TestSeeds(t *testing.T) {
	a, b, c := tasks.Training(1), tasks.Training(1), tasks.Training(2)
	same := 0
	for i := range 200 {
		if a.Task(i).Text != b.Task(i).Text {
			t.Errorf("task %d differs", i)
		}
		if a.Task(i).Text == c.Task(i).Text {
			same++
		}
	}
	if same > 10 {
		t.Errorf("%d of 200 tasks are those of another seed", same)
	}
}

// The tokens that a model is trained on are those that it is fed: a call under
// the grammar, with its forced bytes tokenised as generation does it, has the
// tokens that the conversation has of it in the next prompt.
func TestTokensAreThoseOfGeneration(t *testing.T) {
	model, teacher, bench := teach(t)
	tok := model.Tokenizer()
	var list []grammar.Tool
	for _, s := range bench.Tools() {
		list = append(list, grammar.Tool{Name: s.Name, Schema: s.Schema})
	}
	g, err := grammar.CompileTools(list, &grammar.Options{Closed: true})
	if err != nil {
		t.Fatal(err)
	}
	vocabulary, err := grammar.NewVocabulary(tok.VocabSize(), func(id int) []byte {
		if tok.IsSpecial(id) {
			return nil
		}
		return tok.TokenBytes(id)
	}, model.Config().EOSTokenIDs)
	if err != nil {
		t.Fatal(err)
	}
	set := tasks.Training(3)
	special := func(s string) int { return tok.Encode(s, &bpe.EncodeOptions{ParseSpecial: true})[0] }
	begin, end := special("<|call|>"), special("<|end|>")
	calls := 0
	for i := range 300 {
		task := set.Task(i)
		teacher.Next(task)
		if _, err := bench.Run(context.Background(), task); err != nil {
			t.Fatal(err)
		}
		prompt, call := teacher.Last()
		ids := append(slices.Clone(prompt), tok.Encode(call, nil)...)
		ids = append(ids, end)
		for len(ids) > 0 {
			at := slices.Index(ids, begin)
			if at < 0 {
				break
			}
			stop := at + 1 + slices.Index(ids[at+1:], end)
			follow(t, tok, g.NewMatcher(vocabulary), ids[at+1:stop])
			calls++
			ids = ids[stop+1:]
		}
	}
	if calls < 600 {
		t.Errorf("%d calls", calls)
	}
}

// follow lets a matcher take the tokens of a call. Where the grammar forces
// bytes, their tokens have to be those of the call.
func follow(t *testing.T, tok *bpe.Tokenizer, m *grammar.Matcher, ids []int) {
	t.Helper()
	legal := make([]uint64, (tok.VocabSize()+63)/64)
	text := tok.Decode(ids, nil)
	for i := 0; i < len(ids); {
		if forced := string(m.Forced()); forced != "" {
			for _, id := range tok.Encode(forced, nil) {
				if i == len(ids) || ids[i] != id {
					t.Fatalf("%s: token %d is not %q, which is forced", text, i, tok.TokenBytes(id))
				}
				if err := m.Accept(id); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				i++
			}
			continue
		}
		if err := m.Mask(legal); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if legal[ids[i]/64]>>(ids[i]%64)&1 == 0 {
			t.Fatalf("%s: token %d, %q, is not legal", text, i, tok.TokenBytes(ids[i]))
		}
		if err := m.Accept(ids[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		i++
	}
	if !m.Done() {
		t.Fatalf("%s: the call goes on", text)
	}
}
