package llama

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
)

// reference holds what torch and transformers compute for the real checkpoint.
type reference struct {
	Prompts map[string]struct {
		Text string
		IDs  []int
		F32  []int `json:"greedy32_f32"`
		BF16 []int `json:"greedy32_bf16w_f32compute"`
	}
	Plain128 []int `json:"plain_greedy128_f32_noeos"`
}

func readReference(t *testing.T) (r reference) {
	data, err := os.ReadFile("testdata/smollm2/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// readLogits reads a NumPy file of 8 steps × vocab_size float32.
func readLogits(t *testing.T, name string) [][]float32 {
	data, err := os.ReadFile("testdata/smollm2/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data, []byte("\x93NUMPY\x01\x00")) || !bytes.Contains(data[:128], []byte("'descr': '<f4', 'fortran_order': False, 'shape': (8, 49152)")) {
		t.Fatalf("%s is no 8×49152 float32 array: %q", name, data[:128])
	}
	data = data[10+int(binary.LittleEndian.Uint16(data[8:])):]
	steps := make([][]float32, 8)
	for i := range steps {
		steps[i] = make([]float32, 49152)
		for j := range steps[i] {
			steps[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(i*49152+j):]))
		}
	}
	return steps
}

func open(t testing.TB, path string, opts *Options) *Model {
	t.Helper()
	m, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func newSession(t testing.TB, m *Model, opts *SessionOptions) *Session {
	t.Helper()
	s, err := m.NewSession(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// generateGreedily generates n tokens, end-of-sequence tokens ignored, and calls step
// with the logits of each.
func generateGreedily(t testing.TB, s *Session, prompt []int, n int, step func(i int, logits []float32)) (ids []int) {
	t.Helper()
	for token, err := range s.Generate(context.Background(), prompt, &GenerateOptions{MaxTokens: n, IgnoreEOS: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if step != nil {
			step(len(ids), s.Logits())
		}
		ids = append(ids, token.ID)
	}
	return ids
}

// TestReferenceTokens holds the forms of the real checkpoint against the tokens
// and logits of torch.
func TestReferenceTokens(t *testing.T) {
	ref := readReference(t)
	for _, c := range []struct {
		form, prompt, logits string
		bf16                 bool
	}{
		{form: "f32", prompt: "plain", logits: "logits_plain_f32.npy"},
		{form: "f32", prompt: "chat", logits: "logits_chat_f32.npy"},
		{form: "bf16", prompt: "plain", logits: "logits_plain_bf16w_f32compute.npy", bf16: true},
		{form: "bf16", prompt: "chat", bf16: true},
		{form: "q8b32", prompt: "plain"},
		{form: "q8b32", prompt: "chat"},
		{form: "q4b32m", prompt: "plain"},
		{form: "q4b32m", prompt: "chat"},
		{form: "smollm2.gguf", prompt: "plain"},
		{form: "smollm2.gguf", prompt: "chat"},
	} {
		t.Run(c.form+"/"+c.prompt, func(t *testing.T) {
			m := open(t, testmodel.Dir(t, c.form), nil)
			p := ref.Prompts[c.prompt]
			prompt := m.Tokenizer().Encode(p.Text, &bpe.EncodeOptions{ParseSpecial: true})
			if diff := cmp.Diff(p.IDs, prompt); diff != "" {
				t.Fatalf("prompt ids (-want +got):\n%s", diff)
			}
			want := p.F32
			if c.bf16 {
				want = p.BF16
			}
			var logits [][]float32
			if c.logits != "" {
				logits = readLogits(t, c.logits)
			}
			worst := 0.0
			got := generateGreedily(t, newSession(t, m, nil), prompt, len(want), func(i int, l []float32) {
				if i < len(logits) {
					for j, x := range l {
						worst = max(worst, math.Abs(float64(x-logits[i][j])))
					}
				}
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
			if c.logits != "" {
				t.Logf("largest difference of a logit over 8 steps: %.2g", worst)
				if worst > 2e-3 {
					t.Errorf("a logit differs by %g, expected at most 2e-3", worst)
				}
			}
		})
	}
}

// TestReference128 follows the reference's longer run, where it is sure.
func TestReference128(t *testing.T) {
	ref := readReference(t)
	m := open(t, testmodel.Dir(t, "f32"), nil)
	got := generateGreedily(t, newSession(t, m, nil), ref.Prompts["plain"].IDs, len(ref.Plain128), nil)
	if diff := cmp.Diff(ref.Plain128, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}
