// Package gguftest writes small GGUF files for tests, well-formed ones and,
// piece by piece, broken ones.
package gguftest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/leveret-os/leveret/internal/ggml"
)

// Raw builds a file from its smallest parts, in little endian.
type Raw []byte

// U32 appends a uint32.
func (r Raw) U32(v uint32) Raw { return binary.LittleEndian.AppendUint32(r, v) }

// U64 appends a uint64.
func (r Raw) U64(v uint64) Raw { return binary.LittleEndian.AppendUint64(r, v) }

// Str appends a string with its length before it.
func (r Raw) Str(s string) Raw { return append(r.U64(uint64(len(s))), s...) }

// Header appends magic, version and counts.
func (r Raw) Header(version uint32, tensors, pairs uint64) Raw {
	return append(r, "GGUF"...).U32(version).U64(tensors).U64(pairs)
}

// Tensor appends the description of a tensor.
func (r Raw) Tensor(name string, t ggml.Type, offset uint64, dims ...uint64) Raw {
	r = r.Str(name).U32(uint32(len(dims)))
	for _, d := range dims {
		r = r.U64(d)
	}
	return r.U32(uint32(t)).U64(offset)
}

// Pad appends zeros up to a multiple of n bytes.
func (r Raw) Pad(n int) Raw { return append(r, make([]byte, -len(r)&(n-1))...) }

// Pair appends a key and a value with its type.
func (r Raw) Pair(key string, v any) Raw {
	r = r.Str(key)
	t, b := encode(v)
	return append(r.U32(t), b...)
}

// The numbers of the value types in the file.
const (
	tUint8 = iota
	tInt8
	tUint16
	tInt16
	tUint32
	tInt32
	tFloat32
	tBool
	tString
	tArray
	tUint64
	tInt64
	tFloat64
)

func encode(v any) (t uint32, b Raw) {
	switch v := v.(type) {
	case uint8:
		return tUint8, Raw{v}
	case int8:
		return tInt8, Raw{byte(v)}
	case uint16:
		return tUint16, binary.LittleEndian.AppendUint16(nil, v)
	case int16:
		return tInt16, binary.LittleEndian.AppendUint16(nil, uint16(v))
	case uint32:
		return tUint32, b.U32(v)
	case int32:
		return tInt32, b.U32(uint32(v))
	case float32:
		return tFloat32, b.U32(math.Float32bits(v))
	case bool:
		if v {
			return tBool, Raw{1}
		}
		return tBool, Raw{0}
	case string:
		return tString, b.Str(v)
	case uint64:
		return tUint64, b.U64(v)
	case int64:
		return tInt64, b.U64(uint64(v))
	case float64:
		return tFloat64, b.U64(math.Float64bits(v))
	case []string:
		return array(tString, v)
	case []int32:
		return array(tInt32, v)
	case []uint8:
		return array(tUint8, v)
	case []uint32:
		return array(tUint32, v)
	case []uint64:
		return array(tUint64, v)
	case []float32:
		return array(tFloat32, v)
	case []bool:
		return array(tBool, v)
	case [][]int32:
		return array(tArray, v)
	case [][]string:
		return array(tArray, v)
	}
	panic(fmt.Sprintf("gguftest: no encoding for %T", v))
}

func array[T any](element uint32, s []T) (uint32, Raw) {
	b := Raw{}.U32(element).U64(uint64(len(s)))
	for _, v := range s {
		_, e := encode(v)
		b = append(b, e...)
	}
	return tArray, b
}

// Pair is a key and a value: an integer, float32, float64, bool, string or a
// slice of those.
type Pair struct {
	Key   string
	Value any
}

// Tensor is a tensor to write. Dims are in the file's order, the length of a
// row first.
type Tensor struct {
	Name string
	Type ggml.Type
	Dims []uint64
	Data []byte
}

// File is a file to write; the zero values of Version and Alignment are 3 and
// 32.
type File struct {
	Version   uint32
	Alignment uint32
	Pairs     []Pair
	Tensors   []Tensor
}

// Set adds a pair, or changes the value of a key that is there.
func (f *File) Set(key string, value any) {
	for i := range f.Pairs {
		if f.Pairs[i].Key == key {
			f.Pairs[i].Value = value
			return
		}
	}
	f.Pairs = append(f.Pairs, Pair{key, value})
}

// Bytes returns the file.
func (f *File) Bytes() []byte {
	version, alignment := f.Version, int(f.Alignment)
	if version == 0 {
		version = 3
	}
	pairs := f.Pairs
	if alignment == 0 {
		alignment = 32
	} else {
		pairs = append(pairs[:len(pairs):len(pairs)], Pair{"general.alignment", f.Alignment})
	}
	r := Raw{}.Header(version, uint64(len(f.Tensors)), uint64(len(pairs)))
	for _, p := range pairs {
		r = r.Pair(p.Key, p.Value)
	}
	var data Raw
	for _, t := range f.Tensors {
		r = r.Tensor(t.Name, t.Type, uint64(len(data)), t.Dims...)
		data = append(data, t.Data...).Pad(alignment)
	}
	return append(r.Pad(alignment), data...)
}
