// Package gguf reads GGUF files: their metadata and where their tensors lie.
//
// Versions 2 and 3 are read, in little endian. A file is a byte slice, most
// often a mapping: nothing is copied while it is read, and every number in it
// is checked against its size before anything is allocated, so that a hostile
// file costs no more memory than its own length. Every error names the key or
// the tensor and the byte where it was found.
//
// The format is specified in docs/gguf.md of github.com/ggml-org/ggml. Where
// that page is silent the answer is llama.cpp's (ggml/src/gguf.cpp), except
// that tensors may lie in any order and with gaps between them, and that a
// tensor of a type unknown here is listed, and an error only where it is read.
package gguf

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// The limits of the format page, and our own for nesting.
const (
	maxKeyLength  = 1<<16 - 1
	maxNameLength = 64
	maxDims       = 4
	maxNesting    = 8

	defaultAlignment = 32
	alignmentKey     = "general.alignment"

	// The least number of bytes that a metadata pair and a tensor's
	// description take: a key and a name of one letter.
	minPairBytes   = 8 + 1 + 4 + 1
	minTensorBytes = 8 + 1 + 4 + 4 + 8
)

// File is the contents of a GGUF file. It is not changed once it is parsed and
// may be used from several goroutines.
type File struct {
	version    uint32
	alignment  uint64
	dataOffset uint64
	data       []byte

	keys    []string
	values  map[string]Value
	tensors []Tensor
	byName  map[string]int
}

// Parse reads a file. The file's metadata and tensors point into data, which
// must not change and must stay mapped as long as they are used.
func Parse(data []byte) (*File, error) {
	r := &reader{data: data}
	f := &File{data: data, alignment: defaultAlignment}
	tensors, pairs, err := f.readHeader(r)
	if err != nil {
		return nil, err
	}
	if err := f.readMetadata(r, pairs); err != nil {
		return nil, err
	}
	if err := f.readAlignment(); err != nil {
		return nil, err
	}
	if err := f.readTensors(r, tensors); err != nil {
		return nil, err
	}
	// A position inside data plus an alignment below 2³² does not overflow.
	f.dataOffset = (uint64(r.pos) + f.alignment - 1) &^ (f.alignment - 1)
	if err := f.placeTensors(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) readHeader(r *reader) (tensors, pairs uint64, err error) {
	magic, err := r.bytes(4)
	if err != nil {
		return 0, 0, fmt.Errorf("gguf: magic: %w", err)
	}
	if string(magic) != "GGUF" {
		return 0, 0, fmt.Errorf("gguf: %w: %q at byte 0, want %q", ErrMagic, magic, "GGUF")
	}
	if f.version, err = r.uint32(); err != nil {
		return 0, 0, fmt.Errorf("gguf: version: %w", err)
	}
	switch {
	case f.version == 2, f.version == 3:
	case f.version != 0 && f.version&0xffff == 0:
		return 0, 0, fmt.Errorf("gguf: %w: version %d at byte 4, %#08x as it is read here", ErrBigEndian, bits.ReverseBytes32(f.version), f.version)
	default:
		return 0, 0, fmt.Errorf("gguf: %w: version %d at byte 4, want 2 or 3", ErrVersion, f.version)
	}
	if tensors, err = r.count("tensors", minTensorBytes); err != nil {
		return 0, 0, err
	}
	if pairs, err = r.count("metadata pairs", minPairBytes); err != nil {
		return 0, 0, err
	}
	return tensors, pairs, nil
}

func (f *File) readMetadata(r *reader, pairs uint64) error {
	f.values = make(map[string]Value)
	for i := range pairs {
		at := r.pos
		key, err := r.name(maxKeyLength)
		if err != nil {
			return fmt.Errorf("gguf: key %d at byte %d: %w", i, at, err)
		}
		if _, ok := f.values[key]; ok {
			return fmt.Errorf("gguf: %w: key %q a second time at byte %d", ErrDuplicate, key, at)
		}
		at = r.pos
		v, err := r.value()
		if err != nil {
			return fmt.Errorf("gguf: value of key %q at byte %d: %w", key, at, err)
		}
		f.keys = append(f.keys, key)
		f.values[key] = v
	}
	return nil
}

func (f *File) readAlignment() error {
	v, ok := f.values[alignmentKey]
	if !ok {
		return nil
	}
	if v.kind != Uint32 {
		return fmt.Errorf("gguf: %w: key %q is %v, want %v", ErrValueType, alignmentKey, v.kind, Uint32)
	}
	a, _ := v.Uint()
	if a == 0 || a&(a-1) != 0 {
		return fmt.Errorf("gguf: %w: key %q is %d, want a power of two", ErrAlignment, alignmentKey, a)
	}
	f.alignment = a
	return nil
}

func (f *File) readTensors(r *reader, tensors uint64) error {
	f.byName = make(map[string]int)
	for i := range tensors {
		at := r.pos
		name, err := r.name(maxNameLength)
		if err != nil {
			return fmt.Errorf("gguf: name of tensor %d at byte %d: %w", i, at, err)
		}
		if _, ok := f.byName[name]; ok {
			return fmt.Errorf("gguf: %w: tensor %q a second time at byte %d", ErrDuplicate, name, at)
		}
		t, err := r.tensor(name)
		if err != nil {
			return fmt.Errorf("gguf: tensor %q at byte %d: %w", name, at, err)
		}
		if t.Offset%f.alignment != 0 {
			return fmt.Errorf("gguf: tensor %q at byte %d: %w: offset %d, want a multiple of %d", name, at, ErrAlignment, t.Offset, f.alignment)
		}
		f.byName[name] = len(f.tensors)
		f.tensors = append(f.tensors, t)
	}
	return nil
}

// placeTensors turns offsets into positions in the file and checks that the
// tensors lie inside it and apart from each other. Of a type of unknown size
// only the start is checked.
func (f *File) placeTensors() error {
	order := make([]int, 0, len(f.tensors))
	size := uint64(len(f.data))
	for i := range f.tensors {
		t := &f.tensors[i]
		start, carry := bits.Add64(f.dataOffset, t.Offset, 0)
		end, carry2 := bits.Add64(start, t.Bytes, 0)
		// An empty tensor at the very end may start beyond missing padding.
		if carry|carry2 != 0 || end > size && t.Bytes > 0 || !t.sized && start > size {
			return fmt.Errorf("gguf: tensor %q: %w: %d bytes at offset %d of the data at byte %d, the file ends at %d",
				t.Name, ErrTruncated, t.Bytes, t.Offset, f.dataOffset, size)
		}
		t.Offset = start
		if t.Bytes > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.tensors[a].Offset, f.tensors[b].Offset) })
	for i := 1; i < len(order); i++ {
		a, b := &f.tensors[order[i-1]], &f.tensors[order[i]]
		if a.Offset+a.Bytes > b.Offset {
			return fmt.Errorf("gguf: %w: tensor %q is bytes %d to %d, tensor %q starts at %d",
				ErrOverlap, a.Name, a.Offset, a.Offset+a.Bytes, b.Name, b.Offset)
		}
	}
	return nil
}

// Version returns the version of the format, 2 or 3.
func (f *File) Version() uint32 { return f.version }

// Alignment returns the alignment of the tensors in bytes, a power of two.
func (f *File) Alignment() uint64 { return f.alignment }

// DataOffset returns the byte where the tensors' data starts.
func (f *File) DataOffset() uint64 { return f.dataOffset }

// Keys returns the keys of the metadata in the file's order.
func (f *File) Keys() []string { return slices.Clone(f.keys) }

// Value returns the value of a key, and whether there is one.
func (f *File) Value(key string) (Value, bool) {
	v, ok := f.values[key]
	return v, ok
}
