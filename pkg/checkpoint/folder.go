package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/quant"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// folderSource is a folder of Hugging Face's: safetensors and JSON files.
type folderSource struct {
	fsys    fs.FS
	file    *safetensors.File
	quants  quant.Metadata // the matrices in block formats
	list    []string
	summary Info

	configJSON, generationJSON, tokenizerJSON []byte
	template                                  string
}

func openSafetensors(fsys fs.FS, name string, opts *Options) (source, error) {
	s := &folderSource{fsys: fsys}
	if err := s.readFiles(); err != nil {
		return nil, err
	}
	var err error
	if s.file, err = safetensors.OpenFS(fsys, name, opts.safetensors()); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if err := s.describe(); err != nil {
		_ = s.file.Close()
		return nil, err
	}
	return s, nil
}

// readFiles reads the JSON files beside the weights.
func (s *folderSource) readFiles() error {
	for _, f := range []struct {
		name  string
		limit int64
		to    *[]byte
	}{
		{configName, maxConfigBytes, &s.configJSON},
		{generationConfigName, maxConfigBytes, &s.generationJSON},
		{tokenizerConfigName, maxTokenizerConfig, &s.tokenizerJSON},
	} {
		data, err := readFile(s.fsys, f.name, f.limit)
		if err != nil {
			return err
		}
		if err := checkJSON(data); data != nil && err != nil {
			return fmt.Errorf("checkpoint: %s: %w: it is not JSON: %w", f.name, ErrMetadata, err)
		}
		*f.to = data
	}
	template, err := readFile(s.fsys, chatTemplateName, maxChatTemplateBytes)
	if err != nil {
		return err
	}
	if template != nil {
		s.template = string(template)
		return nil
	}
	s.template, err = templateOf(s.tokenizerJSON)
	return err
}

// checkJSON says where data is not JSON.
func checkJSON(data []byte) error {
	var value json.RawMessage
	err := json.Unmarshal(data, &value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	}
	return err
}

// templateOf returns the chat_template of tokenizer_config.json: a string, or
// a list of named ones, of which "default" is the one to use.
func templateOf(tokenizerConfig []byte) (string, error) {
	if tokenizerConfig == nil {
		return "", nil
	}
	fail := func(err error) (string, error) {
		return "", fmt.Errorf("checkpoint: %s: chat_template: %w: %w", tokenizerConfigName, ErrMetadata, err)
	}
	var c struct {
		ChatTemplate json.RawMessage `json:"chat_template"`
	}
	if err := json.Unmarshal(tokenizerConfig, &c); err != nil {
		return fail(err)
	}
	switch {
	case len(c.ChatTemplate) == 0, string(c.ChatTemplate) == "null":
		return "", nil
	case c.ChatTemplate[0] == '[':
		var list []struct{ Name, Template string }
		if err := json.Unmarshal(c.ChatTemplate, &list); err != nil {
			return fail(err)
		}
		for _, t := range list {
			if t.Name == "default" {
				return t.Template, nil
			}
		}
		return "", nil
	}
	var t string
	if err := json.Unmarshal(c.ChatTemplate, &t); err != nil {
		return fail(err)
	}
	return t, nil
}

// describe finds the quantised tensors and counts everything.
func (s *folderSource) describe() error {
	var err error
	if s.quants, err = quantisedTensors(s.file); err != nil {
		return err
	}
	s.list = s.file.Names()
	s.summary = Info{Kind: "safetensors", Tensors: len(s.list), Bytes: s.file.Size(), Memory: s.file.Memory()}
	weights := make(map[string]int64)
	for _, name := range s.list {
		info, err := s.file.Stat(name)
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		t, err := s.stat(name)
		if err != nil { // of a type that no kernel takes: an error where it is used
			weights[info.DType.String()] += info.Bytes
			continue
		}
		weights[t.Type.String()] += int64(t.Elements())
		s.summary.Weights += int64(t.Elements())
	}
	s.summary.Format = most(weights)
	return nil
}

// most returns the key of the largest number, the first of several.
func most(counts map[string]int64) string {
	best := ""
	for k, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && k < best {
			best = k
		}
	}
	return best
}

func (s *folderSource) names() []string { return s.list }

func (s *folderSource) stat(name string) (Tensor, error) {
	info, err := s.file.Stat(name)
	if err != nil {
		return Tensor{}, notFound(name, err)
	}
	if q, ok := s.quants[name]; ok {
		return Tensor{Name: name, Type: typeOf(q.Format), Shape: []int{q.Rows, q.Cols}}, nil
	}
	shape, err := intShape(name, info.Shape)
	if err != nil {
		return Tensor{}, err
	}
	t := Tensor{Name: name, Shape: shape}
	switch info.DType {
	case safetensors.F32:
		t.Type = F32
	case safetensors.F16:
		t.Type = F16
	case safetensors.BF16:
		t.Type = BF16
	default:
		return Tensor{}, fmt.Errorf("checkpoint: tensor %q: %w: dtype %v, want F32, F16, BF16 or a block format", name, ErrUnsupported, info.DType)
	}
	return t, nil
}

func notFound(name string, err error) error {
	return fmt.Errorf("checkpoint: tensor %q: %w: %w", name, ErrNotFound, err)
}

func (s *folderSource) tensor(name string) (Tensor, error) {
	t, err := s.stat(name)
	if err != nil {
		return t, err
	}
	data, err := s.file.Tensor(name)
	if err != nil {
		return Tensor{}, fmt.Errorf("checkpoint: %w", err)
	}
	t.Data = data.Data
	return t, nil
}

func (s *folderSource) fresh(name string) (Tensor, error) { return s.tensor(name) }

func (s *folderSource) stored(name string) (string, []uint64, []byte, error) {
	t, err := s.file.Tensor(name)
	if err != nil {
		return "", nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	kind := t.DType.String()
	if q, ok := s.quants[name]; ok {
		kind = q.Format.String()
	}
	return kind, t.Shape, t.Data, nil
}

func (s *folderSource) config() []byte           { return s.configJSON }
func (s *folderSource) generationConfig() []byte { return s.generationJSON }
func (s *folderSource) tokenizerConfig() []byte  { return s.tokenizerJSON }
func (s *folderSource) chatTemplate() string     { return s.template }

func (s *folderSource) tokenizer() (*bpe.Tokenizer, error) {
	t, err := bpe.Load(s.fsys)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: tokenizer: %w", err)
	}
	return t, nil
}

func (s *folderSource) info() Info { return s.summary }

func (s *folderSource) pin() (safetensors.Pinned, error) { return s.file.Pin() }

func (s *folderSource) close() error { return s.file.Close() }
