package checkpoint

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
)

// The real checkpoint, a GGUF file, has bit for bit the tensors that an
// independent converter makes of it, in float32 and in bfloat16:
// testdata/hashes.py says how the lists were made.
func TestSmolLM2Tensors(t *testing.T) {
	c := openPath(t, testmodel.Dir(t, "smollm2.gguf"))
	for _, form := range []Type{F32, BF16} {
		list := read(t, "testdata", "smollm2-"+form.String()+".txt")
		want := make(map[string]string)
		for line := range strings.Lines(string(list)) {
			name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			want[name] = rest
		}
		v := &conversion{c: c, opts: &ConvertOptions{Type: form}, ctx: context.Background()}
		if err := v.plan(); err != nil {
			t.Fatal(err)
		}
		if len(v.report.Tensors) != len(want) {
			t.Errorf("%v: %d tensors, want %d", form, len(v.report.Tensors), len(want))
		}
		for i := range v.report.Tensors {
			r := &v.report.Tensors[i]
			s := v.sourceOf(r)
			h := sha256.New()
			w := bufio.NewWriterSize(h, 1<<20)
			if err := s.Write(w); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			shape := make([]string, len(r.Shape))
			for i, d := range r.Shape {
				shape[i] = strconv.Itoa(d)
			}
			got := fmt.Sprintf("%v %s %s", s.DType, strings.Join(shape, "x"), hex.EncodeToString(h.Sum(nil)))
			if got != want[r.Name] {
				t.Errorf("%s is %s, want %s", r.Name, got, want[r.Name])
			}
		}
	}
}

// The JSON files are equivalent to those of the independent converter. What
// they do not share is named here.
func TestSmolLM2Files(t *testing.T) {
	c := openPath(t, testmodel.Dir(t, "smollm2.gguf"))
	for name, but := range map[string][]string{
		// Of no use for inference, and not in the file.
		configName:           {"initializer_range", "pretraining_tp"},
		generationConfigName: nil,
		// The class that takes tokenizer.json as it is; flags that it reads; a
		// list of two tokens that are special anyway.
		tokenizerConfigName: {"tokenizer_class", "vocab_size", "additional_special_tokens", "add_bos_token", "add_eos_token"},
	} {
		got := map[string][]byte{configName: c.Config(), generationConfigName: c.GenerationConfig(), tokenizerConfigName: c.TokenizerConfig()}[name]
		sameJSON(t, read(t, "testdata", "smollm2-"+name), got, but...)
	}
	s := c.source.(*ggufSource)
	d, err := s.tokens.definition()
	if err != nil {
		t.Fatal(err)
	}
	specials, err := indentedJSON(s.tokens.specialTokens(d))
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, read(t, "testdata", "smollm2-"+specialTokensName), specials, "additional_special_tokens")
	if i := c.Info(); i.Kind != "gguf" || i.Stored != "Q4_1" || i.Format != "q4b32m" || i.Tensors != 272 || i.Weights != 134515008 || i.Repacked.Tensors != 211 || i.Converted.Tensors != 0 {
		t.Errorf("info %+v", i)
	}
}

// Hugging Face's tokenizers reads the tokenizer.json that is written and gives
// the ids that the GGUF file's tokenizer gives.
func TestSmolLM2TokenizerInPython(t *testing.T) {
	python := testmodel.Python(t)
	c := openPath(t, testmodel.Dir(t, "smollm2.gguf"))
	tok, err := c.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.source.(*ggufSource).tokens.definition()
	if err != nil {
		t.Fatal(err)
	}
	samePythonIDs(t, python, tok, d)
}

// The same for the stages of every pre-tokenizer, on a tiny vocabulary.
func TestTokenizersInPython(t *testing.T) {
	python := testmodel.Python(t)
	for _, name := range []string{"gpt-2", "mpt", "smollm", "llama-bpe", "dbrx", "qwen2", "tekken", "gpt-4o", "deepseek-v3", "deepseek-llm", "deepseek-coder"} {
		t.Run(name, func(t *testing.T) {
			_, f := tiny(t, testmodel.TinyOptions{})
			f.Set("tokenizer.ggml.pre", name)
			c := mustOpen(t, f.Bytes())
			tok, err := c.Tokenizer()
			if err != nil {
				t.Fatal(err)
			}
			d, err := c.source.(*ggufSource).tokens.definition()
			if err != nil {
				t.Fatal(err)
			}
			samePythonIDs(t, python, tok, d)
		})
	}
}

var pythonTexts = []string{
	"", "Hello world", "The quick brown fox  jumps\n\nover 12345 lazy dogs.", " leading", "trailing ", "tabs\tand\r\nlines\n\n\n",
	"I'LL they've don't", "naïve café Å Å", "日本語のテキスト 汉字", "1 22 333 4444", "emoji 😀👩‍👩‍👧 ok", "<|im_start|>user\nhi<|im_end|>\n", "x = {'a': [1, 2.5e-3]}; // note",
	"Ελληνικά Ωmega K ℤΩℨ", "a\u0301 e\u0301", strings.Repeat("ab", 200),
}

func samePythonIDs(t *testing.T, python string, tok *bpe.Tokenizer, d *bpe.Definition) {
	t.Helper()
	data, err := tokenizerJSON(d)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	texts, err := json.Marshal(pythonTexts)
	if err != nil {
		t.Fatal(err)
	}
	const program = `
import json, sys
from tokenizers import Tokenizer
t = Tokenizer.from_file(sys.argv[1])
texts = json.load(open(sys.argv[2], encoding="utf-8"))
json.dump([t.encode(x, add_special_tokens=True).ids for x in texts], sys.stdout)
`
	cmd := exec.Command(python, "-c", program, write(t, dir, tokenizerName, data), write(t, dir, "texts.json", texts))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var want [][]int
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for i, text := range pythonTexts {
		got := tok.Encode(text, &bpe.EncodeOptions{ParseSpecial: true, AddSpecial: true})
		if fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Errorf("%q: ids %v, tokenizers gives %v", text, got, want[i])
		}
	}
}

// The whole way of the real checkpoint: into block formats without a change,
// in the memory of a tensor.
func TestSmolLM2Convert(t *testing.T) {
	c := openPath(t, testmodel.Dir(t, "smollm2.gguf"))
	dst := filepath.Join(t.TempDir(), "keep")
	report, err := Convert(dst, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Tensors {
		if r.MaxError != 0 || r.From != r.To {
			t.Errorf("%+v", r)
		}
	}
	again := openPath(t, dst)
	for _, name := range c.Names() {
		a, err := c.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if a.Type != b.Type || !bytes.Equal(a.Data, b.Data) {
			t.Errorf("%s differs", name)
		}
	}
	info, err := os.Stat(filepath.Join(dst, singleName))
	if err != nil || info.Size() > report.Bytes+1<<20 {
		t.Errorf("the file takes %d bytes for %d, %v", info.Size(), report.Bytes, err)
	}
}
