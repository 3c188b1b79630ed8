package grammar

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
)

// realVocabulary is that of SmolLM2: 49,152 tokens.
func realVocabulary(t testing.TB) *Vocabulary {
	t.Helper()
	tok, err := bpe.Load(os.DirFS(testmodel.Dir(t, "bf16")))
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVocabulary(tok.VocabSize(), func(id int) []byte {
		if tok.IsSpecial(id) {
			return nil
		}
		return tok.TokenBytes(id)
	}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// states walks a fresh grammar at random and calls f at every state that was not
// met before, just before its mask is asked for.
func states(t testing.TB, g *Grammar, v *Vocabulary, r *rand.Rand, walks, limit int, f func(m *Matcher)) {
	seen := map[string]bool{}
	legal := make([]uint64, v.words())
	for range walks {
		m := g.NewMatcher(v)
		for n := 0; n < limit && !m.Done(); n++ {
			key := ""
			for _, u := range m.threads {
				key += string([]rune{rune(u.kind), rune(u.space), rune(u.a), rune(u.b), rune(u.c), rune(u.d), rune(u.frame)}) + "|"
			}
			if !seen[key] {
				seen[key] = true
				f(m)
			}
			if err := m.Mask(legal); err != nil {
				t.Fatal(err)
			}
			ids := legalTokens(legal)
			id := ids[r.IntN(len(ids))]
			// Strings of some words, then on.
			if len(ids) > 1000 && r.IntN(6) == 0 {
				for range 300 {
					if k := ids[r.IntN(len(ids))]; closing(v, k) > closing(v, id) {
						id = k
					}
				}
			}
			if err := m.Accept(id); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// BenchmarkMask measures the masks of all states that walks through the hundred
// tools meet, each grammar fresh and each mask cold.
func BenchmarkMask(b *testing.B) {
	v := realVocabulary(b)
	tools := hundredTools(b)
	legal := make([]uint64, v.words())
	for b.Loop() {
		r := rand.New(rand.NewPCG(1, 2))
		type sample struct {
			time time.Duration
			what string
		}
		var times []sample
		var compile []time.Duration
		for _, tool := range tools {
			begin := time.Now()
			g, err := CompileTools([]Tool{tool}, nil)
			compile = append(compile, time.Since(begin))
			if err != nil {
				b.Fatal(err)
			}
			states(b, g, v, r, 12, 150, func(m *Matcher) {
				begin := time.Now()
				err := m.Mask(legal)
				times = append(times, sample{time.Since(begin), ""})
				if os.Getenv("MASK_SLOW") != "" && times[len(times)-1].time > 100*time.Microsecond {
					u := m.threads[0]
					fmt.Fprintln(os.Stderr, "SLOW", times[len(times)-1].time, tool.Name, u.kind, len(m.threads), len(legalTokens(legal)))
				}
				if err != nil {
					b.Fatal(err)
				}
			})
		}
		sort.Slice(times, func(i, j int) bool { return times[i].time < times[j].time })
		slices.Sort(compile)
		at := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))].time.Nanoseconds()) / 1e3 }
		b.ReportMetric(at(0.5), "median-µs")
		b.ReportMetric(at(0.9), "p90-µs")
		b.ReportMetric(at(0.99), "p99-µs")
		b.ReportMetric(at(1), "max-µs")
		b.ReportMetric(float64(len(times)), "states")
		b.ReportMetric(float64(compile[50].Nanoseconds())/1e3, "compile-median-µs")
		b.ReportMetric(float64(compile[99].Nanoseconds())/1e3, "compile-max-µs")
	}
}

// BenchmarkFiveTools measures compiling five tools, and their first masks.
func BenchmarkFiveTools(b *testing.B) {
	v := realVocabulary(b)
	tools := hundredTools(b)
	five := tools[slices.IndexFunc(tools, func(t Tool) bool { return t.Name == "read_file" }):][:5]
	legal := make([]uint64, v.words())
	for b.Loop() {
		g, err := CompileTools(five, nil)
		if err != nil {
			b.Fatal(err)
		}
		m := g.NewMatcher(v)
		for range 20 {
			if f := m.Forced(); len(f) > 0 {
				if err := m.AcceptBytes(f); err != nil {
					b.Fatal(err)
				}
			}
			if err := m.Mask(legal); err != nil {
				b.Fatal(err)
			}
			ids := legalTokens(legal)
			if err := m.Accept(ids[len(ids)/2]); err != nil || m.Done() {
				break
			}
		}
	}
}

func BenchmarkVocabulary(b *testing.B) {
	tok, err := bpe.Load(os.DirFS(filepath.Clean(testmodel.Dir(b, "bf16"))))
	if err != nil {
		b.Fatal(err)
	}
	tokens := make([][]byte, tok.VocabSize())
	for i := range tokens {
		tokens[i] = tok.TokenBytes(i)
	}
	for b.Loop() {
		if _, err := NewVocabulary(len(tokens), func(id int) []byte { return tokens[id] }, []int{2}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHundredTools measures compiling all hundred tools to one grammar.
func BenchmarkHundredTools(b *testing.B) {
	tools := hundredTools(b)
	for b.Loop() {
		if _, err := CompileTools(tools, nil); err != nil {
			b.Fatal(err)
		}
	}
}
