package main

import (
	"math"
	"math/rand/v2"

	"github.com/leveret-os/leveret/pkg/llama"
)

// samplingFlags say how tokens are picked.
type samplingFlags struct {
	temperature, topP, minP, penalty float64
	topK, lastN, seed                int
}

func (s *samplingFlags) declare(f *flags) {
	*s = samplingFlags{topP: 1, penalty: 1, lastN: 64}
	f.float(&s.temperature, "temp,temperature", "temperature; 0, the default, always takes the most likely token")
	f.int(&s.topK, "top-k", "pick among the K most likely tokens (default 0: all)")
	f.float(&s.topP, "top-p", "pick among the most likely tokens that together have probability P (default 1: all)")
	f.float(&s.minP, "min-p", "pick among tokens with at least P times the probability of the most likely one (default 0: all)")
	f.float(&s.penalty, "repeat-penalty", "make tokens that have occurred less likely (default 1: no)")
	f.int(&s.lastN, "repeat-last-n", "how many tokens back --repeat-penalty looks (default 64; -1: all, 0: off)")
	f.int(&s.seed, "s,seed", "seed of the random numbers (default 0; -1: another one each time, which is said)")
}

// check refuses what cannot be meant.
func (s *samplingFlags) check() error {
	switch {
	case s.temperature < 0 || s.temperature > 1e6:
		return usagef("--temp %v: expected 0 or more", s.temperature)
	case s.topK < 0:
		return usagef("--top-k %d: expected 0 (all) or more", s.topK)
	case s.topP < 0 || s.topP > 1:
		return usagef("--top-p %v: expected 0 to 1", s.topP)
	case s.minP < 0 || s.minP > 1:
		return usagef("--min-p %v: expected 0 to 1", s.minP)
	case s.penalty <= 0 || s.penalty > 1e6:
		return usagef("--repeat-penalty %v: expected more than 0", s.penalty)
	case s.lastN < -1:
		return usagef("--repeat-last-n %d: expected -1 (everything) or more", s.lastN)
	case s.seed < -1:
		return usagef("-s %d: expected -1 (any) or more", s.seed)
	}
	return nil
}

// sampling gives the options of pkg/llama, in which 0 means off, and draws the
// seed where any will do.
func (s *samplingFlags) sampling(c *console, f *flags) llama.Sampling {
	if s.temperature == 0 {
		for _, name := range []string{"top-k", "top-p", "min-p", "seed"} {
			if f.given(name) {
				c.note("--%s changes nothing at --temp 0, where the most likely token is taken", name)
			}
		}
	}
	o := llama.Sampling{
		Temperature: float32(s.temperature), TopK: s.topK, TopP: float32(s.topP), MinP: float32(s.minP),
		RepeatPenalty: float32(s.penalty), RepeatLastN: max(s.lastN, 0), Seed: uint64(s.seed),
	}
	if o.TopP == 0 {
		o.TopP = math.SmallestNonzeroFloat32 // the most likely token alone
	}
	if s.lastN == 0 {
		o.RepeatPenalty = 1
	}
	if s.seed < 0 {
		o.Seed = rand.Uint64() >> 1
		if s.temperature > 0 {
			c.note("seed %d", o.Seed)
		}
	}
	return o
}
