package llama

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/leveret-os/leveret/internal/parallel"
	"github.com/leveret-os/leveret/internal/simd"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/checkpoint"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// Errors of a model's use.
var (
	// ErrClosed means that the model or the session was closed.
	ErrClosed = errors.New("llama: closed")
	// ErrContext means that tokens do not fit in a session's context.
	ErrContext = errors.New("llama: context is full")
	// ErrToken means a token id that the model does not have.
	ErrToken = errors.New("llama: no such token")
	// ErrMemory means that the system has no room for a session's cache.
	ErrMemory = errors.New("llama: no memory")
	// ErrOptions means an option that cannot be followed.
	ErrOptions = errors.New("llama: option")
)

// Options say how a model is opened. The zero value, and nil, are the defaults.
type Options struct {
	// Threads is the number of processors that a forward pass uses;
	// 0 means all that the process may use: GOMAXPROCS, or 1 where a container's
	// limit on processor time is below 2.
	Threads int
	// ISA forces an instruction set: "avx512", "avx2" or "portable". "" or
	// "auto" is the best that the processor has. The logits are the same.
	ISA string
	// Activations says what matrices in a block format (Q8B32, Q4B32, Q4B32M) are
	// multiplied by: "exact" or "" are integers of 16 bits; "int8" are integers of 8
	// bits, which are faster and can change tokens. Either has bits of its own, the
	// same everywhere (docs/arithmetic.md). It makes no difference to other matrices.
	Activations string
	// Memory says where weights lie: Mapped (the least memory and the fastest
	// load), Private (a copy that does not mind the file being cut short) or
	// Huge (a copy in 2 MiB pages: the fastest decode).
	Memory safetensors.Memory
	// Pin asks the system to keep the weights in memory (mlock). What was
	// pinned is in Info; less than wanted is no error.
	Pin bool
}

// Info says how a model was loaded.
type Info struct {
	checkpoint.Info
	ISA string // "avx512", "avx2" or "portable"
	// Activations are "int8" where Options asked for it and a matrix follows it;
	// otherwise "exact".
	Activations string
	Threads     int                // that a forward pass uses
	Memory      safetensors.Memory // where the weights lie
	Pinned      safetensors.Pinned // what Options.Pin has pinned
}

// A Model is a checkpoint, ready to run. It is safe for concurrent use: what
// several sessions want at the same time is computed as one batch, with all
// threads, and each gets the bits that it would get alone.
type Model struct {
	config *Config
	ck     *checkpoint.Checkpoint
	tok    *bpe.Tokenizer
	info   Info

	scheduler *scheduler
	closed    atomic.Bool
}

// Open opens a model: a folder as Hugging Face lays it out (config.json,
// tokenizer.json or vocab.json and merges.txt, one or several .safetensors
// files), a .safetensors file in such a folder, or a .gguf file.
func Open(path string, opts *Options) (*Model, error) {
	o, isa, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	ck, err := checkpoint.Open(path, &checkpoint.Options{Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	return load(ck, o, isa)
}

// Load opens the model folder that is the root of fsys, as Open does. Files of
// os.DirFS are mapped; those of other file systems are read into memory.
func Load(fsys fs.FS, opts *Options) (*Model, error) {
	o, isa, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	ck, err := checkpoint.OpenFS(fsys, &checkpoint.Options{Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	return load(ck, o, isa)
}

// The values of Options.Activations.
const (
	exactActivations = "exact"
	int8Activations  = "int8"
)

// maxThreads bounds Options.Threads, so that a typing error starts no army.
const maxThreads = 1024

func (o *Options) resolve() (Options, simd.ISA, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Threads < 0 || r.Threads > maxThreads {
		return r, 0, fmt.Errorf("%w: Threads is %d, expected 0 to %d", ErrOptions, r.Threads, maxThreads)
	}
	if r.Memory > safetensors.Huge {
		return r, 0, fmt.Errorf("%w: Memory is %v", ErrOptions, r.Memory)
	}
	if r.Activations == "" {
		r.Activations = exactActivations
	}
	if r.Activations != exactActivations && r.Activations != int8Activations {
		return r, 0, fmt.Errorf("%w: Activations is %q, expected %q or %q", ErrOptions, r.Activations, exactActivations, int8Activations)
	}
	if r.Threads == 0 {
		r.Threads = parallel.Processors()
	}
	isa, err := simd.ParseISA(r.ISA)
	if err != nil {
		return r, 0, fmt.Errorf("%w: ISA: %w", ErrOptions, err)
	}
	return r, isa, nil
}

func load(ck *checkpoint.Checkpoint, o Options, isa simd.ISA) (m *Model, err error) {
	defer func() {
		if err != nil {
			ck.Close()
		}
	}()
	m = &Model{ck: ck}
	// The tokenizer is parsed while the tensors are found.
	tokenizer := make(chan error, 1)
	go func() {
		var err error
		m.tok, err = ck.Tokenizer()
		tokenizer <- err
	}()
	w, err := m.loadWeights()
	if terr := <-tokenizer; err == nil {
		err = terr
	}
	if err != nil {
		return nil, err
	}
	if m.tok.VocabSize() > m.config.VocabSize {
		return nil, fmt.Errorf("%w: the tokenizer has %d ids, vocab_size of config.json is %d", ErrConfig, m.tok.VocabSize(), m.config.VocabSize)
	}
	e, err := newEngine(m.config, w, isa, o.Threads)
	if err != nil {
		return nil, err
	}
	m.info = Info{Info: ck.Info(), ISA: isa.String(), Threads: e.pool.Size(), Memory: ck.Info().Memory, Activations: exactActivations}
	if o.Activations == int8Activations && w.blocked() {
		e.acts.Precision = simd.Int8
		m.info.Activations = int8Activations
	}
	if o.Pin {
		if m.info.Pinned, err = ck.Pin(); err != nil {
			e.close()
			return nil, err
		}
	}
	m.scheduler = newScheduler(e)
	return m, nil
}

func (m *Model) loadWeights() (*weights, error) {
	c, err := ParseConfig(m.ck.Config(), m.ck.GenerationConfig())
	if err != nil {
		return nil, err
	}
	m.config = c
	return loadWeights(c, m.ck)
}

// Config returns the model's configuration, which must not be changed.
func (m *Model) Config() *Config { return m.config }

// Tokenizer returns the model's tokenizer.
func (m *Model) Tokenizer() *bpe.Tokenizer { return m.tok }

// Info returns how the model was loaded.
func (m *Model) Info() Info { return m.info }

// Digest returns the SHA-256 of the model's weights and configuration. It reads
// all weights when it is first called.
func (m *Model) Digest() ([32]byte, error) {
	sum, err := m.ck.Digest()
	if errors.Is(err, checkpoint.ErrClosed) {
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return sum, err
}

// Close ends the model's threads and unmaps its weights. It waits for a forward
// pass that is running; sessions that are still open return ErrClosed from then
// on. Closing twice is allowed.
func (m *Model) Close() error {
	if !m.scheduler.close() {
		return nil
	}
	m.closed.Store(true)
	return m.ck.Close()
}
