package llama

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/grammar"
)

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		tokens []int
		want   int
	}{
		{nil, -1},
		{[]int{1}, -1},
		{[]int{1, 2, 9, 1, 2}, -1},                           // two are too few
		{[]int{1, 2, 3, 9, 1, 2, 3}, 3},                      // three will do
		{[]int{1, 2, 3, 8, 1, 2, 3, 9, 1, 2, 3}, 7},          // the latest
		{[]int{5, 1, 2, 3, 8, 4, 1, 2, 3, 9, 5, 1, 2, 3}, 4}, // the longest before the latest
		{[]int{7, 7, 7, 7}, 3},                               // overlapping its own end
		{[]int{1, 2, 1, 2, 1, 2}, 4},                         // a period of two
		{append(make([]int, 100), append(seq(30), seq(30)...)...), 130}, // longer than is compared
	} {
		if got := lookup(c.tokens); got != c.want {
			t.Errorf("%v: %d, want %d", c.tokens, got, c.want)
		}
	}
}

// seq returns 1, 2 … n.
func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i + 1
	}
	return s
}

// A text on which every draft fails costs no more than was promised; one on
// which every draft is right soon has the longest.
func TestDrafterBudget(t *testing.T) {
	const n = 10000
	for _, sessions := range []int{1, 8} {
		d := newDrafter(0, 0.2)
		price, cost := 0.2, 0.0
		if sessions == 8 {
			price = 8 * 0.2 / (1 + 7*0.2)
		}
		tokens := make([]int, 64) // all alike: there is always a match
		for range n {
			cost += price * float64(len(d.draft(tokens, 100, sessions, 0)))
		}
		if most := startBudget + perToken*n; cost > most+1e-6 || cost < most/2 {
			t.Errorf("%d sessions: bad drafts cost %.1f passes of %d, want at most %.1f", sessions, cost, n, most)
		}
		accepted, passes := 0, 0
		for ; accepted < n; passes++ {
			accepted += len(d.draft(tokens, 100, sessions, accepted))
		}
		if sessions == 1 && accepted/passes < defaultDraft/2 {
			t.Errorf("%d right tokens in %d passes", accepted, passes)
		}
		if d.draft(tokens, 0, 1, accepted) != nil {
			t.Error("a draft where there is no room")
		}
	}
	for _, c := range []struct {
		most  int
		price float64
	}{{-1, 0.2}, {8, 1}} {
		d := newDrafter(c.most, c.price)
		if got := d.draft(make([]int, 64), 100, 1, 0); got != nil {
			t.Errorf("%+v: draft %v", c, got)
		}
	}
}

func TestDraftPrice(t *testing.T) {
	for _, isa := range []string{"avx512", "avx2", "portable"} {
		for _, format := range []string{"f32", "bf16", "q8b32", "q4b32m"} {
			if p := draftPrice(isa, format); !(p > 0) || (p >= 1) != (isa == "portable") {
				t.Errorf("%s %s: %v", isa, format, p)
			}
		}
	}
}

// speculating returns a session whose drafts are cheap, whatever runs here.
func speculating(t testing.TB, m *Model, o *SessionOptions) *Session {
	s := newSession(t, m, o)
	s.price = 0.1
	return s
}

// made is all that a generation says.
type made struct {
	Tokens []Token
	Tops   [][]TokenLogProb
	Logits []string // digests of those that each token was picked from
	Err    string
	All    []int
	Saved  [32]byte // digest of what Save writes
}

// generated runs a generation to its end, or its error.
func generated(t *testing.T, s *Session, prompt []int, o GenerateOptions) (g made) {
	t.Helper()
	for token, err := range s.Generate(context.Background(), prompt, &o) {
		if err != nil {
			g.Err = err.Error()
			break
		}
		g.Tops = append(g.Tops, append([]TokenLogProb(nil), token.Top...))
		token.Top = nil
		g.Tokens = append(g.Tokens, token)
		h := sha256.New()
		binary.Write(h, binary.LittleEndian, s.Logits())
		g.Logits = append(g.Logits, hex.EncodeToString(h.Sum(nil)))
	}
	var file bytes.Buffer
	if err := s.Save(&file); err != nil {
		t.Fatal(err)
	}
	g.All, g.Saved = s.Tokens(), sha256.Sum256(file.Bytes())
	return g
}

// repeating is a prompt that repeats, and ends inside a repetition.
func repeating() []int {
	r := rand.New(rand.NewPCG(3, 4))
	part := make([]int, 12)
	for i := range part {
		part[i] = r.IntN(256)
	}
	return append(append(append([]int{}, part...), part...), part[:5]...)
}

// TestSpeculationIsLossless holds generations with drafts against those without:
// tokens, texts, log-probabilities, logits, and what the session is saved as.
func TestSpeculationIsLossless(t *testing.T) {
	var total DraftStats
	for _, c := range []struct {
		name string
		tiny testmodel.TinyOptions
		o    GenerateOptions
		size SessionOptions
	}{
		{name: "greedy", o: GenerateOptions{MaxTokens: 150, IgnoreEOS: true}},
		{name: "one at a time", o: GenerateOptions{MaxTokens: 60, IgnoreEOS: true, DraftMax: 1}},
		{name: "long drafts", o: GenerateOptions{MaxTokens: 150, IgnoreEOS: true, DraftMax: maxDraft}},
		{name: "bf16", tiny: testmodel.TinyOptions{DType: "BF16", Seed: 5}, o: GenerateOptions{MaxTokens: 150, IgnoreEOS: true}},
		{name: "sampled", o: GenerateOptions{MaxTokens: 150, IgnoreEOS: true, Sampling: Sampling{Temperature: 0.05, Seed: 3}}},
		{name: "sampled hotly", o: GenerateOptions{MaxTokens: 150, IgnoreEOS: true, Sampling: Sampling{Temperature: 0.4, TopK: 8, TopP: 0.9, Seed: 3}}},
		{name: "penalty", o: GenerateOptions{MaxTokens: 150, IgnoreEOS: true, Sampling: Sampling{RepeatPenalty: 1.02, RepeatLastN: 4}}},
		{name: "log-probabilities", o: GenerateOptions{MaxTokens: 80, IgnoreEOS: true, LogProbs: 3}},
		{name: "end of context", o: GenerateOptions{IgnoreEOS: true}, size: SessionOptions{Context: 77}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := tiny(t, c.tiny)
			off := c.o
			off.DraftMax = -1
			want := generated(t, speculating(t, m, &c.size), repeating(), off)
			s := speculating(t, m, &c.size)
			if diff := cmp.Diff(want, generated(t, s, repeating(), c.o)); diff != "" {
				t.Errorf("with drafts (-without +with):\n%s", diff[:min(len(diff), 3000)])
			}
			stats := s.DraftStats()
			t.Logf("%d tokens, %+v", len(want.Tokens), stats)
			total.Drafted += stats.Drafted
			total.Accepted += stats.Accepted
		})
	}
	if total.Accepted == 0 || total.Accepted == total.Drafted {
		t.Errorf("%+v: nothing accepted, or nothing rejected", total)
	}
}

// loop returns a model, and a prompt after which it draws tokens that repeat.
func loop(t *testing.T) (m *Model, free []Token, text string) {
	m = tiny(t, testmodel.TinyOptions{})
	s := speculating(t, m, nil)
	free, text = collect(t, s, repeating(), &GenerateOptions{MaxTokens: 100, IgnoreEOS: true})
	if got := s.DraftStats(); got.Accepted < 20 {
		t.Fatalf("%+v: the test needs a text that repeats", got)
	}
	return m, free, text
}

// Wherever a generation ends, it ends there with drafts too.
func TestSpeculationEnds(t *testing.T) {
	m, free, text := loop(t)
	same := func(name string, o GenerateOptions, prompt []int) {
		t.Helper()
		off := o
		off.DraftMax = -1
		want := generated(t, speculating(t, m, nil), prompt, off)
		if diff := cmp.Diff(want, generated(t, speculating(t, m, nil), prompt, o)); diff != "" {
			t.Errorf("%s (-without +with):\n%s", name, diff[:min(len(diff), 2000)])
		}
	}
	for n := 1; n < 40; n++ {
		same(fmt.Sprintf("%d tokens", n), GenerateOptions{MaxTokens: n, IgnoreEOS: true}, repeating())
	}
	for at := 1; at+3 < len(text); at += 7 {
		for len(text) > at+3 && !bytes.ContainsAny([]byte(text[at:at+3]), "\xff") && validUTF8(text[at:at+3]) {
			same(fmt.Sprintf("stop %q", text[at:at+3]), GenerateOptions{MaxTokens: 100, IgnoreEOS: true, Stop: []string{text[at : at+3]}}, repeating())
			break
		}
	}
	// Each token in turn ends the sequence, wherever in a draft it comes.
	saved := m.config
	defer func() { m.config = saved }()
	tried := map[int]bool{}
	for _, token := range free {
		if tried[token.ID] {
			continue
		}
		tried[token.ID] = true
		c := *saved
		c.EOSTokenIDs = []int{token.ID}
		m.config = &c
		same(fmt.Sprintf("end at %d", token.ID), GenerateOptions{MaxTokens: 100}, repeating())
	}
	m.config = saved
	// A context that ends inside a draft.
	for size := len(repeating()) + 1; size < 90; size++ {
		var all [2]made
		for i, most := range []int{-1, 0} {
			all[i] = generated(t, speculating(t, m, &SessionOptions{Context: size}), repeating(), GenerateOptions{IgnoreEOS: true, DraftMax: most})
		}
		if diff := cmp.Diff(all[0], all[1]); diff != "" {
			t.Errorf("context of %d (-without +with):\n%s", size, diff[:min(len(diff), 2000)])
		}
	}
}

func validUTF8(s string) bool { return string([]rune(s)) == s }

// A constraint masks and forces as without drafts.
func TestSpeculationWithConstraint(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{Context: 2048})
	v, err := grammar.NewVocabulary(m.Tokenizer().VocabSize(), func(id int) []byte {
		if m.Tokenizer().IsSpecial(id) {
			return nil
		}
		return m.Tokenizer().TokenBytes(id)
	}, m.config.EOSTokenIDs)
	if err != nil {
		t.Fatal(err)
	}
	g, err := grammar.Compile([]byte(`{"type":"array","minItems":12,"maxItems":12,"items":{"type":"object","properties":{"name":{"enum":["hare","hound"]},"amount":{"type":"integer","minimum":0,"maximum":99}},"required":["name","amount"],"additionalProperties":false}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all [2]made
	var stats DraftStats
	for i, most := range []int{-1, 0} {
		s := speculating(t, m, nil)
		all[i] = generated(t, s, repeating(), GenerateOptions{MaxTokens: 1500, Constraint: g.NewMatcher(v), DraftMax: most})
		stats = s.DraftStats()
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" {
		t.Errorf("with drafts (-without +with):\n%s", diff[:min(len(diff), 3000)])
	}
	if all[0].Err != "" || stats.Accepted == 0 {
		t.Errorf("error %q, %+v", all[0].Err, stats)
	}
	t.Logf("%d tokens, %+v", len(all[0].Tokens), stats)
}

// What the loop does to the session between tokens of a draft counts.
func TestSpeculationUsedInLoop(t *testing.T) {
	m, free, _ := loop(t)
	ctx := context.Background()
	for name, do := range map[string]func(s *Session, i int){
		"look":     func(s *Session, i int) { s.Append(ctx, nil) },
		"take off": func(s *Session, i int) { s.Truncate(s.Len() - i%3) },
		"all off":  func(s *Session, i int) { s.Truncate(max(1, s.Len()-20)) },
		"add":      func(s *Session, i int) { s.Append(ctx, []int{9, 9}[:i%3]) },
		"add what is drafted": func(s *Session, i int) {
			if i+1 < len(free) {
				s.Append(ctx, []int{free[i+1].ID})
			}
		},
		"save and restore": func(s *Session, i int) {
			var file bytes.Buffer
			if s.Save(&file) == nil {
				s.Restore(&file)
			}
		},
		"nested": func(s *Session, i int) {
			for range s.Generate(ctx, nil, &GenerateOptions{MaxTokens: 3, IgnoreEOS: true}) {
			}
		},
	} {
		var got [2][]int
		var all [2][]int
		for i, most := range []int{-1, 0} {
			s := speculating(t, m, nil)
			n := 0
			for token, err := range s.Generate(ctx, repeating(), &GenerateOptions{MaxTokens: 50, IgnoreEOS: true, DraftMax: most}) {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got[i] = append(got[i], token.ID)
				if n++; n%5 == 0 {
					do(s, n)
				}
			}
			all[i] = s.Tokens()
		}
		if !cmp.Equal(got[0], got[1]) || !cmp.Equal(all[0], all[1]) {
			t.Errorf("%s: with drafts %v, without %v", name, got[1], got[0])
		}
	}
}

// A cancelled context ends a generation between the tokens of a draft.
func TestSpeculationCancelled(t *testing.T) {
	m, free, _ := loop(t)
	for at := 1; at < 60; at++ {
		ctx, cancel := context.WithCancel(context.Background())
		s := speculating(t, m, nil)
		var got []int
		var last error
		for token, err := range s.Generate(ctx, repeating(), &GenerateOptions{MaxTokens: 100, IgnoreEOS: true}) {
			if last = err; err != nil {
				break
			}
			if got = append(got, token.ID); len(got) == at {
				cancel()
			}
		}
		cancel()
		if !errors.Is(last, context.Canceled) || !cmp.Equal(got, ids(free[:at])) {
			t.Fatalf("cancelled after %d: %d tokens and error %v", at, len(got), last)
		}
		// The session goes on from there.
		rest, _ := collect(t, s, nil, &GenerateOptions{MaxTokens: 100 - at, IgnoreEOS: true})
		if !cmp.Equal(ids(rest), ids(free[at:])) {
			t.Fatalf("cancelled after %d: the rest is another", at)
		}
	}
}

// Sessions that are computed together draft for themselves.
func TestSpeculationInBatches(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	var want [6][]int
	for g := range want {
		tokens, _ := collect(t, newSession(t, m, nil), append(repeating(), g), &GenerateOptions{MaxTokens: 80, IgnoreEOS: true, DraftMax: -1})
		want[g] = ids(tokens)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var total DraftStats
	for g := range want {
		s := speculating(t, m, nil)
		wg.Go(func() {
			var got []int
			for token, err := range s.Generate(context.Background(), append(repeating(), g), &GenerateOptions{MaxTokens: 80, IgnoreEOS: true}) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, token.ID)
			}
			if !cmp.Equal(got, want[g]) {
				t.Errorf("session %d: %v, without drafts %v", g, got, want[g])
			}
			mu.Lock()
			defer mu.Unlock()
			total.Drafted += s.drafts.Drafted
			total.Accepted += s.drafts.Accepted
		})
	}
	wg.Wait()
	if total.Accepted == 0 {
		t.Errorf("%+v", total)
	}
}

// A token that was drafted, or rejected, allocates no more than others: nothing.
func TestSpeculationAllocatesNothing(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{Context: 2048})
	s := speculating(t, m, nil)
	g, err := s.newGeneration(GenerateOptions{IgnoreEOS: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.add(repeating()); err != nil {
		t.Fatal(err)
	}
	g.decoder, g.stopper = m.tok.NewDecoder(nil), &stopper{}
	next := func() {
		if err := g.compute(context.Background()); err != nil {
			t.Fatal(err)
		}
		id, err := g.sampler.Sample(s.Logits(), s.tokens, nil)
		if err != nil {
			t.Fatal(err)
		}
		g.count++
		s.tokens = append(s.tokens, id)
	}
	for range 200 {
		next()
	}
	if s.drafts.Accepted == 0 {
		t.Fatalf("%+v", s.drafts)
	}
	if n := testing.AllocsPerRun(1000, next); n != 0 {
		t.Errorf("a token allocates %v times", n)
	}
}

// TestSpeculationOnRealModel copies a list with the real checkpoint.
func TestSpeculationOnRealModel(t *testing.T) {
	for _, form := range []string{"bf16", "q8b32", "q4b32m"} {
		m := open(t, testmodel.Dir(t, form), nil)
		template, err := m.ChatTemplate()
		if err != nil {
			t.Fatal(err)
		}
		prompt, err := template.Encode(m.Tokenizer(), []Message{{Role: "user", Content: "Add type hints to this code and return all of it:\n" + realCode}}, &ChatOptions{AddGenerationPrompt: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, sampling := range []Sampling{{}, {Temperature: 0.7, Seed: 1}} {
			o := GenerateOptions{MaxTokens: 100, LogProbs: 2, Sampling: sampling}
			s := speculating(t, m, nil)
			got := generated(t, s, prompt, o)
			o.DraftMax = -1
			want := generated(t, newSession(t, m, nil), prompt, o)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: with drafts (-without +with):\n%s", form, diff[:min(len(diff), 3000)])
			}
			if sampling.Temperature == 0 && s.drafts.Accepted < len(got.Tokens)/3 {
				t.Errorf("%s: %d tokens, %+v", form, len(got.Tokens), s.drafts)
			}
		}
		m.Close()
	}
}

const realCode = `def read_config(path):
    with open(path) as f:
        data = json.load(f)
    for key in ("name", "version", "author"):
        if key not in data:
            raise ValueError(f"{path}: no {key}")
    return data

def write_config(path, data):
    with open(path, "w") as f:
        json.dump(data, f, indent=2)
`
