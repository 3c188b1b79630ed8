package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

func inspectJSON(t *testing.T, args ...string) inspection {
	t.Helper()
	var x inspection
	d := json.NewDecoder(strings.NewReader(invoke(t, append([]string{"inspect", "--json"}, args...)...).ok(t).stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestInspect(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{DType: "BF16", Shards: 2, Layers: 3})
	x := inspectJSON(t, dir)
	if x.Kind != "safetensors" || x.Format != "bf16" || x.Bits != 16 || x.Problem != "" || x.Count != len(x.Tensors) {
		t.Errorf("got %+v", x)
	}
	if c := x.Config; c == nil || c.NumHiddenLayers != 3 || c.HiddenSize != 64 || c.HeadDim != 16 || !c.ChatTemplate || !c.TiedEmbeddings || c.ContextLength != 256 {
		t.Errorf("config %+v", x.Config)
	}
	var weights, bytes int64
	for _, tensor := range x.Tensors {
		n := int64(1)
		for _, d := range tensor.Shape {
			n *= int64(d)
		}
		if tensor.Type != "bf16" || tensor.Bytes != 2*n {
			t.Errorf("tensor %+v", tensor)
		}
		weights, bytes = weights+n, bytes+tensor.Bytes
	}
	if weights != x.Weights || bytes != x.Bytes {
		t.Errorf("%d weights in %d bytes, the tensors have %d in %d", x.Weights, x.Bytes, weights, bytes)
	}
	if brief := inspectJSON(t, "-m", dir, "--brief"); brief.Tensors != nil || brief.Count != x.Count {
		t.Errorf("--brief has %d of %d tensors", len(brief.Tensors), brief.Count)
	}
	text := invoke(t, "inspect", dir).ok(t).stdout
	for _, want := range []string{"bf16, 16.00 bits a weight", "llama, 3 layers", "4 heads of 16, 2 heads of keys and values", "model.layers.2.mlp.down_proj.weight"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

func TestInspectQuantised(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	out := filepath.Join(t.TempDir(), "out")
	invoke(t, "quantize", "-m", dir, "-o", out, "-q", "q4b32m").ok(t)
	x := inspectJSON(t, out)
	types := map[string]string{}
	for _, tensor := range x.Tensors {
		types[tensor.Name] = tensor.Type
		if tensor.Name == "model.layers.0.mlp.down_proj.weight" && (len(tensor.Shape) != 2 || tensor.Shape[0] != 64 || tensor.Shape[1] != 96) {
			t.Errorf("shape %v is not the matrix's own", tensor.Shape)
		}
	}
	for name, want := range map[string]string{
		"model.layers.0.mlp.down_proj.weight": "q4b32m", "model.embed_tokens.weight": "q8b32", "model.norm.weight": "f32",
	} {
		if types[name] != want {
			t.Errorf("%s is %s, want %s", name, types[name], want)
		}
	}
}

// TestInspectOther: what is no model, or none that runs, is shown with the
// reason.
func TestInspectOther(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	config := filepath.Join(dir, "config.json")
	if err := os.WriteFile(config, []byte(`{"model_type":"mamba"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if x := inspectJSON(t, dir); x.Config != nil || !strings.Contains(x.Problem, "mamba") || x.Count == 0 {
		t.Errorf("got %+v", x)
	}
	if err := os.WriteFile(config, []byte(`{`), 0o644); err != nil {
		t.Fatal(err)
	}
	if x := inspectJSON(t, dir); !strings.Contains(x.Problem, "config.json") || x.Count == 0 {
		t.Errorf("got %+v", x)
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	if x := inspectJSON(t, filepath.Join(dir, "model.safetensors")); x.Config != nil || x.Problem == "" || x.Count == 0 {
		t.Errorf("got %+v", x)
	}
	if text := invoke(t, "inspect", dir).ok(t).stdout; !strings.Contains(text, "cannot run") {
		t.Errorf("got %s", text)
	}

	// The types that no model here has.
	file := filepath.Join(t.TempDir(), "x.safetensors")
	header := `{"a":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"b":{"dtype":"F8_E4M3","shape":[],"data_offsets":[16,17]}}`
	data := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)
	if err := os.WriteFile(file, append(data, make([]byte, 17)...), 0o644); err != nil {
		t.Fatal(err)
	}
	x := inspectJSON(t, file)
	if x.Count != 2 || x.Tensors[0].Type != "i64" || x.Tensors[1].Type != "f8_e4m3" || x.Bytes != 17 {
		t.Errorf("got %+v", x)
	}
	invoke(t, "inspect", file).ok(t)
}

func TestInspectNothing(t *testing.T) {
	invoke(t, "inspect", "").fails(t, statusUsage, "name is empty")
}
