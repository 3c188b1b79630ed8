package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/quant"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

func TestFolder(t *testing.T) {
	dir := testmodel.Tiny(t, filepath.Join(t.TempDir(), "tiny"), testmodel.TinyOptions{DType: "BF16", Shards: 3})
	for _, path := range []string{dir, filepath.Join(dir, indexName)} {
		c, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string][]byte{"config.json": c.Config(), "generation_config.json": c.GenerationConfig(), "tokenizer_config.json": c.TokenizerConfig()} {
			if !bytes.Equal(got, read(t, dir, name)) {
				t.Errorf("%s differs", name)
			}
		}
		if !strings.Contains(c.ChatTemplate(), "<|im_start|>") {
			t.Errorf("chat template %q", c.ChatTemplate())
		}
		if tok, err := c.Tokenizer(); err != nil || len(tok.Encode("the", nil)) != 2 {
			t.Errorf("tokenizer: %v", err)
		}
		x, err := c.Tensor("model.layers.1.mlp.down_proj.weight")
		if err != nil || x.Type != BF16 || !slices.Equal(x.Shape, []int{64, 96}) || len(x.Data) != 2*64*96 || x.Elements() != 64*96 {
			t.Errorf("tensor %v %v, %d bytes, %v", x.Type, x.Shape, len(x.Data), err)
		}
		if i := c.Info(); i.Kind != "safetensors" || i.Format != "bf16" || i.Tensors != len(c.Names()) || i.Bytes != 2*i.Weights || i.Memory != mapped() || i.Repacked.Tensors != 0 {
			t.Errorf("info %+v", i)
		}
		if p, err := c.Pin(); err != nil || p.Wanted == 0 {
			t.Errorf("pin %+v, %v", p, err)
		}
		if _, err := c.Tensor("absent"); !errors.Is(err, ErrNotFound) || !errors.Is(err, safetensors.ErrNotFound) {
			t.Errorf("absent tensor: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A single file is opened with its companions; an fs.FS as a folder.
func TestFolderForms(t *testing.T) {
	dir := testmodel.Tiny(t, filepath.Join(t.TempDir(), "tiny"), testmodel.TinyOptions{})
	single, err := Open(filepath.Join(dir, singleName), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer single.Close()
	fsys, err := OpenFS(testmodel.TinyFS(testmodel.TinyOptions{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	a, err := single.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := fsys.Digest(); err != nil || a != b {
		t.Errorf("digests %x and %x, %v", a, b, err)
	}
	if single.Config() == nil || fsys.Info().Memory != safetensors.Private {
		t.Error("companions or memory")
	}
}

// The digest is of the model, not of its files.
func TestDigest(t *testing.T) {
	sum := func(o testmodel.TinyOptions, change func(fstest.MapFS)) [32]byte {
		files := testmodel.TinyFS(o)
		if change != nil {
			change(files)
		}
		c, err := OpenFS(files, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		d, err := c.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := sum(testmodel.TinyOptions{}, nil)
	if base == ([32]byte{}) {
		t.Error("the digest is zero")
	}
	if sum(testmodel.TinyOptions{Shards: 4}, nil) != base {
		t.Error("shards change the digest")
	}
	if sum(testmodel.TinyOptions{}, func(f fstest.MapFS) { delete(f, "tokenizer.json") }) != base {
		t.Error("the tokenizer changes the digest")
	}
	for name, o := range map[string]testmodel.TinyOptions{"seed": {Seed: 1}, "dtype": {DType: "BF16"}, "config": {RopeTheta: 5}, "head": {Untied: true}} {
		if sum(o, nil) == base {
			t.Errorf("another %s has the same digest", name)
		}
	}
	if sum(testmodel.TinyOptions{}, func(f fstest.MapFS) { d := f[singleName].Data; d[len(d)-1] ^= 1 }) == base {
		t.Error("another weight has the same digest")
	}
}

func TestChatTemplate(t *testing.T) {
	for _, c := range []struct {
		name, config, jinja, want string
	}{
		{"none", `{}`, "", ""},
		{"null", `{"chat_template": null}`, "", ""},
		{"string", `{"chat_template": "a{{ b }}<"}`, "", "a{{ b }}<"},
		{"list", `{"chat_template": [{"name": "tool_use", "template": "x"}, {"name": "default", "template": "y"}]}`, "", "y"},
		{"list without default", `{"chat_template": [{"name": "tool_use", "template": "x"}]}`, "", ""},
		{"file", `{"chat_template": "a"}`, "from the file", "from the file"},
	} {
		files := testmodel.TinyFS(testmodel.TinyOptions{})
		files[tokenizerConfigName] = &fstest.MapFile{Data: []byte(c.config)}
		if c.jinja != "" {
			files[chatTemplateName] = &fstest.MapFile{Data: []byte(c.jinja)}
		}
		ck, err := OpenFS(files, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := ck.ChatTemplate(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		ck.Close()
	}
}

func TestFolderErrors(t *testing.T) {
	put := func(name, text string) func(fstest.MapFS) {
		return func(f fstest.MapFS) { f[name] = &fstest.MapFile{Data: []byte(text)} }
	}
	// A file of one tensor with the metadata of a quantised checkpoint.
	quantised := func(dtype safetensors.DType, shape []uint64, metadata string) func(fstest.MapFS) {
		return func(f fstest.MapFS) {
			n, err := dtype.Bytes(shape)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			err = safetensors.Encode(&b, []safetensors.Source{{Name: "t", DType: dtype, Shape: shape, Data: make([]byte, n)}}, map[string]string{quant.MetadataKey: metadata}, nil)
			if err != nil {
				t.Fatal(err)
			}
			f[singleName] = &fstest.MapFile{Data: b.Bytes()}
		}
	}
	good := quant.Metadata{"t": {Format: quant.Q8B32, Rows: 20, Cols: 64}}
	other := quant.Metadata{"u": {Format: quant.Q8B32, Rows: 20, Cols: 64}}
	shape := quant.Q8B32.Shape(20, 64)
	for _, c := range []struct {
		name   string
		change func(fstest.MapFS)
		want   error
		text   string
	}{
		{"nothing", func(f fstest.MapFS) { clear(f) }, ErrNoCheckpoint, "neither model.safetensors"},
		{"several GGUF files", func(f fstest.MapFS) {
			delete(f, singleName)
			put("a.gguf", "")(f)
			put("b.gguf", "")(f)
		}, ErrNoCheckpoint, "a.gguf, b.gguf"},
		{"empty GGUF file", func(f fstest.MapFS) { delete(f, singleName); put("a.gguf", "")(f) }, ErrNoCheckpoint, "a.gguf"},
		{"config is a folder", func(f fstest.MapFS) { delete(f, configName); put("config.json/x", "")(f) }, safetensors.ErrNotRegular, "config.json"},
		{"config is no JSON", put(configName, `{"a": x}`), ErrMetadata, "config.json: bad metadata: it is not JSON: byte 7"},
		{"large config", put(configName, `"`+strings.Repeat("x", maxConfigBytes)+`"`), ErrTooLarge, "config.json"},
		{"large generation config", put(generationConfigName, strings.Repeat(" ", maxConfigBytes+1)), ErrTooLarge, "generation_config.json"},
		{"template of another type", put(tokenizerConfigName, `{"chat_template": 7}`), ErrMetadata, "chat_template"},
		{"templates of another type", put(tokenizerConfigName, `{"chat_template": [7]}`), ErrMetadata, "chat_template"},
		{"large template", put(chatTemplateName, strings.Repeat(" ", maxChatTemplateBytes+1)), ErrTooLarge, "chat_template.jinja"},
		{"weights cut short", func(f fstest.MapFS) { f[singleName].Data = f[singleName].Data[:999] }, safetensors.ErrTruncated, singleName},
		{"quantised, not JSON", quantised(safetensors.U8, shape[:], "{"), quant.ErrMetadata, quant.MetadataKey},
		{"quantised, another version", quantised(safetensors.U8, shape[:], `{"format":"leveret-blocks","version":2,"tensors":{}}`), quant.ErrVersion, "version 2"},
		{"quantised, no such tensor", quantised(safetensors.U8, shape[:], other.String()), ErrNotFound, `"u"`},
		{"quantised, another size", quantised(safetensors.U8, []uint64{shape[0], shape[1] + 1}, good.String()), ErrShape, `tensor "t"`},
		{"quantised, another dtype", quantised(safetensors.I8, shape[:], good.String()), ErrShape, "I8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := maps.Clone(testmodel.TinyFS(testmodel.TinyOptions{}))
			c.change(files)
			ck, err := OpenFS(files, nil)
			if err == nil {
				ck.Close()
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.text)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]error{
		filepath.Join(dir, "absent"):          os.ErrNotExist,
		write(t, dir, "weights.bin", nil):     ErrNoCheckpoint,
		write(t, dir, "a.safetensors", nil):   safetensors.ErrTruncated,
		dir:                                   ErrNoCheckpoint,
		filepath.Join(dir, "absent.gguf"):     os.ErrNotExist,
		write(t, dir, "a.GGUF", []byte("GG")): nil,
	} {
		c, err := Open(path, nil)
		if err == nil {
			c.Close()
			t.Errorf("%s: no error", path)
		}
		if want != nil && !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", path, err, want)
		}
	}
}

// A GGUF file is known by its first bytes too.
func TestOpenByMagic(t *testing.T) {
	_, f := tiny(t, testmodel.TinyOptions{})
	c, err := Open(write(t, t.TempDir(), "sha256-0123", f.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Info().Kind != "gguf" {
		t.Errorf("info %+v", c.Info())
	}
}

// An index cannot lead out of the folder.
func TestFolderIndexEscapes(t *testing.T) {
	parent := t.TempDir()
	dir := testmodel.Tiny(t, filepath.Join(parent, "tiny"), testmodel.TinyOptions{})
	if err := os.Rename(filepath.Join(dir, singleName), filepath.Join(parent, "outside.safetensors")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, indexName, []byte(`{"metadata":{},"weight_map":{"model.norm.weight":"../outside.safetensors"}}`))
	if c, err := Open(dir, nil); !errors.Is(err, safetensors.ErrShardName) {
		t.Errorf("error %v, want %v", err, safetensors.ErrShardName)
		if err == nil {
			c.Close()
		}
	}
}

// A tensor of a type that no kernel takes is listed, and an error where it is
// used.
func TestFolderUnsupportedDType(t *testing.T) {
	var b bytes.Buffer
	err := safetensors.Encode(&b, []safetensors.Source{
		{Name: "ids", DType: safetensors.I64, Shape: []uint64{2}, Data: make([]byte, 16)},
		{Name: "w", DType: safetensors.F32, Shape: []uint64{1}, Data: make([]byte, 4)},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := OpenFS(fstest.MapFS{singleName: {Data: b.Bytes()}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if d := cmp.Diff([]string{"ids", "w"}, slices.Sorted(slices.Values(c.Names()))); d != "" {
		t.Error(d)
	}
	if _, err := c.Tensor("ids"); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "I64") || !strings.Contains(err.Error(), `"ids"`) {
		t.Errorf("error %v", err)
	}
	if c.Config() != nil || c.GenerationConfig() != nil || c.TokenizerConfig() != nil || c.ChatTemplate() != "" {
		t.Error("files that are not there")
	}
	if _, err := c.Tokenizer(); !errors.Is(err, bpe.ErrNotFound) {
		t.Errorf("tokenizer: %v", err)
	}
	if _, err := c.Digest(); err != nil {
		t.Error(err)
	}
}

func TestParseType(t *testing.T) {
	for typ := Keep; typ <= Q4B32M; typ++ {
		for _, name := range []string{typ.String(), strings.ToUpper(typ.String())} {
			if got, err := ParseType(name); err != nil || got != typ {
				t.Errorf("ParseType(%q) = %v, %v", name, got, err)
			}
		}
		if typ.Blocks() != (typ >= Q8B32) {
			t.Errorf("%v.Blocks()", typ)
		}
		if typ.Blocks() && typeOf(typ.format()) != typ {
			t.Errorf("%v.format() is %v", typ, typ.format())
		}
	}
	if _, err := ParseType("int4"); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "int4") {
		t.Errorf("error %v", err)
	}
	if s := Type(77).String(); s != "type 77" {
		t.Error(s)
	}
}

func FuzzFolderFiles(f *testing.F) {
	files := testmodel.TinyFS(testmodel.TinyOptions{Hidden: 2, Intermediate: 1, Heads: 1, KVHeads: 1, Layers: 1})
	f.Add(files[configName].Data, files[generationConfigName].Data, files[tokenizerConfigName].Data)
	f.Add([]byte(`{"dtype":1}`), []byte(`[]`), []byte(`{"chat_template":[{"name":"default","template":"x"}]}`))
	f.Add([]byte(`{"a":1,"a":2}`), []byte(`{`), []byte(`{"chat_template":null}`))
	f.Fuzz(func(t *testing.T, config, generation, tokenizer []byte) {
		files := fstest.MapFS{singleName: files[singleName], configName: {Data: config}, generationConfigName: {Data: generation}, tokenizerConfigName: {Data: tokenizer}}
		c, err := OpenFS(files, nil)
		if err != nil {
			return
		}
		defer c.Close()
		_ = c.ChatTemplate()
		v := &conversion{c: c, opts: &ConvertOptions{Type: BF16}}
		if made, err := v.config(); err == nil && !json.Valid(made) {
			t.Errorf("%q gives %q, which is no JSON", config, made)
		}
	})
}
