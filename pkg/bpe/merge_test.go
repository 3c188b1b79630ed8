package bpe

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// naive merges by the definition: the strongest rule anywhere, at its leftmost
// place, until none applies.
func naive(t *pairTable, ids []int32) []int32 {
	ids = slices.Clone(ids)
	for {
		best, at := noMerge, -1
		for i := 1; i < len(ids); i++ {
			if m := t.get(ids[i-1], ids[i]); m < best {
				best, at = m, i-1
			}
		}
		if at < 0 {
			return ids
		}
		ids = slices.Replace(ids, at, at+2, best.id())
	}
}

// TestMerge compares both ways of merging with the definition, on random rules
// (also contradictory ones, which no training would give).
func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		tokens := int32(2 + rng.IntN(12))
		var rules []rule
		for range rng.IntN(60) {
			rules = append(rules, rule{rng.Int32N(tokens), rng.Int32N(tokens), rng.Int32N(tokens)})
		}
		pairs := newPairTable(rules)
		for _, r := range rules {
			if pairs.get(r.left, r.right) == noMerge {
				t.Fatalf("rule %v is lost", r)
			}
		}
		if pairs.get(tokens, 0) != noMerge || pairs.get(0, tokens) != noMerge {
			t.Fatal("a rule out of nothing")
		}
		for range 20 {
			ids := make([]int32, 1+rng.IntN(200))
			for i := range ids {
				ids[i] = rng.Int32N(tokens)
			}
			want := naive(&pairs, ids)
			w := &wordState{ids: slices.Clone(ids)}
			if got := pairs.mergeSmall(w); !slices.Equal(got, want) {
				t.Fatalf("mergeSmall of %v: %v, want %v", ids, got, want)
			}
			w.ids = slices.Clone(ids)
			if got := pairs.mergeLarge(w); !slices.Equal(got, want) {
				t.Fatalf("mergeLarge of %v: %v, want %v", ids, got, want)
			}
		}
	}
}

// TestDoubledRule: of two rules for a pair the later counts, as in tokenizers.
func TestDoubledRule(t *testing.T) {
	pairs := newPairTable([]rule{{0, 1, 3}, {1, 2, 4}, {0, 1, 3}})
	w := &wordState{ids: []int32{0, 1, 2}}
	if got := pairs.mergeAll(w); !slices.Equal(got, []int32{0, 4}) {
		t.Errorf("%v, want [0 4]", got)
	}
}
