package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/gguf"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// ggufSource is a GGUF file.
type ggufSource struct {
	name   string
	data   memory // the file
	mapped bool   // data is a mapping of it
	mode   safetensors.Memory
	file   *gguf.File
	model  *ggufModel
	tokens *ggufTokens

	entries []*ggufEntry // in the file's order
	byName  map[string]int
	summary Info

	configJSON, generationJSON []byte
	tokenizerJSON              func() []byte // made when it is asked for: it takes the whole vocabulary

	// own is memory for what does not stay in the mapping, one part for each
	// tensor. It is reserved at the first use.
	ownSize int64
	ownOnce sync.Once
	own     memory
	ownErr  error
}

// ggufEntry is a tensor of the model in the file.
type ggufEntry struct {
	place
	from ggml.Type
	raw  []byte // as it lies in the file
	at   int64  // where in the file
	to   Type
	// offset is where the tensor lies in own, −1 where it stays in the mapping.
	offset int64
	size   int64

	once sync.Once
	err  error
}

// alignment is that of tensors in own memory: a cache line.
const alignment = 64

func openGGUF(fsys fs.FS, name string, opts *Options) (source, error) {
	s := &ggufSource{name: name, mode: opts.memory()}
	if err := s.read(fsys); err != nil {
		return nil, fmt.Errorf("checkpoint: %s: %w", name, err)
	}
	if err := s.describe(); err != nil {
		_ = s.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// read maps the file, or reads it where it cannot be mapped or must not be
// relied on later.
func (s *ggufSource) read(fsys fs.FS) error {
	f, size, err := regular(fsys, s.name)
	if err != nil {
		return err
	}
	defer f.Close() // a mapping stays without its file
	if size == 0 {
		return fmt.Errorf("%w: it is empty", ErrNoCheckpoint)
	}
	if file, ok := f.(*os.File); ok && canMap && s.mode != safetensors.Private {
		s.data, err = mapFile(file, size)
		s.mapped = true
	} else {
		s.data, err = readMemory(f, size)
		if s.mode == safetensors.Mapped {
			s.mode = safetensors.Private
		}
	}
	return err
}

func (s *ggufSource) describe() error {
	var err error
	if s.file, err = gguf.Parse(s.data); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if s.model, err = readModel(s.file); err != nil {
		return err
	}
	places := s.model.places()
	if err := s.model.checkTensors(places); err != nil {
		return err
	}
	if s.tokens, err = readTokens(s.file); err != nil {
		return err
	}
	if err := s.addEntries(places); err != nil {
		return err
	}
	s.summarise()
	return s.makeConfigs()
}

// addEntries decides for every tensor what becomes of it.
func (s *ggufSource) addEntries(places []place) error {
	byGGUF := make(map[string]place, len(places))
	for _, p := range places {
		byGGUF[p.gguf] = p
	}
	s.entries = make([]*ggufEntry, 0, len(places))
	s.byName = make(map[string]int, len(places))
	for _, t := range s.file.Tensors() {
		p, ok := byGGUF[t.Name]
		if !ok { // the RoPE factors, which are in the configuration
			continue
		}
		e := &ggufEntry{place: p, from: t.Type, at: int64(t.Offset), offset: -1}
		// A type that cannot be read is an error where the tensor is used.
		if _, raw, err := s.file.Data(t.Name); err != nil {
			e.err = fmt.Errorf("checkpoint: tensor %q: %w: %w", p.hf, ErrUnsupported, err)
		} else {
			e.raw = raw
			e.plan(s.mode == safetensors.Huge)
		}
		if e.offset == 0 {
			e.offset = s.ownSize
			s.ownSize += (e.size + alignment - 1) &^ (alignment - 1)
		}
		s.byName[p.hf] = len(s.entries)
		s.entries = append(s.entries, e)
	}
	return nil
}

// plan sets the type that the tensor gets and, where it cannot stay in the
// mapping, its size, and offset to 0.
func (e *ggufEntry) plan(copyAll bool) {
	stays := e.heads == 0 && !copyAll
	switch e.from {
	case ggml.F32:
		e.to = F32
	case ggml.F16:
		e.to = F16
	case ggml.BF16:
		e.to = BF16
	default:
		stays = false
		e.to = F32
		if k := repackedType(e.from); k != Keep && len(e.shape) == 2 {
			e.to = k
		}
	}
	e.size = tensorBytes(e.to, e.shape)
	if !stays {
		e.offset = 0
	}
}

// tensorBytes returns the size of a tensor's data.
func tensorBytes(t Type, shape []int) int64 {
	if t.Blocks() {
		rows, cols := rowsCols(shape)
		return int64(t.format().Bytes(rows, cols))
	}
	return int64(elements(shape) * t.size())
}

func (s *ggufSource) summarise() {
	s.summary = Info{Kind: "gguf", Tensors: len(s.entries), Bytes: int64(len(s.data)), Memory: s.mode}
	weights := make(map[string]int64)
	formats := make(map[string]string)
	for i := range s.entries {
		e := s.entries[i]
		n := int64(elements(e.shape))
		s.summary.Weights += n
		stored := gguf.TypeName(e.from)
		weights[stored] += n
		format := e.to.String()
		if e.raw == nil {
			format = stored
		}
		formats[stored] = format
		switch {
		case e.offset < 0:
		case e.to.Blocks():
			s.summary.Repacked.Tensors++
			s.summary.Repacked.Bytes += e.size
		default:
			s.summary.Converted.Tensors++
			s.summary.Converted.Bytes += e.size
		}
	}
	s.summary.Stored = most(weights)
	s.summary.Format = formats[s.summary.Stored]
}

func (s *ggufSource) makeConfigs() error {
	dtype := "float32"
	switch s.summary.Stored {
	case "F16":
		dtype = "float16"
	case "BF16":
		dtype = "bfloat16"
	}
	config, err := s.model.config(dtype, s.tokens)
	if err != nil {
		return err
	}
	if s.configJSON, err = indentedJSON(config); err != nil {
		return fmt.Errorf("checkpoint: %s: %w", configName, err)
	}
	if s.generationJSON, err = indentedJSON(s.tokens.generationConfig()); err != nil {
		return fmt.Errorf("checkpoint: %s: %w", generationConfigName, err)
	}
	s.tokenizerJSON = sync.OnceValue(func() []byte {
		c, err := s.tokens.tokenizerConfig(s.model.context)
		if err != nil { // Tokenizer gives the reason
			return nil
		}
		data, err := indentedJSON(c)
		if err != nil {
			return nil
		}
		return data
	})
	return nil
}

func (s *ggufSource) names() []string {
	names := make([]string, len(s.entries))
	for i := range s.entries {
		names[i] = s.entries[i].hf
	}
	return names
}

func (s *ggufSource) entry(name string) (*ggufEntry, error) {
	i, ok := s.byName[name]
	if !ok {
		return nil, fmt.Errorf("checkpoint: tensor %q: %w", name, ErrNotFound)
	}
	e := s.entries[i]
	if e.raw == nil && e.err != nil {
		return nil, e.err
	}
	return e, nil
}

func (e *ggufEntry) header() Tensor {
	return Tensor{Name: e.hf, Type: e.to, Shape: slices.Clone(e.shape)}
}

func (s *ggufSource) stat(name string) (Tensor, error) {
	e, err := s.entry(name)
	if err != nil {
		return Tensor{}, err
	}
	return e.header(), nil
}

func (s *ggufSource) tensor(name string) (Tensor, error) {
	e, err := s.entry(name)
	if err != nil {
		return Tensor{}, err
	}
	t := e.header()
	if e.offset < 0 {
		t.Data = e.raw
		return t, nil
	}
	own, err := s.ownMemory()
	if err != nil {
		return Tensor{}, fmt.Errorf("checkpoint: tensor %q: %w", name, err)
	}
	t.Data = own[e.offset : e.offset+e.size : e.offset+e.size]
	e.once.Do(func() {
		e.err = e.fill(t.Data)
		s.forget(e)
	})
	if e.err != nil {
		return Tensor{}, e.err
	}
	return t, nil
}

// forget lets the system take back the pages of the mapping that hold a tensor
// which is used from elsewhere.
func (s *ggufSource) forget(e *ggufEntry) {
	page := int64(os.Getpagesize())
	from, to := (e.at+page-1)&^(page-1), (e.at+int64(len(e.raw)))&^(page-1)
	if s.mapped && from < to {
		forget(s.data[from:to])
	}
}

func (s *ggufSource) fresh(name string) (Tensor, error) {
	e, err := s.entry(name)
	if err != nil {
		return Tensor{}, err
	}
	t := e.header()
	if e.offset < 0 {
		t.Data = e.raw
		return t, nil
	}
	t.Data = make([]byte, e.size)
	return t, e.fill(t.Data)
}

func (s *ggufSource) ownMemory() (memory, error) {
	s.ownOnce.Do(func() { s.own, s.ownErr = reserve(s.ownSize) })
	return s.own, s.ownErr
}

func (s *ggufSource) stored(name string) (string, []uint64, []byte, error) {
	e, err := s.entry(name)
	if err != nil {
		return "", nil, nil, err
	}
	t, data, err := s.file.Data(e.gguf)
	if err != nil {
		return "", nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	return gguf.TypeName(t.Type), t.Dims, data, nil
}

func (s *ggufSource) config() []byte           { return s.configJSON }
func (s *ggufSource) generationConfig() []byte { return s.generationJSON }
func (s *ggufSource) tokenizerConfig() []byte  { return s.tokenizerJSON() }

func (s *ggufSource) chatTemplate() string {
	t, err := s.file.Text("tokenizer.chat_template")
	if err != nil {
		return ""
	}
	return t
}

func (s *ggufSource) tokenizer() (*bpe.Tokenizer, error) {
	d, err := s.tokens.definition()
	if err != nil {
		return nil, err
	}
	t, err := bpe.New(*d)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: tokenizer of %s: %w", s.name, err)
	}
	return t, nil
}

func (s *ggufSource) info() Info { return s.summary }

// pin locks the parts of the mapping whose tensors are used from there, and
// the memory of the others.
func (s *ggufSource) pin() (safetensors.Pinned, error) {
	parts := s.usedParts()
	if s.ownSize > 0 {
		own, err := s.ownMemory()
		if err != nil {
			return safetensors.Pinned{}, fmt.Errorf("checkpoint: %w", err)
		}
		parts = append(parts, own)
	}
	var p safetensors.Pinned
	for _, m := range parts {
		p.Wanted += int64(len(m))
		pages, err := m.pin()
		if err != nil {
			if p.Reason == nil {
				p.Reason = fmt.Errorf("checkpoint: pin %s: %w", s.name, err)
			}
			continue
		}
		p.Pages += pages
		p.Bytes += int64(len(m))
	}
	return p, nil
}

// usedParts returns the pages of the mapping that hold tensors used from there.
func (s *ggufSource) usedParts() []memory {
	page := int64(os.Getpagesize())
	var parts []memory
	end := int64(0) // of the last part
	start := int64(0)
	for _, e := range s.inPlace() {
		from := e.at &^ (page - 1)
		to := min((e.at+int64(len(e.raw))+page-1)&^(page-1), int64(len(s.data)))
		if from > end || len(parts) == 0 {
			parts, start = append(parts, nil), from
		}
		end = max(to, end)
		parts[len(parts)-1] = s.data[start:end]
	}
	return parts
}

// inPlace returns the tensors that stay in the mapping by their place.
func (s *ggufSource) inPlace() []*ggufEntry {
	var list []*ggufEntry
	for _, e := range s.entries {
		if e.raw != nil && e.offset < 0 {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *ggufEntry) int { return cmp.Compare(a.at, b.at) })
	return list
}

func (s *ggufSource) close() error {
	return errors.Join(s.data.close(), s.own.close())
}
