package llama

import (
	"math"
	"slices"
	"testing"
)

func TestLogProbs(t *testing.T) {
	spread := randomLogits(3000)
	for i := range spread {
		spread[i] *= 10
	}
	tail := make([]float32, 50000) // one likely token and a long tail
	for i := range tail {
		tail[i] = -17
	}
	tail[31234] = 1
	for name, logits := range map[string][]float32{
		"four": logs(.1, .2, .3, .4), "equal": make([]float32, 1000), "random": randomLogits(49152), "spread": spread, "tail": tail,
	} {
		var sum float64
		max := slices.Max(logits)
		for _, x := range logits {
			sum += math.Exp(float64(x) - float64(max))
		}
		want := func(id int) float64 { return float64(logits[id]) - float64(max) - math.Log(sum) }
		order := make([]int, len(logits))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if logits[a] > logits[b] {
				return -1
			} else if logits[a] < logits[b] {
				return 1
			}
			return 0
		})
		for _, n := range []int{0, 1, 3, len(logits), len(logits) + 2} {
			top := make([]TokenLogProb, n)
			id := len(logits) / 3
			if got := float64(logProbs(logits, id, top)); math.Abs(got-want(id)) > 2e-6*math.Max(1, -want(id)) {
				t.Errorf("%s: token %d: %v, want %v", name, id, got, want(id))
			}
			for i, got := range top {
				if i >= len(logits) {
					if got.ID != -1 || !math.IsInf(float64(got.LogProb), -1) {
						t.Errorf("%s: top[%d] = %+v beyond the vocabulary", name, i, got)
					}
				} else if w := want(order[i]); got.ID != order[i] || math.Abs(float64(got.LogProb)-w) > 2e-6*math.Max(1, -w) {
					t.Errorf("%s: top[%d] = %+v, want {%d %v}", name, i, got, order[i], w)
					break
				}
			}
		}
	}
}

func TestLogProbsSpecial(t *testing.T) {
	minus := float32(math.Inf(-1))
	top := make([]TokenLogProb, 3)
	if p := logProbs([]float32{nan, 0, minus, 0}, 0, top); p != minus {
		t.Errorf("NaN has log-probability %v", p)
	}
	half := float32(math.Log(0.5))
	if top[0] != (TokenLogProb{1, half}) || top[1] != (TokenLogProb{3, half}) || top[2] != (TokenLogProb{0, minus}) {
		t.Errorf("top %v", top)
	}
	if p := logProbs([]float32{5, inf, inf}, 2, top); p != half || top[2] != (TokenLogProb{0, minus}) {
		t.Errorf("of two infinities one has %v; top %v", p, top)
	}
	for _, x := range []float32{nan, minus} {
		if p := logProbs([]float32{x, x}, 1, top); p != minus {
			t.Errorf("%v alone has %v", x, p)
		}
	}
	if p := logProbs(nil, 0, top); p != minus || top[0].ID != -1 {
		t.Errorf("nothing has %v, top %v", p, top)
	}
	for _, id := range []int{-1, 2} {
		if p := logProbs([]float32{1, 2}, id, nil); p != minus {
			t.Errorf("token %d has %v", id, p)
		}
	}
}

func TestLogProbsAllocs(t *testing.T) {
	logits, top := randomLogits(5000), make([]TokenLogProb, 5)
	if n := testing.AllocsPerRun(20, func() { logProbs(logits, 17, top) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
