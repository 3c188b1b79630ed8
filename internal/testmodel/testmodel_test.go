package testmodel

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// digest covers every file of a checkpoint, in the order of their names.
func digest(o TinyOptions) string {
	h := sha256.New()
	files := TinyFS(o)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h.Write([]byte(name))
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(files[name].Data))))
		h.Write(files[name].Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Every machine must make the same bytes, or digests of logits mean nothing.
func TestTinyIsTheSameEverywhere(t *testing.T) {
	const want = "32c230f44584dd1c4fc531ebe069b43ea91b9d4fcea0fdcc5d555bfc1df05958"
	if got := digest(TinyOptions{}); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if digest(TinyOptions{}) == digest(TinyOptions{Seed: 1}) {
		t.Error("the seed makes no difference")
	}
}

// Every merge joins tokens that exist by then, and no token has two ids.
func TestVocabulary(t *testing.T) {
	list := tokens()
	seen := map[string]bool{}
	for id, token := range list {
		if seen[token] {
			t.Errorf("token %q appears twice", token)
		}
		seen[token] = true
		if i := id - len(specials) - 256; i >= 0 {
			r := rules()[i]
			if !seen[r[0]] || !seen[r[1]] {
				t.Errorf("merge %q joins a token that does not exist yet", r)
			}
		}
	}
	if n := len(byteTokens()); n != 256 {
		t.Errorf("%d byte tokens", n)
	}
}

func TestOptions(t *testing.T) {
	files := TinyFS(TinyOptions{
		ModelType: "qwen3", DType: "BF16", Untied: true, Bias: true, HeadNorm: true,
		Hidden: 60, Intermediate: 70, Layers: 3, Heads: 3, KVHeads: 1, HeadDim: 24, ExtraVocab: 5,
		RopeScaling: map[string]any{"rope_type": "linear", "factor": 2.0}, Shards: 3, Config: map[string]any{"rms_norm_eps": 1e-6},
	})
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(files["model.safetensors.index.json"].Data, &index); err != nil {
		t.Fatal(err)
	}
	shapes := map[string][]int{
		"model.embed_tokens.weight":              {VocabSize() + 5, 60},
		"lm_head.weight":                         {VocabSize() + 5, 60},
		"model.layers.2.self_attn.q_proj.weight": {72, 60},
		"model.layers.2.self_attn.k_proj.bias":   {24},
		"model.layers.2.self_attn.o_proj.weight": {60, 72},
		"model.layers.2.self_attn.q_norm.weight": {24},
		"model.layers.2.mlp.down_proj.weight":    {60, 70},
	}
	for name, want := range shapes {
		file := files[index.WeightMap[name]]
		if file == nil {
			t.Errorf("%s is in no shard", name)
			continue
		}
		n := binary.LittleEndian.Uint64(file.Data)
		var header map[string]struct {
			DType string `json:"dtype"`
			Shape []int  `json:"shape"`
		}
		if err := json.Unmarshal(file.Data[8:8+n], &header); err != nil {
			t.Fatal(err)
		}
		if got := header[name]; got.DType != "BF16" || !slices.Equal(got.Shape, want) {
			t.Errorf("%s is %v, want BF16 %v", name, got, want)
		}
	}
	var config map[string]any
	if err := json.Unmarshal(files["config.json"].Data, &config); err != nil {
		t.Fatal(err)
	}
	if config["head_dim"] != 24.0 || config["rms_norm_eps"] != 1e-6 || config["tie_word_embeddings"] != false {
		t.Errorf("config %v", config)
	}
}

// The reference libraries read what this package writes.
func TestPythonReadsTiny(t *testing.T) {
	python := Python(t)
	dir := Tiny(t, filepath.Join(t.TempDir(), "tiny"), TinyOptions{DType: "F16"})
	const program = `
import sys
from safetensors import safe_open
from tokenizers import Tokenizer
dir = sys.argv[1]
with safe_open(dir + "/model.safetensors", "np") as f:
    assert f.get_tensor("model.layers.1.mlp.down_proj.weight").shape == (64, 96)
    x = f.get_tensor("model.norm.weight").astype("float32")
    assert abs(x.mean() - 1) < 0.1 and 0.02 < x.std() < 0.3, x
t = Tokenizer.from_file(dir + "/tokenizer.json")
text = "Hello the 2024 wörld\n<|im_end|>"
ids = t.encode(text).ids
assert t.decode(ids, skip_special_tokens=False) == text, ids
assert t.encode(" the").ids == [t.token_to_id("Ġthe")]
`
	if out, err := exec.Command(python, "-c", program, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
