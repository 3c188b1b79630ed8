package llama

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/leveret-os/leveret/internal/simd"
)

var (
	// ErrSampling means a field of Sampling outside its range. The error names
	// field and value.
	ErrSampling = errors.New("llama: sampling")
	// ErrLogits means logits that no token can be picked from: none at all, or no
	// legal one that is a number above −Inf.
	ErrLogits = errors.New("llama: logits")
)

// Sampling says how a token is picked from logits. In each field zero means
// off, so the zero value picks greedily, the lowest id among equals.
//
// The filters work in the order of transformers' generate, for which published
// generation_config.json files are written: repetition penalty, temperature,
// top-k, top-p, min-p. (llama.cpp applies the temperature last by default, which
// keeps fewer tokens at temperatures above 1.) At least one token is always
// kept.
type Sampling struct {
	// Temperature divides the logits; 0 is greedy.
	Temperature float32
	// TopK keeps the K most likely tokens.
	TopK int
	// TopP keeps the smallest set of most likely tokens whose probability, among
	// those that TopK kept, is at least TopP (Holtzman et al., "The Curious Case
	// of Neural Text Degeneration"): 0 to 1. Like 1, 0 is off; the smallest
	// positive value keeps the most likely token alone.
	TopP float32
	// MinP keeps tokens at least MinP times as likely as the most likely one
	// (Nguyen et al., "Turning Up the Heat: Min-p Sampling"): 0 to 1.
	MinP float32
	// RepeatPenalty divides positive and multiplies negative logits of tokens
	// that already occurred (Keskar et al., "CTRL"); 1 is off, like 0.
	RepeatPenalty float32
	// RepeatLastN is how many of the last tokens RepeatPenalty looks at, prompt
	// included; 0 means all of them.
	RepeatLastN int
	// Seed begins the sequence of random numbers. Equal seeds and logits give
	// equal tokens, whatever the number of threads or the processor. 0 is a seed
	// like any other.
	Seed uint64
}

// validate checks ranges; comparisons are written so that NaN fails them.
func (o *Sampling) validate() error {
	fail := func(field, want string, found any) error {
		return fmt.Errorf("%w: %s: want %s, found %v", ErrSampling, field, want, found)
	}
	switch {
	case !(o.Temperature >= 0 && o.Temperature <= math.MaxFloat32):
		return fail("Temperature", "a number of at least 0", o.Temperature)
	case o.TopK < 0:
		return fail("TopK", "at least 0", o.TopK)
	case !(o.TopP >= 0 && o.TopP <= 1):
		return fail("TopP", "0 to 1", o.TopP)
	case !(o.MinP >= 0 && o.MinP <= 1):
		return fail("MinP", "0 to 1", o.MinP)
	case !(o.RepeatPenalty >= 0 && o.RepeatPenalty <= math.MaxFloat32):
		return fail("RepeatPenalty", "a number of at least 0", o.RepeatPenalty)
	case o.RepeatLastN < 0:
		return fail("RepeatLastN", "at least 0", o.RepeatLastN)
	}
	return nil
}

// Sampling returns what the model's generation_config.json recommends: greedy
// unless it says do_sample, and with transformers' defaults (temperature 1,
// top-k 50) where it says nothing else.
func (c *Config) Sampling() Sampling {
	g := &c.Generation
	or := func(v *float32, def float32) float32 {
		if v == nil {
			return def
		}
		return *v
	}
	o := Sampling{RepeatPenalty: or(g.RepetitionPenalty, 0)}
	if !g.DoSample {
		return o
	}
	o.Temperature = or(g.Temperature, 1)
	o.TopP, o.MinP, o.TopK = or(g.TopP, 0), or(g.MinP, 0), 50
	if g.TopK != nil {
		o.TopK = *g.TopK
	}
	return o
}

// A Sampler picks tokens from logits. It holds the state of its random numbers
// and buffers, and serves one goroutine at a time.
//
// The random numbers are those of PCG-DXSM (math/rand/v2's PCG) seeded with
// Sampling.Seed and 0x9e3779b97f4a7c15. Each token that is sampled (not those
// picked greedily) takes one of them, whose upper 53 bits are a fraction u; it
// is the first kept token at which the sum of probabilities exceeds u times
// their total. The kept tokens stand in descending order of their logits if
// TopK or TopP is on, and in ascending order of ids otherwise.
type Sampler struct {
	opts    Sampling
	kernels simd.Kernels
	pcg     rand.PCG

	x    []float32   // logits while filtering, then probabilities; by id, or by rank after top-k
	kept []candidate // the candidates, and after the filters those kept
	seen []uint64    // bitset of penalised ids, clear between calls
}

// NewSampler returns a sampler, or an error that wraps ErrSampling.
func NewSampler(opts Sampling) (*Sampler, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Sampler{opts: opts, kernels: simd.New(simd.Best())}
	s.Reset()
	return s, nil
}

// Reset begins the random numbers anew, so that the sampler repeats itself.
func (s *Sampler) Reset() { s.pcg.Seed(s.opts.Seed, 0x9e3779b97f4a7c15) }

// Sample picks a token id from logits, one per id, which it leaves unchanged.
//
// history holds the tokens so far, for the repetition penalty. Where legal is
// not nil, only ids are picked whose bit id%64 of legal[id/64] is set; missing
// words count as zero. Logits that are NaN are skipped, and where some are +Inf
// the pick is among these. If nothing can be picked, the error wraps ErrLogits.
//
// Sample does not allocate once it has seen a vocabulary's size. It takes time
// proportional to the vocabulary, plus k·log of it for the k tokens kept by top-k
// or top-p.
func (s *Sampler) Sample(logits []float32, history []int, legal []uint64) (int, error) {
	if s.opts.Temperature == 0 && (s.opts.RepeatPenalty == 0 || s.opts.RepeatPenalty == 1) {
		return s.greedy(logits, legal)
	}
	if err := s.prepare(logits, history, legal); err != nil {
		return 0, err
	}
	if s.opts.Temperature == 0 {
		return s.greedy(s.x, nil)
	}
	s.filter()
	return s.draw(), nil
}

// greedy returns the lowest id of the largest logit. It skips NaN, which
// compares as false.
func (s *Sampler) greedy(logits []float32, legal []uint64) (int, error) {
	const chunk = 1024 // whose largest is found before its place
	best, max := -1, float32(math.Inf(-1))
	for first := 0; first < len(logits); first += chunk {
		some := logits[first:min(first+chunk, len(logits))]
		if !(s.kernels.Max(some) > max) {
			continue
		}
		for i, x := range some {
			if x > max && (legal == nil || isLegal(legal, first+i)) {
				best, max = first+i, x
			}
		}
	}
	if best < 0 {
		return 0, noToken(logits, legal)
	}
	return best, nil
}

func isLegal(legal []uint64, id int) bool {
	return id>>6 < len(legal) && legal[id>>6]>>(id&63)&1 != 0
}

func noToken(logits []float32, legal []uint64) error {
	if len(logits) == 0 {
		return fmt.Errorf("%w: empty", ErrLogits)
	}
	if legal == nil {
		return fmt.Errorf("%w: none of %d is a number above -Inf", ErrLogits, len(logits))
	}
	n := 0
	for id := range logits {
		if isLegal(legal, id) {
			n++
		}
	}
	return fmt.Errorf("%w: of %d, %d are legal, and none of these is a number above -Inf", ErrLogits, len(logits), n)
}

// prepare sets x to the penalised logits less the largest of them, so that the
// largest is 0 and no temperature can make it overflow; −Inf stands for what
// cannot be picked.
func (s *Sampler) prepare(logits []float32, history []int, legal []uint64) error {
	inf := float32(math.Inf(1))
	s.x = append(s.x[:0], logits...)
	s.penalise(history)
	max := -inf
	for id, v := range s.x {
		if v != v || legal != nil && !isLegal(legal, id) {
			s.x[id] = -inf
		} else if v > max {
			max = v
		}
	}
	switch max {
	case -inf:
		return noToken(logits, legal)
	case inf:
		for id, v := range s.x {
			s.x[id] = -inf
			if v == inf {
				s.x[id] = 0
			}
		}
	default:
		for id := range s.x {
			s.x[id] -= max
		}
	}
	return nil
}

// penalise changes the logit of each token in history once.
func (s *Sampler) penalise(history []int) {
	p := s.opts.RepeatPenalty
	if p == 0 || p == 1 {
		return
	}
	if n := s.opts.RepeatLastN; n > 0 && n < len(history) {
		history = history[len(history)-n:]
	}
	s.seen = slices.Grow(s.seen[:0], (len(s.x)+63)/64)[:(len(s.x)+63)/64]
	for _, id := range history {
		if id < 0 || id >= len(s.x) || isLegal(s.seen, id) {
			continue
		}
		s.seen[id>>6] |= 1 << (id & 63)
		if s.x[id] < 0 {
			s.x[id] *= p
		} else {
			s.x[id] /= p
		}
	}
	for _, id := range history {
		if id >= 0 && id < len(s.x) {
			s.seen[id>>6] = 0
		}
	}
}

// filter sets kept to the candidates that the filters leave, with their
// probabilities. Those that underflow to probability 0 are left out.
func (s *Sampler) filter() {
	s.kept = slices.Grow(s.kept[:0], len(s.x))
	switch o := &s.opts; {
	case o.TopK > 0 && o.TopK < len(s.x):
		s.kept = selectTop(s.kept, s.x, o.TopK)
		for i, c := range s.kept {
			s.x[i] = c.x
		}
		s.softmax(s.x[:len(s.kept)])
		for i := range s.kept {
			s.kept[i].p = s.x[i]
		}
		s.kept = s.kept[:s.cut(func(i int) candidate { return s.kept[i] })]
	case o.TopP > 0 && o.TopP < 1:
		for id, x := range s.x {
			s.kept = append(s.kept, candidate{id: int32(id), x: x})
		}
		s.softmax(s.x)
		for id, p := range s.x {
			s.kept[id].p = p
		}
		// Take the likeliest off a heap, one by one, until the cut is known.
		h := s.kept
		maxHeapify(h)
		n := s.cut(func(i int) candidate { return popMax(h[:len(h)-i]) })
		// They now stand at the end, the likeliest last.
		s.kept = h[:copy(h, h[len(h)-n:])]
		slices.Reverse(s.kept)
	default:
		s.softmax(s.x)
		least := float32(o.MinP * slices.Max(s.x))
		for id, p := range s.x {
			if p > 0 && p >= least {
				s.kept = append(s.kept, candidate{id: int32(id), p: p})
			}
		}
	}
}

// softmax divides by the temperature and turns x, of which the largest is 0,
// into probabilities.
func (s *Sampler) softmax(x []float32) {
	for i := range x {
		x[i] /= s.opts.Temperature
	}
	s.kernels.Softmax(x)
}

// cut returns how many candidates top-p and min-p keep. ranked(i), asked for in
// ascending order, is the candidate of rank i.
func (s *Sampler) cut(ranked func(i int) candidate) int {
	var most, sum float32
	for i := range s.kept {
		c := ranked(i)
		if i == 0 {
			most = c.p
		} else if c.p == 0 || c.p < float32(s.opts.MinP*most) {
			return i
		}
		if sum += c.p; s.opts.TopP > 0 && s.opts.TopP < 1 && sum >= s.opts.TopP {
			return i + 1
		}
	}
	return len(s.kept)
}

// draw picks one of the kept candidates by its probability.
func (s *Sampler) draw() int {
	var total float64
	for _, c := range s.kept {
		total += float64(c.p)
	}
	limit := float64(s.pcg.Uint64()>>11) / (1 << 53) * total
	var sum float64
	for _, c := range s.kept {
		if sum += float64(c.p); sum > limit {
			return int(c.id)
		}
	}
	return int(s.kept[len(s.kept)-1].id)
}
