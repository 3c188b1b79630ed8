package llama

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// keptIDs runs the filters and returns what they keep, in descending order.
func (s *Sampler) keptIDs(logits []float32, history []int, legal []uint64) ([]int, error) {
	if err := s.prepare(logits, history, legal); err != nil {
		return nil, err
	}
	if s.opts.Temperature == 0 {
		id, err := s.greedy(s.x, nil)
		return []int{id}, err
	}
	s.filter()
	kept := slices.Clone(s.kept)
	slices.SortStableFunc(kept, func(a, b candidate) int {
		switch {
		case a.p > b.p:
			return -1
		case a.p < b.p:
			return 1
		}
		return 0
	})
	var ids []int
	for _, c := range kept {
		ids = append(ids, int(c.id))
	}
	return ids, nil
}

func mustSampler(t testing.TB, o Sampling) *Sampler {
	t.Helper()
	s, err := NewSampler(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSamplerCases runs the cases of other projects' faults.
func TestSamplerCases(t *testing.T) {
	var file struct {
		Cases []struct {
			ID     string
			Logits []string
			Params map[string]any
			Kept   json.RawMessage `json:"kept_ids_desc"`
		}
	}
	readJSON(t, "sampler.json", &file)
	if len(file.Cases) < 10 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			var logits []float32
			for _, s := range c.Logits {
				f, err := strconv.ParseFloat(s, 64)
				if err != nil {
					t.Fatal(err)
				}
				logits = append(logits, float32(f))
			}
			opts := Sampling{Temperature: 1}
			for key, v := range c.Params {
				f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
				if err != nil {
					t.Fatal(err)
				}
				switch key {
				case "temperature":
					opts.Temperature = float32(f)
				case "top_k":
					opts.TopK = int(f)
				case "top_p":
					opts.TopP = float32(f)
				case "min_p":
					opts.MinP = float32(f)
				default:
					t.Fatalf("unknown parameter %q", key)
				}
			}
			s, err := NewSampler(opts)
			var ids []int
			if err == nil {
				ids, err = s.keptIDs(logits, nil, nil)
			} else if !errors.Is(err, ErrSampling) {
				t.Errorf("error %v, want ErrSampling", err)
			}
			if c.ID == "topk-neg" { // off, or an error: here an error
				c.Kept = []byte(`"error"`)
			}
			if string(c.Kept) == `"error"` {
				if err == nil {
					t.Fatalf("kept %v, want an error", ids)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var want []int
			if err := json.Unmarshal(c.Kept, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, ids); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			// What Sample picks is among these.
			for range 20 {
				id, err := s.Sample(logits, nil, nil)
				if err != nil || !slices.Contains(want, id) {
					t.Fatalf("sampled %d, %v", id, err)
				}
			}
		})
	}
}

func logs(p ...float64) []float32 {
	x := make([]float32, len(p))
	for i, p := range p {
		x[i] = float32(math.Log(p))
	}
	return x
}

func TestSamplerFilters(t *testing.T) {
	p := logs(.1, .2, .3, .4)
	tests := []struct {
		name   string
		opts   Sampling
		logits []float32
		want   []int
	}{
		{"top_p smallest", Sampling{Temperature: 1, TopP: math.SmallestNonzeroFloat32}, p, []int{3}},
		{"top_p 0.7", Sampling{Temperature: 1, TopP: 0.7}, p, []int{3, 2}},
		{"top_p 0.71", Sampling{Temperature: 1, TopP: 0.71}, p, []int{3, 2, 1}},
		{"min_p 0.26", Sampling{Temperature: 1, MinP: 0.26}, p, []int{3, 2, 1}},
		{"min_p 1 and a tiny top_p", Sampling{Temperature: 1, MinP: 1, TopP: 1e-30}, p, []int{3}},
		{"min_p 1 keeps equals", Sampling{Temperature: 1, MinP: 1}, logs(.3, .1, .3, .3), []int{0, 2, 3}},
		{"min_p after top_k", Sampling{Temperature: 1, TopK: 3, MinP: 0.6}, p, []int{3, 2}},
		{"top_k 0 keeps all", Sampling{Temperature: 1}, logs(.05, .9, .05), []int{1, 0, 2}},
		{"top_k above the vocabulary", Sampling{Temperature: 1, TopK: 100}, p, []int{3, 2, 1, 0}},
		{"top_k among equals takes low ids", Sampling{Temperature: 1, TopK: 2}, logs(.25, .25, .25, .25), []int{0, 1}},
		{"top_p among equals takes low ids", Sampling{Temperature: 1, TopP: 0.5}, logs(.25, .25, .25, .25), []int{0, 1}},
		{"temperature before top_p", Sampling{Temperature: 0.5, TopP: 0.8}, p, []int{3, 2}}, // p² : 1, 4, 9, 16 of 30
		{"temperature before min_p", Sampling{Temperature: 2, MinP: 0.6}, p, []int{3, 2, 1}},
		{"tiny temperature", Sampling{Temperature: math.SmallestNonzeroFloat32}, []float32{-100, 10, 9}, []int{1}},
		{"huge temperature", Sampling{Temperature: math.MaxFloat32}, []float32{1, 3, 2}, []int{0, 1, 2}},
		{"largest logits", Sampling{Temperature: 1e-30}, []float32{-math.MaxFloat32, math.MaxFloat32}, []int{1}},
		{"NaN is skipped", Sampling{Temperature: 1, TopK: 2}, []float32{nan, 1, nan, 2, 0}, []int{3, 1}},
		{"+Inf wins", Sampling{Temperature: 1}, []float32{1, inf, 2, inf}, []int{1, 3}},
		{"-Inf never", Sampling{Temperature: 1, TopK: 3}, []float32{-inf, 1, -inf}, []int{1}},
	}
	for _, test := range tests {
		got, err := mustSampler(t, test.opts).keptIDs(test.logits, nil, nil)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, -want +got:\n%s", test.name, err, diff)
		}
	}
}

// TestTopPZero: a mass of 0 keeps the likeliest alone, in the filter itself.
func TestTopPZero(t *testing.T) {
	s := mustSampler(t, Sampling{Temperature: 1, TopP: math.SmallestNonzeroFloat32})
	s.kept = []candidate{{p: .6}, {p: .4}}
	if n := s.cut(func(i int) candidate { return s.kept[i] }); n != 1 {
		t.Errorf("kept %d", n)
	}
}

// naiveKept sorts everything.
func naiveKept(logits []float32, o Sampling) []int {
	type cand struct {
		id int
		x  float32
	}
	var all []cand
	for id, x := range logits {
		all = append(all, cand{id, x})
	}
	slices.SortStableFunc(all, func(a, b cand) int {
		if a.x > b.x {
			return -1
		} else if a.x < b.x {
			return 1
		}
		return 0
	})
	if o.TopK > 0 && o.TopK < len(all) {
		all = all[:o.TopK]
	}
	var total float64
	weight := func(c cand) float64 { return math.Exp(float64(c.x-all[0].x) / float64(o.Temperature)) }
	for _, c := range all {
		total += weight(c)
	}
	var sum float64
	var ids []int
	for _, c := range all {
		if len(ids) > 0 && (o.TopP > 0 && sum/total >= float64(o.TopP) || weight(c) < float64(o.MinP)) {
			break
		}
		sum += weight(c)
		ids = append(ids, c.id)
	}
	return ids
}

// TestSamplerNaive compares the partial selections with a full sort.
func TestSamplerNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		logits := make([]float32, 1+r.IntN(300))
		for i := range logits {
			logits[i] = float32(math.Round(r.NormFloat64()*20) / 8) // with ties
		}
		// Shares with a denominator that no sum of probabilities falls on.
		o := Sampling{Temperature: 0.3 + float32(r.IntN(20))/10}
		if r.IntN(2) == 0 {
			o.TopK = 1 + r.IntN(len(logits)+5)
		}
		if r.IntN(2) == 0 {
			o.TopP = 0.01 + 0.98*r.Float32()
		}
		if r.IntN(2) == 0 {
			o.MinP = 0.9 * r.Float32()
		}
		got, err := mustSampler(t, o).keptIDs(logits, nil, nil)
		if diff := cmp.Diff(naiveKept(logits, o), got); err != nil || diff != "" {
			t.Fatalf("%+v over %d logits: error %v, -want +got:\n%s", o, len(logits), err, diff)
		}
	}
}

func TestSamplerGreedy(t *testing.T) {
	for _, test := range []struct {
		name   string
		logits []float32
		legal  []uint64
		want   int
	}{
		{"lowest id of equals", []float32{0, 3, 3, 1}, nil, 1},
		{"first is NaN", []float32{nan, 1, 2}, nil, 2},
		{"all negative", []float32{-5, -4, -6}, nil, 1},
		{"+Inf", []float32{1, inf, inf}, nil, 1},
		{"masked", []float32{9, 1, 2}, []uint64{0b110}, 2},
		{"mask too short", make([]float32, 70), []uint64{1 << 63}, 63},
		{"mask of two words", make([]float32, 70), []uint64{0, 1 << 2}, 66},
	} {
		for _, penalty := range []float32{0, 1.1} { // the two paths
			s := mustSampler(t, Sampling{RepeatPenalty: penalty})
			if id, err := s.Sample(test.logits, nil, test.legal); err != nil || id != test.want {
				t.Errorf("%s, penalty %v: %d, %v, want %d", test.name, penalty, id, err, test.want)
			}
		}
	}
}

func TestSamplerPenalty(t *testing.T) {
	logits := []float32{4, 3, -1, -2}
	for _, test := range []struct {
		name    string
		opts    Sampling
		history []int
		want    []float32
	}{
		{"positive divided, negative multiplied", Sampling{RepeatPenalty: 2}, []int{0, 2}, []float32{2, 3, -2, -2}},
		{"once for each token", Sampling{RepeatPenalty: 2}, []int{0, 0, 0}, []float32{2, 3, -1, -2}},
		{"the last two only", Sampling{RepeatPenalty: 2, RepeatLastN: 2}, []int{0, 1, 3}, []float32{4, 1.5, -1, -4}},
		{"foreign ids", Sampling{RepeatPenalty: 2}, []int{-1, 4, math.MaxInt}, []float32{4, 3, -1, -2}},
		{"below 1", Sampling{RepeatPenalty: 0.5}, []int{1}, []float32{4, 6, -1, -2}},
	} {
		s := mustSampler(t, test.opts)
		for range 2 { // the set of seen ids is clear again
			s.x = append(s.x[:0], logits...)
			s.penalise(test.history)
			if diff := cmp.Diff(test.want, s.x); diff != "" {
				t.Errorf("%s: -want +got:\n%s", test.name, diff)
			}
		}
	}
	before := slices.Clone(logits)
	s := mustSampler(t, Sampling{Temperature: 1, RepeatPenalty: 2, TopP: 0.5})
	if _, err := s.Sample(logits, []int{0, 1}, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, logits); diff != "" {
		t.Errorf("Sample changed the logits:\n%s", diff)
	}
}

// TestSamplerSeed: the tokens of a seed are fixed, also for other programs. The
// numbers are those of PCG-DXSM written in Python.
func TestSamplerSeed(t *testing.T) {
	for seed, want := range map[uint64][]int{
		42: {2, 7, 0, 0, 5, 7, 1, 7, 3, 1, 1, 6, 3, 3, 3, 5},
		0:  {3, 5, 7, 4, 5, 2, 6, 5, 5, 0, 4, 4, 3, 7, 4, 0},
	} {
		for _, procs := range []int{1, 4} {
			old := runtime.GOMAXPROCS(procs)
			s := mustSampler(t, Sampling{Temperature: 1, Seed: seed})
			for range 2 {
				var got []int
				for range want {
					id, err := s.Sample(make([]float32, 8), nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, id)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("seed %d: -want +got:\n%s", seed, diff)
				}
				s.Reset()
			}
			runtime.GOMAXPROCS(old)
		}
	}
}

// TestSamplerDistribution counts: each path draws by the probabilities.
func TestSamplerDistribution(t *testing.T) {
	want := []float64{.1, .2, .3, .4}
	for _, o := range []Sampling{{Temperature: 1}, {Temperature: 1, TopK: 4}, {Temperature: 1, TopP: 0.9999}, {Temperature: 1, TopK: 3}} {
		s := mustSampler(t, o)
		logits, p := logs(want...), slices.Clone(want)
		if o.TopK == 3 {
			p = []float64{0, .2 / .9, .3 / .9, .4 / .9}
		}
		const n = 20000
		var count [4]int
		for range n {
			id, err := s.Sample(logits, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			count[id]++
		}
		for id, c := range count {
			if sigma := math.Sqrt(p[id] * (1 - p[id]) / n); math.Abs(float64(c)/n-p[id]) > 4*sigma {
				t.Errorf("%+v: token %d drawn %d times of %d, want a share of %.3f", o, id, c, n, p[id])
			}
		}
	}
}

func TestSamplerMask(t *testing.T) {
	logits := make([]float32, 200)
	legal := make([]uint64, 4)
	for _, id := range []int{3, 64, 130, 199} {
		legal[id/64] |= 1 << (id % 64)
	}
	for _, o := range []Sampling{{}, {Temperature: 1}, {Temperature: 1, TopK: 50}, {Temperature: 1, TopP: 0.99}, {Temperature: 1, MinP: 1}} {
		s := mustSampler(t, o)
		got := map[int]bool{}
		for range 200 {
			id, err := s.Sample(logits, nil, legal)
			if err != nil || !isLegal(legal, id) {
				t.Fatalf("%+v: %d, %v", o, id, err)
			}
			got[id] = true
		}
		if o.Temperature > 0 && len(got) != 4 {
			t.Errorf("%+v: drew %v of four legal tokens", o, got)
		}
	}
}

func TestSamplerErrors(t *testing.T) {
	for _, test := range []struct {
		opts Sampling
		want string
	}{
		{Sampling{Temperature: -1}, "Temperature: want a number of at least 0, found -1"},
		{Sampling{Temperature: nan}, "Temperature"},
		{Sampling{Temperature: inf}, "Temperature"},
		{Sampling{TopK: -1}, "TopK: want at least 0, found -1"},
		{Sampling{TopP: nan}, "TopP"},
		{Sampling{TopP: -0.1}, "TopP: want 0 to 1, found -0.1"},
		{Sampling{TopP: 1.5}, "TopP"},
		{Sampling{MinP: 2}, "MinP"},
		{Sampling{MinP: nan}, "MinP"},
		{Sampling{RepeatPenalty: -1}, "RepeatPenalty"},
		{Sampling{RepeatPenalty: inf}, "RepeatPenalty"},
		{Sampling{RepeatLastN: -1}, "RepeatLastN"},
	} {
		if _, err := NewSampler(test.opts); !errors.Is(err, ErrSampling) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want ErrSampling with %q", test.opts, err, test.want)
		}
	}
	for _, o := range []Sampling{{}, {Temperature: 1}, {Temperature: 1, TopK: 1}, {Temperature: 1, TopP: .5}, {RepeatPenalty: 2}} {
		for _, test := range []struct {
			logits []float32
			legal  []uint64
			want   string
		}{
			{nil, nil, "empty"},
			{[]float32{}, []uint64{1}, "empty"},
			{[]float32{nan, nan}, nil, "none of 2"},
			{[]float32{-inf, nan}, nil, "none of 2"},
			{[]float32{1, 2}, []uint64{0}, "0 are legal"},
			{[]float32{1, 2}, []uint64{}, "0 are legal"},
			{[]float32{nan, 2}, []uint64{1}, "1 are legal"},
		} {
			if id, err := mustSampler(t, o).Sample(test.logits, nil, test.legal); !errors.Is(err, ErrLogits) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v %v %v: %d, error %v, want ErrLogits with %q", o, test.logits, test.legal, id, err, test.want)
			}
		}
	}
}

var samplerPaths = []Sampling{
	{},
	{RepeatPenalty: 1.1},
	{Temperature: 0.8},
	{Temperature: 0.8, MinP: 0.05, RepeatPenalty: 1.1, RepeatLastN: 64},
	{Temperature: 0.8, TopP: 0.95},
	{Temperature: 0.8, TopK: 40, TopP: 0.95},
}

func randomLogits(n int) []float32 {
	r := rand.New(rand.NewPCG(3, 4))
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = float32(r.NormFloat64() * 3)
	}
	return logits
}

func TestSamplerAllocs(t *testing.T) {
	logits, history := randomLogits(5000), []int{1, 2, 3, 700}
	legal := make([]uint64, 5000/64+1)
	for i := range legal {
		legal[i] = 0xfff0
	}
	for _, o := range samplerPaths {
		s := mustSampler(t, o)
		sample := func() {
			if _, err := s.Sample(logits, history, legal); err != nil {
				t.Fatal(err)
			}
		}
		sample()
		if n := testing.AllocsPerRun(20, sample); n != 0 {
			t.Errorf("%+v: %v allocations a token", o, n)
		}
	}
}

// FuzzSampler: whatever the logits, a legal token of positive probability or an
// error comes back.
func FuzzSampler(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f}, uint8(3), uint8(200), uint8(10), uint8(12), uint64(3))
	f.Add([]byte{0, 0, 0x80, 0x7f, 0, 0, 0x80, 0xff}, uint8(0), uint8(0), uint8(0), uint8(0), uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, topK, topP, minP, temperature uint8, mask uint64) {
		var logits []float32
		for ; len(data) >= 4; data = data[4:] {
			bits := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
			logits = append(logits, math.Float32frombits(bits))
		}
		s := mustSampler(t, Sampling{Temperature: float32(temperature) / 10, TopK: int(topK), TopP: float32(topP) / 255, MinP: float32(minP) / 255, RepeatPenalty: 1.2})
		legal := []uint64{mask, mask}
		id, err := s.Sample(logits, []int{0, 1, 2, 0}, legal)
		if err != nil {
			for i, x := range logits {
				if isLegal(legal, i) && x > float32(math.Inf(-1)) && x*1.2 > float32(math.Inf(-1)) {
					t.Fatalf("error %v, but logit %d is %v", err, i, x)
				}
			}
			return
		}
		if !isLegal(legal, id) || id >= len(logits) || !(logits[id] > float32(math.Inf(-1))) {
			t.Fatalf("picked %d of %v, mask %b", id, logits, mask)
		}
	})
}

func BenchmarkSampler(b *testing.B) {
	logits, history := randomLogits(49152), []int{1, 2, 3, 700}
	for _, o := range samplerPaths {
		b.Run(fmt.Sprintf("T=%v,k=%d,p=%v,min=%v,penalty=%v", o.Temperature, o.TopK, o.TopP, o.MinP, o.RepeatPenalty), func(b *testing.B) {
			s := mustSampler(b, o)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Sample(logits, history, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestGreedyPlace has the largest logit, and one like it later, at places of a
// long vocabulary, beside larger ones that are illegal and some that are NaN.
func TestGreedyPlace(t *testing.T) {
	s := mustSampler(t, Sampling{})
	const n = 3000
	for _, at := range []int{0, 1, 1023, 1024, 2047, 2048, 2990} {
		x := make([]float32, n)
		legal := make([]uint64, (n+63)/64)
		for i := range x {
			x[i] = -float32(i%7) - 1
			legal[i/64] |= 1 << (i % 64)
		}
		x[at], x[n-1] = 3, 3
		x[at/2+3], x[n-5] = nan, nan
		check := func(name string, legal []uint64) {
			if id, err := s.Sample(x, nil, legal); id != at || err != nil {
				t.Errorf("%s at %d: %d, %v", name, at, id, err)
			}
		}
		check("all", nil)
		for _, i := range []int{500, 1500, 2500} {
			x[i] = 9
			legal[i/64] &^= 1 << (i % 64)
		}
		check("legal", legal)
	}
}
