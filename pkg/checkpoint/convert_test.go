package checkpoint

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/quant"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

func openPath(t testing.TB, path string) *Checkpoint {
	t.Helper()
	c, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// weights returns all weights of a checkpoint by name.
func weights(t testing.TB, c *Checkpoint) map[string][]float32 {
	t.Helper()
	all := make(map[string][]float32)
	for _, name := range c.Names() {
		x, err := c.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = floats(x)
	}
	return all
}

// nearestEven rounds to bfloat16 as numpy code does it: by integers.
func nearestEven(f float32) float32 {
	u := math.Float32bits(f)
	return math.Float32frombits((u + 0x7fff + u>>16&1) &^ 0xffff)
}

// Every float type becomes every other, rounded to nearest even.
func TestConvertFloats(t *testing.T) {
	for _, from := range []string{"F32", "F16", "BF16"} {
		src := openPath(t, testmodel.Tiny(t, filepath.Join(t.TempDir(), "src"), testmodel.TinyOptions{DType: from, Untied: true}))
		want := weights(t, src)
		for _, to := range []Type{Keep, F32, F16, BF16} {
			dst := filepath.Join(t.TempDir(), "made", "on", "the", "way")
			report, err := Convert(dst, src, &ConvertOptions{Type: to})
			if err != nil {
				t.Fatal(err)
			}
			c := openPath(t, dst)
			kind := to
			if to == Keep {
				kind, _ = ParseType(from)
			}
			got := weights(t, c)
			if len(got) != len(want) || len(report.Tensors) != len(want) {
				t.Fatalf("%d tensors, report of %d, want %d", len(got), len(report.Tensors), len(want))
			}
			for _, r := range report.Tensors {
				w := slices.Clone(want[r.Name])
				var worst, sum float64
				for i, v := range w {
					switch to {
					case BF16:
						w[i] = nearestEven(v)
					case F16:
						w[i] = nearestF16(v)
					}
					e := math.Abs(float64(w[i]) - float64(v))
					worst, sum = max(worst, e), sum+e
				}
				if r.To != kind || r.Bytes != int64(len(w)*kind.size()) {
					t.Errorf("%s → %v: %+v", from, to, r)
				}
				if !sameBits(got[r.Name], w) {
					t.Errorf("%s → %v: %s differs", from, to, r.Name)
				}
				if r.MaxError != worst || math.Abs(r.MeanError-sum/float64(len(w))) > 1e-9*(1+r.MeanError) {
					t.Errorf("%s → %v: %s: errors %v and %v, want %v and %v", from, to, r.Name, r.MaxError, r.MeanError, worst, sum/float64(len(w)))
				}
			}
			if i := c.Info(); report.Bytes != i.Bytes || report.Weights != i.Weights {
				t.Errorf("report %d bytes, %d weights, file %+v", report.Bytes, report.Weights, i)
			}
			dtype := map[Type]string{F32: "float32", F16: "float16", BF16: "bfloat16"}[kind]
			if d := configMember(t, c, "torch_dtype"); d != dtype {
				t.Errorf("%s → %v: torch_dtype %v", from, to, d)
			}
			sameJSON(t, src.Config(), c.Config(), "torch_dtype")
		}
	}
}

// nearestF16 rounds to 11 significant bits, or to a multiple of 2⁻²⁴.
func nearestF16(f float32) float32 {
	_, exponent := math.Frexp(float64(f))
	unit := max(exponent-11, -24)
	return float32(math.Ldexp(math.RoundToEven(math.Ldexp(float64(f), -unit)), unit))
}

func TestConvertQuantised(t *testing.T) {
	dir := testmodel.Tiny(t, filepath.Join(t.TempDir(), "src"), testmodel.TinyOptions{DType: "BF16", Untied: true, Intermediate: 72, Hidden: 32, Heads: 2, KVHeads: 1})
	src := openPath(t, dir)
	want := weights(t, src)
	for _, form := range []Type{Q8B32, Q4B32, Q4B32M} {
		for _, headType := range []Type{Keep, form, F16} {
			dst := filepath.Join(t.TempDir(), "dst")
			report, err := Convert(dst, src, &ConvertOptions{Type: form, Head: headType})
			if err != nil {
				t.Fatal(err)
			}
			// down_proj has rows of 72.
			if d := cmp.Diff([]string{"model.layers.0.mlp.down_proj.weight", "model.layers.1.mlp.down_proj.weight"}, report.Left); d != "" {
				t.Error(d)
			}
			c := openPath(t, dst)
			got := weights(t, c)
			for _, r := range report.Tensors {
				kind := form
				switch {
				case len(r.Shape) == 1, strings.Contains(r.Name, "down_proj"):
					kind = BF16
				case (r.Name == embeddings || r.Name == head) && headType == Keep:
					kind = Q8B32
				case r.Name == embeddings || r.Name == head:
					kind = headType
				}
				x, err := c.Stat(r.Name)
				if err != nil || x.Type != kind || r.To != kind || r.From != BF16 {
					t.Errorf("%v, %v: %s is %v, %v, want %v", form, headType, r.Name, x.Type, err, kind)
				}
				if kind == BF16 {
					if !sameBits(got[r.Name], want[r.Name]) || r.MaxError != 0 {
						t.Errorf("%s changed", r.Name)
					}
					continue
				}
				var worst float64
				for i, v := range want[r.Name] {
					worst = max(worst, math.Abs(float64(v)-float64(got[r.Name][i])))
				}
				limit := map[Type]float64{Q8B32: 0.01, Q4B32: 0.12, Q4B32M: 0.1, F16: 0.001}[kind]
				if r.MaxError != worst || (r.MeanError > 0) != (worst > 0) || r.MeanError > limit*r.Scale {
					t.Errorf("%v: %s: max %v (found %v), mean %v of %v", form, r.Name, r.MaxError, worst, r.MeanError, r.Scale)
				}
			}
			if headType != Keep {
				continue
			}
			if form == Q8B32 && c.Info().Format != "q8b32" {
				t.Errorf("info %+v", c.Info())
			}
			// And back: a block format in float32 is the same numbers.
			back := filepath.Join(t.TempDir(), "back")
			if _, err := Convert(back, c, &ConvertOptions{Type: F32}); err != nil {
				t.Fatal(err)
			}
			for name, w := range weights(t, openPath(t, back)) {
				if !sameBits(w, got[name]) {
					t.Errorf("%v → f32: %s differs", form, name)
				}
			}
			if a, b := read(t, dst, "config.json"), read(t, dir, "config.json"); string(a) != string(b) {
				t.Error("config.json changed")
			}
		}
	}
}

// A GGUF file in its own numbers, and in float32.
func TestConvertGGUF(t *testing.T) {
	files := testmodel.TinyFS(testmodel.TinyOptions{ExtraVocab: 2})
	for _, kind := range []ggml.Type{ggml.Q8_0, ggml.Q4_0, ggml.Q4_1, ggml.F16} {
		file := ggufOf(t, files, func(string) ggml.Type { return kind })
		if kind == ggml.F16 {
			_, file = tiny(t, testmodel.TinyOptions{ExtraVocab: 2, DType: "F16"})
		}
		src := mustOpen(t, file.Bytes())
		want := weights(t, src)
		for _, to := range []Type{Keep, F32} {
			dst := filepath.Join(t.TempDir(), "dst")
			report, err := Convert(dst, src, &ConvertOptions{Type: to})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{configName, generationConfigName, mergesName, singleName, specialTokensName, tokenizerName, tokenizerConfigName, vocabName}, report.Files); d != "" {
				t.Error(d)
			}
			c := openPath(t, dst)
			for name, w := range weights(t, c) {
				if !sameBits(w, want[name]) {
					t.Errorf("%v → %v: %s differs", kind, to, name)
				}
			}
			a, err := src.Tokenizer()
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.Tokenizer()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(a.Encode("Hello the 123 wörld", nil), b.Encode("Hello the 123 wörld", nil)); d != "" {
				t.Error(d)
			}
			if c.ChatTemplate() != src.ChatTemplate() {
				t.Errorf("chat template %q", c.ChatTemplate())
			}
			sameJSON(t, src.Config(), c.Config(), "torch_dtype")
			sameJSON(t, src.GenerationConfig(), c.GenerationConfig())
		}
	}
}

// A GGUF file whose tokenizer cannot be written is refused as a whole.
func TestConvertGGUFWithoutTokenizer(t *testing.T) {
	_, file := tiny(t, testmodel.TinyOptions{})
	file.Set("tokenizer.ggml.model", "llama")
	dst := filepath.Join(t.TempDir(), "dst")
	if _, err := Convert(dst, mustOpen(t, file.Bytes()), nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	gone(t, dst)
}

// gone checks that neither the folder nor anything beside it is there.
func gone(t *testing.T, dst string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(dst))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left", e.Name())
	}
}

// set changes element i of a tensor of a folder in memory.
func setWeight(t *testing.T, dir, name string, i int, f float32) {
	t.Helper()
	c, err := safetensors.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	info, err := c.Stat(name)
	if err != nil || info.DType != safetensors.F32 {
		t.Fatal(info, err)
	}
	data := read(t, dir, singleName)
	binary.LittleEndian.PutUint32(data[info.Offset+int64(4*i):], math.Float32bits(f))
	write(t, dir, singleName, data)
}

func TestConvertErrors(t *testing.T) {
	const name = "model.layers.0.mlp.up_proj.weight"
	for _, c := range []struct {
		name string
		f    float32
		to   Type
		want error
		text string
	}{
		{"too large for f16", 7e4, F16, ErrOverflow, "row 1, index 3"},
		{"too large for bf16", math.MaxFloat32, BF16, ErrOverflow, "row 1, index 3"},
		{"NaN in a block", float32(math.NaN()), Q8B32, quant.ErrNonFinite, "row 1, index 3"},
		{"infinity in a block", float32(math.Inf(-1)), Q4B32M, quant.ErrNonFinite, "row 1, index 3"},
		{"scale beyond binary16", 1e7, Q4B32, quant.ErrOverflow, "row 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := testmodel.Tiny(t, filepath.Join(t.TempDir(), "src"), testmodel.TinyOptions{})
			setWeight(t, dir, name, 64+3, c.f)
			dst := filepath.Join(t.TempDir(), "dst")
			_, err := Convert(dst, openPath(t, dir), &ConvertOptions{Type: c.to})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %v with the tensor and %q", err, c.want, c.text)
			}
			gone(t, dst)
		})
	}
	// Floats keep what is no number.
	dir := testmodel.Tiny(t, filepath.Join(t.TempDir(), "src"), testmodel.TinyOptions{})
	setWeight(t, dir, name, 5, float32(math.Inf(1)))
	setWeight(t, dir, name, 6, float32(math.NaN()))
	dst := filepath.Join(t.TempDir(), "dst")
	if _, err := Convert(dst, openPath(t, dir), &ConvertOptions{Type: F16}); err != nil {
		t.Fatal(err)
	}
	if w := weights(t, openPath(t, dst))[name]; !math.IsInf(float64(w[5]), 1) || w[6] == w[6] {
		t.Errorf("infinity and NaN became %v and %v", w[5], w[6])
	}
}

func TestConvertIntoFolders(t *testing.T) {
	dir := testmodel.Tiny(t, filepath.Join(t.TempDir(), "src"), testmodel.TinyOptions{Shards: 2})
	src := openPath(t, dir)
	want := weights(t, src)

	// An empty folder is taken, its own permissions and all.
	dst := t.TempDir()
	if _, err := Convert(dst, src, nil); err != nil {
		t.Fatal(err)
	}
	// One with files is not, unless it must.
	if _, err := Convert(dst, src, nil); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want %v", err, ErrExists)
	}
	write(t, dst, "README.md", []byte("mine"))
	write(t, dst, chatTemplateName, []byte("old"))
	write(t, dst, indexName, []byte("old"))
	if _, err := Convert(dst, src, &ConvertOptions{Type: BF16, Force: true}); err != nil {
		t.Fatal(err)
	}
	c := openPath(t, dst)
	if c.Info().Format != "bf16" || string(read(t, dst, "README.md")) != "mine" || c.ChatTemplate() != src.ChatTemplate() {
		t.Errorf("info %+v, template %q", c.Info(), c.ChatTemplate())
	}
	if _, err := os.Stat(filepath.Join(dst, indexName)); err == nil {
		t.Error("the old index is left")
	}
	// The folder may be the root of another file system than its parent: all is
	// written in it.
	inside := 0
	progress := func(string, int64, int64) {
		partial, _ := filepath.Glob(filepath.Join(dst, ".*.partial", configName))
		inside += len(partial)
	}
	if _, err := Convert(dst, src, &ConvertOptions{Force: true, Progress: progress}); err != nil || inside == 0 {
		t.Errorf("error %v; files were not written in the folder first", err)
	}
	// A file is no folder.
	if _, err := Convert(write(t, t.TempDir(), "file", nil), src, &ConvertOptions{Force: true}); err == nil {
		t.Error("converted into a file")
	}

	// The source's own folder: what is mapped stays readable, the new weights
	// are in the one file.
	if _, err := Convert(dir, src, &ConvertOptions{Type: F16, Force: true}); err != nil {
		t.Fatal(err)
	}
	for name, w := range weights(t, src) {
		if !sameBits(w, want[name]) {
			t.Errorf("the source's %s changed", name)
		}
	}
	if c := openPath(t, dir); c.Info().Format != "f16" || len(c.Names()) != len(want) {
		t.Errorf("info %+v", c.Info())
	}
	for _, parent := range []string{filepath.Dir(dir), filepath.Dir(dst), dir, dst} {
		left, _ := filepath.Glob(filepath.Join(parent, ".*.partial"))
		if len(left) > 0 {
			t.Errorf("%s is left", left)
		}
	}
}

// A new folder is as readable as any: not for its owner alone.
func TestConvertPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions of this kind")
	}
	parent := t.TempDir()
	plain := filepath.Join(parent, "plain")
	if err := os.Mkdir(plain, 0o777); err != nil {
		t.Fatal(err)
	}
	src := openPath(t, testmodel.Tiny(t, filepath.Join(parent, "src"), testmodel.TinyOptions{}))
	dst := filepath.Join(parent, "dst")
	if _, err := Convert(dst, src, nil); err != nil {
		t.Fatal(err)
	}
	a, _ := os.Stat(plain)
	b, err := os.Stat(dst)
	if err != nil || a.Mode() != b.Mode() {
		t.Errorf("permissions %v, %v, want %v", b.Mode(), err, a.Mode())
	}
}

func TestConvertProgressAndContext(t *testing.T) {
	src := openPath(t, testmodel.Tiny(t, filepath.Join(t.TempDir(), "src"), testmodel.TinyOptions{}))
	var names []string
	last := int64(-1)
	report, err := Convert(filepath.Join(t.TempDir(), "dst"), src, &ConvertOptions{Progress: func(name string, done, total int64) {
		names = append(names, name)
		if done < last || done > total || name == "" && done != total {
			t.Errorf("%q: %d of %d after %d", name, done, total, last)
		}
		last = done
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(src.Names())+1 || last != report.Bytes {
		t.Errorf("%d calls, the last with %d of %d bytes", len(names), last, report.Bytes)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	dst := filepath.Join(t.TempDir(), "dst")
	calls := 0
	_, err = Convert(dst, src, &ConvertOptions{Context: ctx, Progress: func(string, int64, int64) {
		if calls++; calls == 3 {
			cancel(stop)
		}
	}})
	if !errors.Is(err, stop) || calls != 3 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	gone(t, dst)
}

func TestConvertOptionErrors(t *testing.T) {
	src := openPath(t, testmodel.Tiny(t, filepath.Join(t.TempDir(), "src"), testmodel.TinyOptions{}))
	for _, o := range []ConvertOptions{{Type: 99}, {Type: Q8B32, Head: 99}} {
		if _, err := Convert(filepath.Join(t.TempDir(), "dst"), src, &o); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	c, err := OpenFS(testmodel.TinyFS(testmodel.TinyOptions{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := Convert(filepath.Join(t.TempDir(), "dst"), c, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A newer transformers' name for the type of the weights.
func TestConvertDType(t *testing.T) {
	files := testmodel.TinyFS(testmodel.TinyOptions{})
	var config map[string]any
	if err := json.Unmarshal(files[configName].Data, &config); err != nil {
		t.Fatal(err)
	}
	delete(config, "torch_dtype")
	config["dtype"] = "float32"
	files[configName].Data, _ = json.Marshal(config)
	src, err := OpenFS(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst := filepath.Join(t.TempDir(), "dst")
	if _, err := Convert(dst, src, &ConvertOptions{Type: BF16}); err != nil {
		t.Fatal(err)
	}
	c := openPath(t, dst)
	if a, b := configMember(t, c, "dtype"), configMember(t, c, "torch_dtype"); a != "bfloat16" || b != nil {
		t.Errorf("dtype %v, torch_dtype %v", a, b)
	}
}
