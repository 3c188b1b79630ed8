package llama

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/leveret-os/leveret/internal/simd"
)

// readJSON decodes a file of testdata.
func readJSON(t testing.TB, name string, dst any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, dst); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func relativeError(got, want float64) float64 {
	return math.Abs(got-want) / math.Max(math.Abs(want), math.SmallestNonzeroFloat32)
}

func mustRope(t testing.TB, c *Config) *ropeTable {
	t.Helper()
	table, err := newRopeTable(c)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestRopeTables compares with the published formulas in float64.
func TestRopeTables(t *testing.T) {
	var file struct {
		Tables map[string][]float64
	}
	readJSON(t, "rope.json", &file)
	configs := map[string]*Config{
		"default_d64_1e4": {HeadDim: 64, RopeTheta: 1e4},
		"llama32_d64": {HeadDim: 64, RopeTheta: 5e5, RopeScaling: &RopeScaling{
			Type: RopeLlama3, Factor: 32, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositionEmbeddings: 8192}},
		"linear_d128_f4": {HeadDim: 128, RopeTheta: 1e4, RopeScaling: &RopeScaling{Type: RopeLinear, Factor: 4}},
	}
	for name, want := range file.Tables {
		c := configs[name]
		if c == nil {
			t.Errorf("%s: a table without a configuration here", name)
			continue
		}
		got := mustRope(t, c).invFreq
		if len(got) != len(want) {
			t.Errorf("%s: %d frequencies, want %d", name, len(got), len(want))
			continue
		}
		for i := range want {
			if e := relativeError(float64(got[i]), want[i]); e > 1e-6 {
				t.Errorf("%s[%d] = %v, want %v (relative error %.2g)", name, i, got[i], want[i], e)
			}
		}
	}
	if len(file.Tables) != len(configs) {
		t.Errorf("%d tables, want %d", len(file.Tables), len(configs))
	}
}

// TestRopeLlama3Regions: pairs 0-14 unchanged, 15-17 mixed, 18-31 divided.
func TestRopeLlama3Regions(t *testing.T) {
	plain := mustRope(t, &Config{HeadDim: 64, RopeTheta: 5e5})
	scaled := mustRope(t, &Config{HeadDim: 64, RopeTheta: 5e5, RopeScaling: &RopeScaling{
		Type: RopeLlama3, Factor: 32, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositionEmbeddings: 8192}})
	for i, p := range plain.invFreq {
		s := scaled.invFreq[i]
		switch {
		case i <= 14 && s != p:
			t.Errorf("pair %d: %v, want it unchanged, %v", i, s, p)
		case i >= 15 && i <= 17 && (s >= p || s <= p/32):
			t.Errorf("pair %d: %v, want between %v and %v", i, s, p/32, p)
		case i >= 18 && s != p/32:
			t.Errorf("pair %d: %v, want %v", i, s, p/32)
		}
	}
}

// TestRopeTransformers compares with the frequencies of transformers itself,
// through ParseConfig, in the newer and the older spelling.
func TestRopeTransformers(t *testing.T) {
	var file struct {
		Cases []struct {
			HeadDim        int                        `json:"head_dim"`
			Positions      int                        `json:"max_position_embeddings"`
			RopeParameters map[string]json.RawMessage `json:"rope_parameters"`
			Attention      float64                    `json:"attention_factor"`
			InvFreq        []float64                  `json:"inv_freq"`
		}
	}
	readJSON(t, "rope_hf.json", &file)
	for i, test := range file.Cases {
		for _, old := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/old=%v", i, old), func(t *testing.T) {
				config := map[string]any{
					"model_type": "llama", "hidden_size": 4 * test.HeadDim, "num_attention_heads": 4,
					"intermediate_size": 8, "num_hidden_layers": 1, "vocab_size": 8,
					"max_position_embeddings": test.Positions, "rope_parameters": test.RopeParameters,
				}
				if old {
					scaling := map[string]json.RawMessage{}
					for k, v := range test.RopeParameters {
						switch k {
						case "rope_theta":
							config["rope_theta"] = v
						case "rope_type":
							scaling["type"] = v
						default:
							scaling[k] = v
						}
					}
					delete(config, "rope_parameters")
					config["rope_scaling"] = scaling
				}
				data, err := json.Marshal(config)
				if err != nil {
					t.Fatal(err)
				}
				c, err := ParseConfig(data, nil)
				if err != nil {
					t.Fatal(err)
				}
				table := mustRope(t, c)
				if e := relativeError(float64(table.attention), test.Attention); e > 1e-7 {
					t.Errorf("attention factor %v, want %v", table.attention, test.Attention)
				}
				if len(table.invFreq) != len(test.InvFreq) {
					t.Fatalf("%d frequencies, want %d", len(table.invFreq), len(test.InvFreq))
				}
				for i, want := range test.InvFreq {
					if e := relativeError(float64(table.invFreq[i]), want); e > 3e-7 {
						t.Errorf("pair %d: %v, want %v (relative error %.2g)", i, table.invFreq[i], want, e)
					}
				}
			})
		}
	}
}

// TestRopePairs: the half-split pairing of Hugging Face's checkpoints, not the
// interleaved one of GPT-J.
func TestRopePairs(t *testing.T) {
	var file struct {
		Pair struct {
			X     []float32
			Pos   int
			Theta float64
			Want  []float64 `json:"half_split_hf"`
		} `json:"pair_layout"`
	}
	readJSON(t, "rope.json", &file)
	p := file.Pair
	table := mustRope(t, &Config{HeadDim: len(p.X), RopeTheta: p.Theta})
	cos, sin := make([]float32, len(p.X)/2), make([]float32, len(p.X)/2)
	table.fill(p.Pos, cos, sin)
	simd.New(simd.Portable).Rope(p.X, cos, sin)
	for i, want := range p.Want {
		if e := relativeError(float64(p.X[i]), want); e > 1e-6 {
			t.Errorf("x[%d] = %v, want %v", i, p.X[i], want)
		}
	}
}

// TestRopeFill compares with the standard library at positions near and far,
// and asks that an attention factor scales both tables.
func TestRopeFill(t *testing.T) {
	plain := mustRope(t, &Config{HeadDim: 64, RopeTheta: 1e5})
	scaled := &ropeTable{invFreq: plain.invFreq, attention: 1.5}
	cos, sin := make([]float32, 32), make([]float32, 32)
	cosA, sinA := make([]float32, 32), make([]float32, 32)
	for _, pos := range []int{0, 1, 2, 63, 4095, 8191, 131071, 1<<24 + 1} {
		plain.fill(pos, cos, sin)
		scaled.fill(pos, cosA, sinA)
		for i, f := range plain.invFreq {
			angle := float64(float32(pos) * f)
			if math.Abs(float64(cos[i])-math.Cos(angle)) > 6e-8 || math.Abs(float64(sin[i])-math.Sin(angle)) > 6e-8 {
				t.Errorf("position %d pair %d: cos %v sin %v, want %v %v", pos, i, cos[i], sin[i], math.Cos(angle), math.Sin(angle))
			}
			if cosA[i] != cos[i]*1.5 || sinA[i] != sin[i]*1.5 {
				t.Errorf("position %d pair %d: the attention factor is not applied", pos, i)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { plain.fill(7, cos, sin) }); n != 0 {
		t.Errorf("fill allocates %v times", n)
	}
}

func TestRopeErrors(t *testing.T) {
	for _, c := range []*Config{
		{},
		{HeadDim: 5, RopeTheta: 1e4},
		{HeadDim: maxHeadDim + 2, RopeTheta: 1e4},
		{HeadDim: 4, RopeTheta: 1e4, RopeScaling: &RopeScaling{Type: "dynamic"}},
		{HeadDim: 4, RopeTheta: math.NaN()},
		{HeadDim: 4, RopeTheta: 1e4, RopeScaling: &RopeScaling{Type: RopeLinear}}, // factor 0
	} {
		if _, err := newRopeTable(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: error %v, want ErrConfig", c, err)
		}
	}
}
