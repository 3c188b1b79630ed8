package llama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/testmodel"
)

// collect runs a generation to its end.
func collect(t *testing.T, s *Session, prompt []int, o *GenerateOptions) (tokens []Token, text string) {
	t.Helper()
	for token, err := range s.Generate(context.Background(), prompt, o) {
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
		text += token.Text
	}
	for i, token := range tokens {
		if last := i == len(tokens)-1; last != (token.Finish != "") {
			t.Errorf("token %d of %d has finish reason %q", i, len(tokens), token.Finish)
		}
	}
	return tokens, text
}

func ids(tokens []Token) (ids []int) {
	for _, t := range tokens {
		ids = append(ids, t.ID)
	}
	return ids
}

func TestGenerateEnds(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	prompt := []int{72, 105}
	free, _ := collect(t, newSession(t, m, nil), prompt, &GenerateOptions{MaxTokens: 30, IgnoreEOS: true})
	if len(free) != 30 || free[29].Finish != FinishLength {
		t.Fatalf("%d tokens, %q; expected 30, %q", len(free), free[len(free)-1].Finish, FinishLength)
	}

	t.Run("context", func(t *testing.T) {
		s := newSession(t, m, &SessionOptions{Context: 12})
		got, _ := collect(t, s, prompt, &GenerateOptions{IgnoreEOS: true})
		if len(got) != 10 || got[9].Finish != FinishContext || s.Len() != 12 {
			t.Errorf("%d tokens, %q, length %d; expected 10, context, 12", len(got), got[len(got)-1].Finish, s.Len())
		}
	})
	t.Run("eos", func(t *testing.T) {
		// A copy of the model for which the fifth token ends the sequence.
		c := *m.config
		c.EOSTokenIDs = []int{free[4].ID}
		saved := m.config
		m.config = &c
		defer func() { m.config = saved }()
		first := 0
		for free[first].ID != free[4].ID {
			first++
		}
		s := newSession(t, m, nil)
		got, text := collect(t, s, prompt, nil)
		if len(got) != first+1 || got[first].Finish != FinishStop || got[first].Text != "" {
			t.Errorf("got %v, expected the end-of-sequence token at %d", got, first)
		}
		if want := m.Tokenizer().Decode(ids(got[:first]), nil); text != want {
			t.Errorf("text %q, expected %q", text, want)
		}
		if s.Len() != len(prompt)+len(got) {
			t.Errorf("the session holds %d tokens, expected %d", s.Len(), len(prompt)+len(got))
		}
	})
	t.Run("stop string", func(t *testing.T) {
		whole := m.Tokenizer().Decode(ids(free), nil)
		stop := whole[len(whole)/2 : len(whole)/2+3]
		_, text := collect(t, newSession(t, m, nil), prompt, &GenerateOptions{MaxTokens: 30, IgnoreEOS: true, Stop: []string{stop}})
		if want := whole[:strings.Index(whole, stop)]; text != want {
			t.Errorf("text %q, expected %q", text, want)
		}
	})
	t.Run("held back", func(t *testing.T) {
		whole := m.Tokenizer().Decode(ids(free), nil)
		_, text := collect(t, newSession(t, m, nil), prompt, &GenerateOptions{MaxTokens: 30, IgnoreEOS: true, Stop: []string{whole + "more"}})
		if text != whole {
			t.Errorf("text %q, expected %q", text, whole)
		}
	})
	t.Run("break", func(t *testing.T) {
		s := newSession(t, m, nil)
		for range s.Generate(context.Background(), prompt, nil) {
			break
		}
		rest, _ := collect(t, s, nil, &GenerateOptions{MaxTokens: 29, IgnoreEOS: true})
		if diff := cmp.Diff(ids(free)[1:], ids(rest)); diff != "" {
			t.Errorf("tokens after a break (-want +got):\n%s", diff)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		n := 0
		var last error
		for _, err := range newSession(t, m, nil).Generate(ctx, prompt, nil) {
			if n++; n == 3 {
				cancel()
			}
			last = err
		}
		if n != 4 || !errors.Is(last, context.Canceled) {
			t.Errorf("%d elements, the last error %v; expected 4 and %v", n, last, context.Canceled)
		}
	})
}

func TestGenerateErrors(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	for _, c := range []struct {
		prompt []int
		o      GenerateOptions
		want   error
	}{
		{nil, GenerateOptions{}, ErrNoPrompt},
		{[]int{1}, GenerateOptions{MaxTokens: -1}, ErrOptions},
		{[]int{1}, GenerateOptions{LogProbs: -1}, ErrOptions},
		{[]int{1}, GenerateOptions{LogProbs: 1 << 30}, ErrOptions},
		{[]int{1}, GenerateOptions{Sampling: Sampling{Temperature: -1}}, ErrSampling},
		{[]int{-1}, GenerateOptions{}, ErrToken},
		{make([]int, 257), GenerateOptions{}, ErrContext},
	} {
		s := newSession(t, m, nil)
		n := 0
		for _, err := range s.Generate(context.Background(), c.prompt, &c.o) {
			if n++; !errors.Is(err, c.want) {
				t.Errorf("%+v: %v, expected %v", c.o, err, c.want)
			}
		}
		if n != 1 || s.Len() != 0 {
			t.Errorf("%+v: %d elements and %d tokens, expected 1 and 0", c.o, n, s.Len())
		}
	}
}

func TestGenerateLogProbs(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	s := newSession(t, m, nil)
	for token, err := range s.Generate(context.Background(), []int{72}, &GenerateOptions{MaxTokens: 5, LogProbs: 3, IgnoreEOS: true}) {
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		logits := s.Logits()
		for _, x := range logits {
			sum += math.Exp(float64(x))
		}
		want := float64(logits[token.ID]) - math.Log(sum)
		if math.Abs(float64(token.LogProb)-want) > 1e-4 {
			t.Errorf("log-probability %g, expected %g", token.LogProb, want)
		}
		if len(token.Top) != 3 || token.Top[0].ID != token.ID || token.Top[0].LogProb != token.LogProb || token.Top[1].LogProb < token.Top[2].LogProb {
			t.Errorf("top %v of token %d", token.Top, token.ID)
		}
	}
}

func TestSamplingRepeats(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	o := &GenerateOptions{MaxTokens: 40, IgnoreEOS: true, Sampling: Sampling{Temperature: 1, TopP: 0.95, Seed: 7}}
	a, _ := collect(t, newSession(t, m, nil), []int{72}, o)
	b, _ := collect(t, newSession(t, m, nil), []int{72}, o)
	if !cmp.Equal(ids(a), ids(b)) {
		t.Error("the same seed gave other tokens")
	}
	o.Sampling.Seed = 8
	c, _ := collect(t, newSession(t, m, nil), []int{72}, o)
	if cmp.Equal(ids(a), ids(c)) {
		t.Error("another seed gave the same tokens")
	}
}

// choices is a constraint: forced text, then one of two tokens, forced text
// again, and the end.
type choices struct {
	forced  []string
	options []int
	accepts []int
	state   int
}

func (c *choices) Mask(legal []uint64) error {
	clear(legal)
	for _, id := range c.options {
		legal[id/64] |= 1 << (id % 64)
	}
	return nil
}

func (c *choices) Forced() []byte {
	if c.state%2 == 0 && c.state/2 < len(c.forced) {
		text := c.forced[c.state/2]
		c.state++
		return []byte(text)
	}
	return nil
}

func (c *choices) Accept(id int) error {
	c.accepts = append(c.accepts, id)
	for _, o := range c.options {
		if o == id && c.state%2 == 1 {
			c.state++
		}
	}
	if len(c.accepts) > 20 {
		return fmt.Errorf("too many")
	}
	return nil
}

func (c *choices) Done() bool { return c.state == 4 }

func TestConstraint(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	tok := m.Tokenizer()
	option := func(s string) int {
		id := tok.Encode(s, nil)
		if len(id) != 1 {
			t.Fatalf("%q is %v", s, id)
		}
		return id[0]
	}
	c := &choices{forced: []string{"ab(", ")=("}, options: []int{option("7"), option("9")}}
	tokens, text := collect(t, newSession(t, m, nil), []int{72}, &GenerateOptions{MaxTokens: 50, Constraint: c})
	if last := tokens[len(tokens)-1]; last.Finish != FinishConstraint {
		t.Errorf("finish %q", last.Finish)
	}
	legal := map[string]bool{"ab(7)=(7": true, "ab(7)=(9": true, "ab(9)=(7": true, "ab(9)=(9": true}
	if !legal[text] {
		t.Errorf("text %q", text)
	}
	forced := 0
	for _, token := range tokens {
		if token.Forced {
			forced++
		}
	}
	if forced != len(tokens)-2 || !cmp.Equal(c.accepts, ids(tokens)) {
		t.Errorf("%d of %d tokens forced; accepted %v", forced, len(tokens), c.accepts)
	}

	for _, err := range newSession(t, m, nil).Generate(context.Background(), []int{72}, &GenerateOptions{Constraint: failing{}}) {
		if !errors.Is(err, ErrConstraint) || !errors.Is(err, errNoLegal) {
			t.Errorf("a constraint that fails: %v", err)
		}
	}
}

var errNoLegal = errors.New("no legal token")

type failing struct{}

func (failing) Mask([]uint64) error { return errNoLegal }
func (failing) Forced() []byte      { return nil }
func (failing) Accept(int) error    { return nil }
func (failing) Done() bool          { return false }
