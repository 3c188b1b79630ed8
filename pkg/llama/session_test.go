package llama

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

func tiny(t testing.TB, o testmodel.TinyOptions) *Model {
	t.Helper()
	return open(t, testmodel.Tiny(t, filepath.Join(t.TempDir(), "model"), o), nil)
}

func bits(x []float32) []uint32 {
	b := make([]uint32, len(x))
	for i, v := range x {
		b[i] = math.Float32bits(v)
	}
	return b
}

func appendAll(t testing.TB, s *Session, ids ...int) {
	t.Helper()
	if err := s.Append(context.Background(), ids); err != nil {
		t.Fatal(err)
	}
}

func TestLoadFromFS(t *testing.T) {
	dir := testmodel.Tiny(t, t.TempDir(), testmodel.TinyOptions{Shards: 2})
	want := newSession(t, open(t, dir, nil), nil)
	appendAll(t, want, 72, 105)
	for name, load := range map[string]func() (*Model, error){
		"os.DirFS": func() (*Model, error) { return Load(os.DirFS(dir), nil) },
		"memory":   func() (*Model, error) { return Load(testmodel.TinyFS(testmodel.TinyOptions{Shards: 2}), nil) },
	} {
		m, err := load()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := newSession(t, m, nil)
		appendAll(t, s, 72, 105)
		if !cmp.Equal(bits(s.Logits()), bits(want.Logits())) {
			t.Errorf("%s: logits differ from those of the folder", name)
		}
		m.Close()
	}
}

func TestAppendErrorsLeaveSession(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	s := newSession(t, m, &SessionOptions{Context: 4})
	appendAll(t, s, 1, 2)
	before := bits(s.Logits())
	for _, c := range []struct {
		ids  []int
		want error
	}{
		{[]int{1, 2, 3}, ErrContext},
		{[]int{-1}, ErrToken},
		{[]int{3, m.Config().VocabSize}, ErrToken},
	} {
		if err := s.Append(context.Background(), c.ids); !errors.Is(err, c.want) {
			t.Errorf("Append(%v): %v, expected %v", c.ids, err, c.want)
		}
	}
	if s.Len() != 2 || !cmp.Equal(bits(s.Logits()), before) {
		t.Error("a refused Append changed the session")
	}
	appendAll(t, s, 3, 4) // exactly full
}

func TestSessionOptions(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{Context: 64})
	for _, n := range []int{-1, 65, math.MaxInt} {
		if _, err := m.NewSession(&SessionOptions{Context: n}); !errors.Is(err, ErrOptions) {
			t.Errorf("Context %d: %v, expected ErrOptions", n, err)
		}
	}
	if got := newSession(t, m, nil).Context(); got != 64 {
		t.Errorf("the default context is %d, expected 64", got)
	}
}

func TestModelOptions(t *testing.T) {
	dir := testmodel.Tiny(t, t.TempDir(), testmodel.TinyOptions{})
	for _, o := range []Options{{Threads: -1}, {Threads: 1 << 20}, {ISA: "sse9"}, {Activations: "int4"}, {Memory: safetensors.Huge + 1}} {
		if m, err := Open(dir, &o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v, expected ErrOptions", o, err)
			if err == nil {
				m.Close()
			}
		}
	}
}

func TestTruncateAndRewind(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	fresh := newSession(t, m, nil)
	appendAll(t, fresh, 10, 11, 12, 13)
	want := bits(fresh.Logits())

	s := newSession(t, m, nil)
	appendAll(t, s, 10, 11, 99, 98, 97)
	rest, err := s.Rewind([]int{10, 11, 12, 13})
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(rest, []int{12, 13}) {
		t.Fatalf("rest is %v, expected [12 13]", rest)
	}
	appendAll(t, s, rest...)
	if !cmp.Equal(bits(s.Logits()), want) {
		t.Error("logits after Rewind differ from those of a fresh session")
	}
	// All of the prompt is there: its last token is computed again.
	if rest, err = s.Rewind([]int{10, 11, 12, 13}); err != nil || !cmp.Equal(rest, []int{13}) {
		t.Fatalf("rest is %v, %v; expected [13]", rest, err)
	}
	if s.Logits() != nil {
		t.Error("there are logits after Rewind")
	}
	appendAll(t, s, rest...)
	// After Truncate an empty Append brings the logits back.
	appendAll(t, s, 50, 51)
	if err := s.Truncate(4); err != nil {
		t.Fatal(err)
	}
	appendAll(t, s)
	if !cmp.Equal(bits(s.Logits()), want) {
		t.Error("logits after Truncate differ from those of a fresh session")
	}
	for _, n := range []int{-1, 5} {
		if err := s.Truncate(n); !errors.Is(err, ErrOptions) {
			t.Errorf("Truncate(%d): %v, expected ErrOptions", n, err)
		}
	}
}

func TestSaveRestore(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	s := newSession(t, m, nil)
	appendAll(t, s, 5, 6, 7, 8, 9)
	var file bytes.Buffer
	if err := s.Save(&file); err != nil {
		t.Fatal(err)
	}
	saved := bytes.Clone(file.Bytes())
	logits := bits(s.Logits())
	appendAll(t, s, 20)
	want := bits(s.Logits())

	r := newSession(t, m, nil)
	appendAll(t, r, 1)
	if err := r.Restore(bytes.NewReader(saved)); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(r.Tokens(), []int{5, 6, 7, 8, 9}) || !cmp.Equal(bits(r.Logits()), logits) {
		t.Error("tokens or logits differ from those saved")
	}
	appendAll(t, r, 20)
	if !cmp.Equal(bits(r.Logits()), want) {
		t.Error("logits after Restore differ from those without")
	}

	// Whatever is wrong with the file, the session is empty afterwards.
	fails := func(name string, s *Session, data []byte, want error) {
		t.Helper()
		if err := s.Restore(bytes.NewReader(data)); !errors.Is(err, want) {
			t.Errorf("%s: %v, expected %v", name, err, want)
		}
		if s.Len() != 0 || s.Logits() != nil {
			t.Errorf("%s: the session is not empty", name)
		}
	}
	for n := range len(saved) {
		if n < 200 || n%997 == 0 || n > len(saved)-40 {
			fails("cut short", r, saved[:n], ErrPrefix)
		}
	}
	for i := 0; i < len(saved); i += 131 {
		bad := bytes.Clone(saved)
		bad[i] ^= 0x40
		if err := r.Restore(bytes.NewReader(bad)); err == nil {
			t.Errorf("a flipped bit in byte %d of %d was not noticed", i, len(saved))
		}
	}
	fails("small context", newSession(t, m, &SessionOptions{Context: 4}), saved, ErrContext)
	other := newSession(t, tiny(t, testmodel.TinyOptions{Seed: 99}), nil)
	fails("another model", other, saved, ErrPrefix)
	if err := newSession(t, m, nil).Save(&file); !errors.Is(err, ErrNoPrompt) {
		t.Errorf("Save of an empty session: %v", err)
	}
}

func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	m := tiny(t, testmodel.TinyOptions{})
	s := newSession(t, m, nil)
	closed := newSession(t, m, nil)
	closed.Close()
	closed.Close()
	if err := closed.Append(context.Background(), []int{1}); !errors.Is(err, ErrClosed) {
		t.Errorf("Append to a closed session: %v", err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Append(context.Background(), []int{1}); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Model.Close: %v", err)
	}
	if _, err := m.NewSession(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("NewSession after Close: %v", err)
	}
	for token, err := range s.Generate(context.Background(), []int{1}, nil) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("Generate after Model.Close: %v, %v", token, err)
		}
	}
	if _, err := m.ChatTemplate(); !errors.Is(err, ErrClosed) {
		t.Errorf("ChatTemplate after Close: %v", err)
	}
	if _, err := m.Digest(); !errors.Is(err, ErrClosed) {
		t.Errorf("Digest after Close: %v", err)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

func TestCancelInsidePrompt(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{Context: 2048})
	s := newSession(t, m, nil)
	ids := make([]int, 1500)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Append(ctx, ids); !errors.Is(err, context.Canceled) {
		t.Fatalf("Append with a cancelled context: %v", err)
	}
	if s.Len() != len(ids) || s.Logits() != nil {
		t.Errorf("%d tokens, expected %d and no logits", s.Len(), len(ids))
	}
	// It goes on where it stopped, and ends at the same bits.
	appendAll(t, s)
	want := newSession(t, m, nil)
	appendAll(t, want, ids...)
	if !cmp.Equal(bits(s.Logits()), bits(want.Logits())) {
		t.Error("logits after a cancelled Append differ")
	}
	// A context that ends while another session has the engine.
	if err := s.Truncate(0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	<-m.scheduler.turn
	done := make(chan error)
	go func() { done <- s.Append(ctx, []int{1}) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Append that waits: %v", err)
	}
	m.scheduler.release()
}

// cancelAfter is a context that is cancelled when its error was asked for n times.
type cancelAfter struct {
	context.Context
	n int
}

func (c *cancelAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelBetweenLayers(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{Layers: 4})
	want := newSession(t, m, nil)
	appendAll(t, want, 1, 2, 3, 4, 5)
	for n := range 5 {
		s := newSession(t, m, nil)
		appendAll(t, s, 1, 2)
		if err := s.Append(&cancelAfter{context.Background(), n}, []int{3, 4, 5}); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at check %d: %v", n, err)
		}
		appendAll(t, s)
		if !cmp.Equal(bits(s.Logits()), bits(want.Logits())) {
			t.Errorf("cancelled at check %d: logits differ", n)
		}
	}
}

// TestConcurrentSessions runs sessions of one model at once: each gets the bits
// that it gets alone.
func TestConcurrentSessions(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	var wg sync.WaitGroup
	for g := range 4 {
		alone := newSession(t, m, nil)
		appendAll(t, alone, g, 1, 2, 3)
		want := generateGreedily(t, alone, nil, 20, nil)
		s := newSession(t, m, nil)
		wg.Go(func() {
			if err := s.Append(context.Background(), []int{g, 1, 2, 3}); err != nil {
				t.Error(err)
				return
			}
			var got []int
			for token, err := range s.Generate(context.Background(), nil, &GenerateOptions{MaxTokens: 20, IgnoreEOS: true}) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, token.ID)
			}
			if !cmp.Equal(got, want) {
				t.Errorf("session %d: %v, alone %v", g, got, want)
			}
		})
	}
	wg.Wait()
}

func TestNoAllocationPerToken(t *testing.T) {
	for _, threads := range []int{1, 2} {
		m := open(t, testmodel.Tiny(t, t.TempDir(), testmodel.TinyOptions{Context: 512}), &Options{Threads: threads})
		s := newSession(t, m, nil)
		appendAll(t, s, 1, 2, 3)
		ctx := context.Background()
		id := []int{7}
		if n := testing.AllocsPerRun(200, func() {
			if err := s.Append(ctx, id); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%d threads: a token allocates %v times", threads, n)
		}
	}
}

// TestBatches holds sessions that are computed as one batch against each alone.
func TestBatches(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	const sessions, tokens = 8, 60
	want := make([][]int, sessions)
	for g := range want {
		s := newSession(t, m, nil)
		appendAll(t, s, g, 1, 2, 3)
		want[g] = generateGreedily(t, s, nil, tokens, nil)
	}
	var all [sessions]*Session
	for g := range all {
		all[g] = newSession(t, m, nil)
	}
	// Nobody computes until all wait, so that the first batch holds all.
	<-m.scheduler.turn
	largest := 0
	m.scheduler.observe = func(passes int) { largest = max(largest, passes) }
	var wg sync.WaitGroup
	for g, s := range all {
		wg.Go(func() {
			var got []int
			for token, err := range s.Generate(context.Background(), []int{g, 1, 2, 3}, &GenerateOptions{MaxTokens: tokens, IgnoreEOS: true}) {
				if err != nil {
					t.Error(err)
					return
				}
				got = append(got, token.ID)
			}
			if !cmp.Equal(got, want[g]) {
				t.Errorf("session %d: %v, alone %v", g, got, want[g])
			}
		})
	}
	for waiting := 0; waiting < sessions; time.Sleep(time.Millisecond) {
		m.scheduler.mu.Lock()
		waiting = len(m.scheduler.waiting)
		m.scheduler.mu.Unlock()
	}
	m.scheduler.release()
	wg.Wait()
	if largest != sessions {
		t.Errorf("the largest batch had %d sessions, expected %d", largest, sessions)
	}
}
