package gguf_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/gguf"
	"github.com/leveret-os/leveret/internal/gguf/gguftest"
)

// The kinds of tests/test-gguf.cpp in github.com/ggml-org/llama.cpp, and more
// of their sort. Where a kind is right there and wrong here, or the other way
// round, the comment says so.
var hostile = []struct {
	name string
	data gguftest.Raw
	want error
	text string // in the error besides
}{
	{"empty file", gguftest.Raw{}, gguf.ErrTruncated, "magic"},
	{"short magic", gguftest.Raw("GGU"), gguf.ErrTruncated, "magic"},
	{"header: bad magic", gguftest.Raw("FUGG").U32(3).U64(0).U64(0), gguf.ErrMagic, `"FUGG"`},
	{"header: magic of version 0 files", gguftest.Raw("GGUX").U32(3).U64(0).U64(0), gguf.ErrMagic, `"GGUX"`},
	{"header: version 0", gguftest.Raw{}.Header(0, 0, 0), gguf.ErrVersion, "version 0"},
	{"header: version 1", gguftest.Raw{}.Header(1, 0, 0), gguf.ErrVersion, "version 1"},
	{"header: future version", gguftest.Raw{}.Header(4, 0, 0), gguf.ErrVersion, "version 4"},
	{"header: big endian", gguftest.Raw{}.Header(0x03000000, 0, 0), gguf.ErrBigEndian, "version 3"},
	{"header: number of tensors", gguftest.Raw{}.Header(3, math.MaxUint64, 0), gguf.ErrTruncated, "18446744073709551615 tensors at byte 8"},
	{"header: number of pairs", gguftest.Raw{}.Header(3, 0, math.MaxUint64), gguf.ErrTruncated, "18446744073709551615 metadata pairs at byte 16"},
	{"header: more tensors than bytes", gguftest.Raw{}.Header(3, 5, 0).Pad(64), gguf.ErrTruncated, "5 tensors"},
	{"header: cut", gguftest.Raw{}.Header(3, 0, 0)[:20], gguf.ErrTruncated, "metadata pairs"},

	{"pair: key size", header(0, 1).U64(math.MaxUint64).Pad(64), gguf.ErrTruncated, "key 0 at byte 24"},
	{"pair: key size 2^60", header(0, 1).U64(1 << 60).Pad(64), gguf.ErrTruncated, "1152921504606846976 bytes"},
	{"pair: empty key", header(0, 1).Pair("", uint32(1)).Pad(64), gguf.ErrName, "key 0"},
	{"pair: long key", header(0, 1).Pair(strings.Repeat("k", 1<<16), uint32(1)), gguf.ErrName, "65536 bytes"},
	{"pair: type", header(0, 1).Str("k").U32(13).U64(0), gguf.ErrValue, "type 13 at byte 33"},
	{"pair: negative type", header(0, 1).Str("k").U32(math.MaxUint32).U64(0), gguf.ErrValue, "type 4294967295"},
	{"pair: string length 2^60", header(0, 1).Str("k").U32(8).U64(1 << 60), gguf.ErrTruncated, `key "k"`},
	{"pair: array length", header(0, 1).Str("k").U32(9).U32(4).U64(1 << 62), gguf.ErrTruncated, "4611686018427387904 values of type uint32"},
	{"pair: array length wraps", header(0, 1).Str("k").U32(9).U32(10).U64(1 << 61), gguf.ErrTruncated, "2305843009213693952 values of type uint64"},
	{"pair: array of strings", header(0, 1).Str("k").U32(9).U32(8).U64(1 << 61), gguf.ErrTruncated, `key "k"`},
	{"pair: array of unknown", header(0, 1).Str("k").U32(9).U32(99).U64(0), gguf.ErrValue, "type 99"},
	{"pair: deep arrays", deepArray(9), gguf.ErrValue, "nested more than 8 deep"},
	{"pair: bool", header(0, 1).Str("k").U32(7).U32(2), gguf.ErrValue, "bool 2 at byte 37"},
	{"pair: array of bools", header(0, 1).Str("k").U32(9).U32(7).U64(2).U32(0x0301), gguf.ErrValue, "bool 3 at byte 50"},
	{"pair: cut value", header(0, 1).Str("key").U32(10).U32(0), gguf.ErrTruncated, `key "key"`},
	{"pair: duplicate", header(0, 2).Pair("k", uint32(1)).Pair("k", uint32(1)), gguf.ErrDuplicate, `"k" a second time at byte 41`},
	{"pair: alignment 13", header(0, 1).Pair("general.alignment", uint32(13)), gguf.ErrAlignment, "13"},
	{"pair: alignment 0", header(0, 1).Pair("general.alignment", uint32(0)), gguf.ErrAlignment, "is 0"},
	{"pair: alignment of another type", header(0, 1).Pair("general.alignment", int32(32)), gguf.ErrValueType, "int32, want uint32"},

	{"tensor: long name", header(1, 0).Tensor(strings.Repeat("n", 65), ggml.F32, 0, 1), gguf.ErrName, "65 bytes"},
	{"tensor: empty name", header(1, 0).Tensor("", ggml.F32, 0, 1, 1), gguf.ErrName, "tensor 0"},
	{"tensor: 5 dimensions", header(1, 0).Tensor("t", ggml.F32, 0, 1, 1, 1, 1, 1), gguf.ErrShape, `"t" at byte 24`},
	{"tensor: 9 dimensions", header(1, 0).Tensor("t", ggml.F32, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1), gguf.ErrShape, "9 dimensions"},
	{"tensor: 2^32-1 dimensions", header(1, 0).Str("t").U32(math.MaxUint32).Pad(64), gguf.ErrShape, "4294967295 dimensions"},
	{"tensor: negative dimension", header(1, 0).Tensor("t", ggml.F32, 0, math.MaxUint64), gguf.ErrShape, "dimension 0"},
	{"tensor: elements overflow", header(1, 0).Tensor("t", ggml.F32, 0, 4*math.MaxInt32, 4*math.MaxInt32), gguf.ErrShape, "dimension 1"},
	{"tensor: elements overflow, unknown type", header(1, 0).Tensor("t", 99, 0, 4*math.MaxInt32, 4*math.MaxInt32), gguf.ErrShape, "dimension 1"},
	{"tensor: bytes overflow", header(1, 0).Tensor("t", ggml.I64, 0, 1<<31, 1<<30), gguf.ErrShape, "size in bytes"},
	{"tensor: elements wrap to 0", header(1, 0).Tensor("t", ggml.F32, 0, 1<<32, 1<<32), gguf.ErrShape, "overflow"},
	{"tensor: half a block", header(1, 0).Tensor("t", ggml.Q4_0, 0, 33, 2), gguf.ErrShape, "rows of 33 elements, the blocks of Q4_0 hold 32"},
	{"tensor: offset", header(1, 0).Tensor("t", ggml.F32, math.MaxUint64&^31, 1).Pad(64), gguf.ErrTruncated, `"t"`},
	{"tensor: offset past the end", header(1, 0).Tensor("t", ggml.F32, 1024, 1).Pad(128), gguf.ErrTruncated, "the file ends at 128"},
	{"tensor: unknown type past the end", header(1, 0).Tensor("t", 99, 1024, 1).Pad(128), gguf.ErrTruncated, "the file ends at 128"},
	{"tensor: duplicate", header(2, 0).Tensor("t", ggml.F32, 0, 8).Tensor("t", ggml.F32, 32, 8).Pad(256), gguf.ErrDuplicate, `"t" a second time`},
	{"tensor: other alignment", header(2, 0).Tensor("t", ggml.F32, 0, 1).Tensor("u", ggml.F32, 4, 1).Pad(256), gguf.ErrAlignment, `"u"`},
	{"tensor: cut", header(1, 0).Tensor("t", ggml.F32, 0, 1)[:30], gguf.ErrTruncated, "1 tensors"},
	{"tensor: second one cut", header(2, 0).Tensor("long enough for two", ggml.F32, 0, 1).Str("u").U32(1), gguf.ErrTruncated, `"u"`},

	{"data: missing", header(1, 0).Tensor("t", ggml.F32, 0, 8), gguf.ErrTruncated, `"t"`},
	{"data: short", append(header(1, 0).Tensor("t", ggml.F32, 0, 8).Pad(32), make([]byte, 31)...), gguf.ErrTruncated, "32 bytes at offset 0"},
	// llama.cpp wants every tensor right after the one before it.
	{"data: overlap", header(2, 0).Tensor("t", ggml.F32, 0, 16).Tensor("u", ggml.F32, 32, 16).Pad(512), gguf.ErrOverlap, `tensor "t" is bytes 96 to 160, tensor "u" starts at 128`},
	{"data: the same place", header(2, 0).Tensor("t", ggml.F32, 0, 8).Tensor("u", ggml.F32, 0, 8).Pad(512), gguf.ErrOverlap, `"u"`},
	{"data: sizes overflow", header(2, 0).Tensor("t", ggml.I8, 0, 0x7fffffffffffffc0).Tensor("u", ggml.I8, 0x7fffffffffffffc0, 0x7fffffffffffffc0).Pad(512), gguf.ErrTruncated, `"t"`},
}

func header(tensors, pairs uint64) gguftest.Raw { return gguftest.Raw{}.Header(3, tensors, pairs) }

// deepArray is an array in an array, n levels of them.
func deepArray(n int) gguftest.Raw {
	r := header(0, 1).Str("k").U32(9)
	for range n {
		r = r.U32(9).U64(1)
	}
	return r.U32(0).U64(0)
}

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			_, err := gguf.Parse(c.data)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %q does not name %q", err, c.text)
			}
		})
	}
}

// Every prefix of a good file is an error, never a panic, until only padding
// is cut off.
func TestTruncated(t *testing.T) {
	data := sample().Bytes()
	f, err := gguf.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	last := f.Tensors()[1]
	for n := range last.Offset + last.Bytes {
		if _, err := gguf.Parse(data[:n]); err == nil {
			t.Errorf("the first %d bytes of %d are a file", n, len(data))
		}
	}
}

// sample is a file of every value type with two tensors.
func sample() *gguftest.File {
	f := &gguftest.File{}
	for _, p := range samplePairs {
		f.Set(p.Key, p.Value)
	}
	f.Tensors = []gguftest.Tensor{
		{Name: "q", Type: ggml.Q8_0, Dims: []uint64{32, 2}, Data: seq(68)},
		{Name: "f", Type: ggml.F32, Dims: []uint64{3}, Data: seq(12)},
	}
	return f
}

var samplePairs = []gguftest.Pair{
	{Key: "u8", Value: uint8(200)}, {Key: "i8", Value: int8(-3)}, {Key: "u16", Value: uint16(65535)}, {Key: "i16", Value: int16(-300)},
	{Key: "u32", Value: uint32(1 << 31)}, {Key: "i32", Value: int32(-1)}, {Key: "f32", Value: float32(0.5)}, {Key: "bool", Value: true},
	{Key: "string", Value: "é\x00\n"}, {Key: "u64", Value: uint64(1 << 63)}, {Key: "i64", Value: int64(-1 << 63)}, {Key: "f64", Value: math.Pi},
	{Key: "strings", Value: []string{"", "a", "bc"}}, {Key: "ints", Value: []int32{-1, 2}}, {Key: "bools", Value: []bool{true, false}},
	{Key: "floats", Value: []float32{1, 2}}, {Key: "nested", Value: [][]int32{{1, 2}, {}, {3}}}, {Key: "none", Value: []uint64{}},
}

func seq(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func TestParse(t *testing.T) {
	for _, version := range []uint32{2, 3} {
		file := sample()
		file.Version = version
		data := file.Bytes()
		f, err := gguf.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if f.Version() != version || f.Alignment() != 32 {
			t.Errorf("version %d, alignment %d", f.Version(), f.Alignment())
		}
		if len(f.Keys()) != len(samplePairs) || f.Keys()[3] != "i16" {
			t.Errorf("keys %q", f.Keys())
		}
		u, err := f.Uint("u64")
		check(t, uint64(1<<63), u, err)
		u, err = f.Uint("u8")
		check(t, uint64(200), u, err)
		fl, err := f.Float("f64")
		check(t, math.Pi, fl, err)
		fl, err = f.Float("f32")
		check(t, 0.5, fl, err)
		b, err := f.Bool("bool")
		check(t, true, b, err)
		s, err := f.Text("string")
		check(t, "é\x00\n", s, err)
		ss, err := f.Strings("strings")
		check(t, []string{"", "a", "bc"}, ss, err)
		is, err := f.Ints("ints")
		check(t, []int64{-1, 2}, is, err)
		is, err = f.Ints("none")
		check(t, []int64{}, is, err)

		nested, _ := f.Value("nested")
		rows, err := nested.Values()
		if err != nil || len(rows) != 3 {
			t.Fatal(rows, err)
		}
		is, err = rows[0].Ints()
		check(t, []int64{1, 2}, is, err)

		q, raw, err := f.Data("q")
		check(t, seq(68), raw, err)
		if q.Type != ggml.Q8_0 || q.Elements() != 64 || q.Offset%32 != 0 || &raw[0] != &data[q.Offset] {
			t.Errorf("tensor %+v", q)
		}
		_, raw, err = f.Data("f")
		check(t, seq(12), raw, err)
	}
}

func check[T any](t *testing.T, want, got T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	} else if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLookupErrors(t *testing.T) {
	f, err := gguf.Parse(sample().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key  string
		get  func(string) error
		want error
	}{
		{"absent", func(k string) error { _, err := f.Uint(k); return err }, gguf.ErrNotFound},
		{"i8", func(k string) error { _, err := f.Uint(k); return err }, gguf.ErrValue},
		{"i64", func(k string) error { _, err := f.Uint(k); return err }, gguf.ErrValue},
		{"string", func(k string) error { _, err := f.Uint(k); return err }, gguf.ErrValueType},
		{"ints", func(k string) error { _, err := f.Uint(k); return err }, gguf.ErrValueType},
		{"u8", func(k string) error { _, err := f.Float(k); return err }, gguf.ErrValueType},
		{"u8", func(k string) error { _, err := f.Bool(k); return err }, gguf.ErrValueType},
		{"strings", func(k string) error { _, err := f.Text(k); return err }, gguf.ErrValueType},
		{"string", func(k string) error { _, err := f.Strings(k); return err }, gguf.ErrValueType},
		{"ints", func(k string) error { _, err := f.Strings(k); return err }, gguf.ErrValueType},
		{"strings", func(k string) error { _, err := f.Ints(k); return err }, gguf.ErrValueType},
		{"floats", func(k string) error { _, err := f.Ints(k); return err }, gguf.ErrValueType},
		{"nested", func(k string) error { _, err := f.Ints(k); return err }, gguf.ErrValueType},
		{"u8", func(k string) error { v, _ := f.Value(k); _, err := v.Values(); return err }, gguf.ErrValueType},
	} {
		if err := c.get(c.key); !errors.Is(err, c.want) {
			t.Errorf("key %q: error %v, want %v", c.key, err, c.want)
		}
	}
}

// A type that is not read here is listed, and an error where it is used, by
// its name where it has one.
func TestUnreadableTypes(t *testing.T) {
	for _, c := range []struct {
		kind ggml.Type
		name string
		size uint64
	}{{23, "IQ4_XS", 136}, {ggml.I32, "I32", 1024}, {99, "99", 0}, {math.MaxUint32, "4294967295", 0}} {
		f, err := gguf.Parse(append(header(1, 0).Tensor("t", c.kind, 0, 256).Pad(32), make([]byte, 1024)...))
		if err != nil {
			t.Fatal(err)
		}
		if x, ok := f.Tensor("t"); !ok || x.Bytes != c.size {
			t.Errorf("%s: %+v, want %d bytes", c.name, x, c.size)
		}
		_, _, err = f.Data("t")
		if !errors.Is(err, gguf.ErrTensorType) || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), `"t"`) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	f, err := gguf.Parse(header(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Data("t"); !errors.Is(err, gguf.ErrNotFound) {
		t.Errorf("absent tensor: error %v", err)
	}
}

// Kinds that are right: another alignment, a scalar, no elements, gaps, any
// order, no padding at the end.
func TestUnusual(t *testing.T) {
	f, err := gguf.Parse((&gguftest.File{Alignment: 1, Tensors: []gguftest.Tensor{
		{Name: "scalar", Type: ggml.F32, Data: seq(4)},
		{Name: "none", Type: ggml.F32, Dims: []uint64{3, 0}},
		{Name: "last", Type: ggml.I8, Dims: []uint64{3}, Data: seq(3)},
	}}).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	_, raw, err := f.Data("scalar")
	check(t, seq(4), raw, err)
	_, raw, err = f.Data("none")
	check(t, nil, raw, err)

	f, err = gguf.Parse(append(header(2, 0).Tensor("b", ggml.F32, 64, 1).Tensor("a", ggml.F32, 0, 1).Pad(32), seq(68)...))
	if err != nil {
		t.Fatal(err)
	}
	_, raw, err = f.Data("b")
	check(t, []byte{64, 65, 66, 67}, raw, err)
	_, raw, err = f.Data("a")
	check(t, []byte{0, 1, 2, 3}, raw, err)
}

func FuzzParse(f *testing.F) {
	for _, c := range hostile {
		f.Add([]byte(c.data))
	}
	f.Add(sample().Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := gguf.Parse(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "gguf: ") {
				t.Errorf("error %q", err)
			}
			return
		}
		for _, k := range file.Keys() {
			v, ok := file.Value(k)
			if !ok {
				t.Fatalf("no value of key %q", k)
			}
			_, _ = v.Uint()
			_, _ = v.Float()
			_, _ = v.Bool()
			_, _ = v.Text()
			_, _ = v.Strings()
			_, _ = v.Ints()
			if v.Type() == gguf.Array {
				if _, err := v.Values(); err != nil {
					t.Errorf("key %q: %v", k, err)
				}
			}
		}
		for _, x := range file.Tensors() {
			x, raw, err := file.Data(x.Name)
			if err == nil && uint64(len(raw)) != x.Bytes {
				t.Errorf("tensor %q: %d bytes, want %d", x.Name, len(raw), x.Bytes)
			}
		}
	})
}
