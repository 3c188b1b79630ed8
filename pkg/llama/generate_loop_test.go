package llama

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/testmodel"
)

// Whoever takes a token may use the session before the next one.
func TestSessionUsedInLoop(t *testing.T) {
	ctx := context.Background()
	m := tiny(t, testmodel.TinyOptions{Context: 32})
	prompt := []int{5, 6, 7}
	// run does something to the session after the first token, and returns the
	// number of tokens and the error that the generation ended with.
	run := func(do func(s *Session)) (s *Session, n int, last error) {
		s = newSession(t, m, nil)
		for token, err := range s.Generate(ctx, prompt, &GenerateOptions{IgnoreEOS: true}) {
			if err != nil {
				last = err
				continue
			}
			if n++; n == 1 {
				if want := append(prompt[:3:3], token.ID); !cmp.Equal(s.Tokens(), want) {
					t.Errorf("in the loop the session holds %v, want %v", s.Tokens(), want)
				}
				do(s)
			}
		}
		return s, n, last
	}
	plain, n, err := run(func(*Session) {})
	if n != 29 || err != nil {
		t.Fatalf("%d tokens and error %v, want 29 and none", n, err)
	}

	full := make([]int, 28)
	for name, c := range map[string]struct {
		do     func(s *Session)
		tokens int // that come
		len    int // of the session in the end
		err    error
	}{
		"fill":  {func(s *Session) { s.Append(ctx, full) }, 1, 32, ErrContext},
		"add":   {func(s *Session) { s.Append(ctx, full[:8]) }, 21, 32, nil},
		"clear": {func(s *Session) { s.Truncate(0) }, 1, 0, ErrNoPrompt},
		"close": {func(s *Session) { s.Close() }, 1, 0, ErrClosed},
		"nested": {func(s *Session) {
			for range s.Generate(ctx, nil, &GenerateOptions{IgnoreEOS: true}) {
			}
		}, 1, 32, ErrContext},
	} {
		s, n, err := run(c.do)
		if n != c.tokens || s.Len() != c.len || !errors.Is(err, c.err) {
			t.Errorf("%s: %d tokens, session of %d, error %v; want %d, %d, %v", name, n, s.Len(), err, c.tokens, c.len, c.err)
		}
	}
	for name, do := range map[string]func(s *Session){
		"compute": func(s *Session) { s.Append(ctx, nil) },
		"save":    func(s *Session) { s.Save(io.Discard) },
		"again":   func(s *Session) { s.Truncate(s.Len() - 1); s.Append(ctx, plain.Tokens()[3:4]) },
	} {
		if s, _, err := run(do); err != nil || !cmp.Equal(s.Tokens(), plain.Tokens()) {
			t.Errorf("%s: error %v and tokens %v, want none and %v", name, err, s.Tokens(), plain.Tokens())
		}
	}
}

func TestClosedSessionSaves(t *testing.T) {
	s := newSession(t, tiny(t, testmodel.TinyOptions{}), nil)
	s.Close()
	if err := s.Save(io.Discard); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want %v", err, ErrClosed)
	}
}
