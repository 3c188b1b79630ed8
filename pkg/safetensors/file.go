package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// File is an opened checkpoint of one or several files. Its methods may be
// called from several goroutines at once; the package's comment says when
// Close may be called.
type File struct {
	shards   []shard
	entries  []entry // in file order
	byName   map[string]int
	metadata map[string]string
	size     int64
	memory   Memory
	copied   bool // a file could not be mapped and was read

	closed atomic.Bool
	mu     sync.Mutex // held by what uses the regions as such: Close, Pin, Usage
}

// shard is one .safetensors file.
type shard struct {
	name   string
	start  int64       // offset of the data section in the file
	size   int64       // its length
	data   []byte      // the data section, nil where it is read at need
	region *region     // what Close gives back, nil for memory of the caller's
	reader io.ReaderAt // where it is read at need
}

func newFile(opts *Options) *File {
	f := &File{memory: opts.memory()}
	if f.memory != Mapped && !canMap {
		f.memory = Private // on the heap
	}
	return f
}

// add appends a file and its tensors.
func (f *File) add(s shard, h *header) {
	for _, e := range h.entries {
		e.shard = len(f.shards)
		f.entries = append(f.entries, e)
	}
	if f.metadata == nil && h.metadata != nil {
		f.metadata = make(map[string]string)
	}
	for k, v := range h.metadata {
		if _, ok := f.metadata[k]; !ok {
			f.metadata[k] = v
		}
	}
	f.size += s.size
	f.shards = append(f.shards, s)
}

// finish makes the table of names when all shards are there.
func (f *File) finish() {
	f.byName = make(map[string]int, len(f.entries))
	for i, e := range f.entries {
		f.byName[e.name] = i
	}
	if f.copied && f.memory == Mapped {
		f.memory = Private
	}
}

// release gives the memory back.
func (f *File) release() error {
	var errs []error
	for i := range f.shards {
		if m := f.shards[i].region; m != nil {
			errs = append(errs, m.close())
		}
	}
	return errors.Join(errs...)
}

// Close gives the memory of the tensors back; the package's comment says what
// that means for Tensors still in use. A second Close does nothing and returns
// [ErrClosed].
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Swap(true) {
		return ErrClosed
	}
	if err := f.release(); err != nil {
		return fmt.Errorf("safetensors: close: %w", err)
	}
	return nil
}

// lookup returns the entry of a name.
func (f *File) lookup(name string) (*entry, *shard, error) {
	if f.closed.Load() {
		return nil, nil, ErrClosed
	}
	i, ok := f.byName[name]
	if !ok {
		return nil, nil, fmt.Errorf("safetensors: %w: %s", ErrNotFound, quote(name))
	}
	e := &f.entries[i]
	return e, &f.shards[e.shard], nil
}

// Tensor returns a tensor. Its Data points into the mapping, or is newly read
// if the File came from [NewReader]. Errors: [ErrNotFound], [ErrClosed] and
// what reading gives.
func (f *File) Tensor(name string) (Tensor, error) {
	e, s, err := f.lookup(name)
	if err != nil {
		return Tensor{}, err
	}
	t := Tensor{Name: e.name, DType: e.dtype, Shape: slices.Clone(e.shape)}
	if s.reader == nil {
		t.Data = s.data[e.begin:e.end:e.end]
		return t, nil
	}
	if t.Data, err = s.read(e); err != nil {
		return Tensor{}, fmt.Errorf("safetensors: tensor %s: %w", quote(name), err)
	}
	return t, nil
}

// read reads the data of a tensor.
func (s *shard) read(e *entry) ([]byte, error) {
	const most = min(1<<46, math.MaxInt) // make panics beyond the address space
	if e.end-e.begin > most {
		return nil, fmt.Errorf("%w: %d bytes (File.Reader streams them)", ErrTooLarge, e.end-e.begin)
	}
	data := make([]byte, e.end-e.begin)
	if len(data) == 0 {
		return data, nil
	}
	n, err := s.reader.ReadAt(data, s.start+int64(e.begin))
	if n == len(data) {
		return data, nil
	}
	return nil, cutShort(err, int64(n), int64(len(data)))
}

// Reader returns a reader of a tensor's data, without taking memory for it.
// Errors: [ErrNotFound], [ErrClosed].
func (f *File) Reader(name string) (*io.SectionReader, error) {
	e, s, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	if s.reader == nil {
		return io.NewSectionReader(bytes.NewReader(s.data[e.begin:e.end]), 0, int64(e.end-e.begin)), nil
	}
	return io.NewSectionReader(s.reader, s.start+int64(e.begin), int64(e.end-e.begin)), nil
}

// Info is what a header says of a tensor, without its data.
type Info struct {
	Name  string
	DType DType
	Shape []uint64
	// Bytes is the length of the data.
	Bytes int64
	// File is the name of the shard, or of the file as it was opened; it is
	// empty for [Parse] and [NewReader].
	File string
	// Offset is where the data begins in that file.
	Offset int64
}

// Stat returns what is known of a tensor without reading its data. Errors:
// [ErrNotFound], [ErrClosed].
func (f *File) Stat(name string) (Info, error) {
	e, s, err := f.lookup(name)
	if err != nil {
		return Info{}, err
	}
	return Info{
		Name: e.name, DType: e.dtype, Shape: slices.Clone(e.shape),
		Bytes: int64(e.end - e.begin), File: s.name, Offset: s.start + int64(e.begin),
	}, nil
}

// Names returns the tensors' names in the order of their data, shard by shard.
func (f *File) Names() []string {
	names := make([]string, len(f.entries))
	for i := range f.entries {
		names[i] = f.entries[i].name
	}
	return names
}

// Tensors iterates over all tensors in the order of [File.Names]. After an
// error it ends.
func (f *File) Tensors() iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		for i := range f.entries {
			t, err := f.Tensor(f.entries[i].name)
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// Sources returns all tensors as [Write] takes them. Data that is not in
// memory is streamed when it is written.
func (f *File) Sources() []Source {
	sources := make([]Source, len(f.entries))
	for i := range f.entries {
		e := &f.entries[i]
		sources[i] = Source{
			Name: e.name, DType: e.dtype, Shape: slices.Clone(e.shape),
			Write: func(w io.Writer) error {
				r, err := f.Reader(e.name)
				if err != nil {
					return err
				}
				_, err = io.Copy(w, r)
				return err
			},
		}
	}
	return sources
}

// Metadata returns a copy of the header's __metadata__, nil if there is none.
// Where shards disagree on a key, the first shard's value is taken.
func (f *File) Metadata() map[string]string { return maps.Clone(f.metadata) }

// Size returns the length of all tensors' data in bytes.
func (f *File) Size() int64 { return f.size }

// Memory returns where the data lies: what was asked for, or Private where a
// file could not be mapped (another fs.FS, a system without mmap).
func (f *File) Memory() Memory { return f.memory }

// regions returns the memory that this package mapped.
func (f *File) regions() []*region {
	var all []*region
	for i := range f.shards {
		if m := f.shards[i].region; m != nil {
			all = append(all, m)
		}
	}
	return all
}

// Usage asks the system what the checkpoint takes of the process's memory. It
// is zero for data that this package did not map. Errors: [ErrClosed], and
// [errors.ErrUnsupported] on systems other than Linux.
func (f *File) Usage() (Usage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return Usage{}, ErrClosed
	}
	u, err := usage(f.regions())
	if err != nil {
		return Usage{}, fmt.Errorf("safetensors: usage: %w", err)
	}
	return u, nil
}
