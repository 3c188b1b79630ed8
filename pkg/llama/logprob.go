package llama

import (
	"math"

	"github.com/leveret-os/leveret/internal/fmath"
	"github.com/leveret-os/leveret/internal/simd"
)

// TokenLogProb is a token and the natural logarithm of its probability.
type TokenLogProb struct {
	ID      int
	LogProb float32
}

// logProbs returns the natural logarithm of the probability of id, before any
// filter, and sets top to the len(top) most likely tokens, in descending order,
// equal ones by ascending id. NaN counts as −Inf. If top is longer than logits,
// the rest is {-1, −Inf}. It does not allocate.
func logProbs(logits []float32, id int, top []TokenLogProb) float32 {
	// While selecting, LogProb holds the logit.
	n := min(len(top), len(logits))
	for i := range top {
		top[i] = TokenLogProb{ID: -1, LogProb: float32(math.Inf(-1))}
		if i < n {
			top[i] = TokenLogProb{ID: i, LogProb: orMinusInf(logits[i])}
		}
	}
	if h := top[:n]; n > 0 {
		minHeapify(h)
		for i := n; i < len(logits); i++ {
			if logits[i] > h[0].LogProb {
				h[0] = TokenLogProb{ID: i, LogProb: logits[i]}
				siftMin(h, 0)
			}
		}
		sortMinHeap(h)
	}
	norm := newNormaliser(logits)
	for i := range top {
		top[i].LogProb = norm.logProb(top[i].LogProb)
	}
	if id < 0 || id >= len(logits) {
		return float32(math.Inf(-1))
	}
	return norm.logProb(logits[id])
}

// A normaliser turns logits into logarithms of probabilities.
type normaliser struct {
	max float32
	log float64 // of the sum of exp(x−max); where max is +Inf, of the number of these
}

func newNormaliser(logits []float32) normaliser {
	n := normaliser{max: float32(math.Inf(-1))}
	for _, x := range logits {
		if x > n.max {
			n.max = x
		}
	}
	var sum float64
	switch {
	case math.IsInf(float64(n.max), 1):
		for _, x := range logits {
			if x == n.max {
				sum++
			}
		}
	case math.IsInf(float64(n.max), -1):
		return n
	default:
		// A softmax turns the largest element of a chunk into one over the sum of
		// exp(x−largest), with the same bits everywhere.
		kernels := simd.New(simd.Best())
		var chunk [512]float32
		for len(logits) > 0 {
			c := chunk[:min(len(chunk), len(logits))]
			largest, at := float32(math.Inf(-1)), 0
			for i, x := range logits[:len(c)] {
				c[i] = orMinusInf(x)
				if c[i] > largest {
					largest, at = c[i], i
				}
			}
			if !math.IsInf(float64(largest), -1) {
				kernels.Softmax(c)
				sum += fmath.Exp(float64(largest)-float64(n.max)) / float64(c[at])
			}
			logits = logits[len(c):]
		}
	}
	n.log = fmath.Log(sum)
	return n
}

func (n normaliser) logProb(x float32) float32 {
	switch {
	case x != x || math.IsInf(float64(x), -1):
		return float32(math.Inf(-1))
	case math.IsInf(float64(n.max), 1):
		if x != n.max {
			return float32(math.Inf(-1))
		}
		return float32(-n.log)
	}
	return float32(float64(x) - float64(n.max) - n.log)
}

func orMinusInf(x float32) float32 {
	if x != x {
		return float32(math.Inf(-1))
	}
	return x
}
