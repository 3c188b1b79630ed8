package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A mixture of sizes, in an order that would misalign most tensors.
func mixture() []Source {
	var sources []Source
	for i, c := range []struct {
		d     DType
		shape []uint64
	}{
		{U8, []uint64{3}}, {F32, []uint64{16}}, {BF16, []uint64{5}}, {F64, []uint64{1}}, {F4, []uint64{2}},
		{F32, []uint64{576, 3}}, {F6_E3M2, []uint64{4}}, {C64, []uint64{3}}, {BOOL, nil}, {F16, []uint64{33}},
		{I64, []uint64{0, 7}}, {U32, []uint64{1, 1}}, {F8_E4M3, []uint64{64}}, {U16, []uint64{1}},
	} {
		size, err := c.d.Bytes(c.shape)
		if err != nil {
			panic(err)
		}
		sources = append(sources, Source{
			Name: fmt.Sprintf("t%02d", i), DType: c.d, Shape: c.shape, Data: bytesUpTo(int(size) + i)[i:],
		})
	}
	return sources
}

// checkSame compares a file's tensors with what was written.
func checkSame(t testing.TB, f *File, sources []Source) {
	t.Helper()
	got := tensors(t, f)
	if len(got) != len(sources) {
		t.Errorf("%d tensors, want %d", len(got), len(sources))
	}
	for _, s := range sources {
		want := Tensor{Name: s.Name, DType: s.DType, Shape: append([]uint64{}, s.Shape...), Data: append([]byte{}, s.Data...)}
		if diff := cmp.Diff(want, got[s.Name]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEncodeAligns(t *testing.T) {
	sources := mixture()
	var b bytes.Buffer
	if err := Encode(&b, sources, nil, nil); err != nil {
		t.Fatal(err)
	}
	f, err := Parse(b.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, f, sources)
	for _, s := range sources {
		info, err := f.Stat(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(max(s.DType.Bits()/8, 1))
		if info.Bytes%64 == 0 {
			want = 64
		}
		if info.Offset%want != 0 {
			t.Errorf("%v %v at %d, want a multiple of %d", s.DType, s.Shape, info.Offset, want)
		}
	}
	// Tensors of 64-byte multiples keep their order, which is the order of use.
	if diff := cmp.Diff([]string{"t01", "t05", "t10", "t12"}, f.Names()[:4]); diff != "" {
		t.Error(diff)
	}
}

func TestEncodeKeepsOrder(t *testing.T) {
	sources := mixture()
	var b bytes.Buffer
	if err := Encode(&b, sources, nil, &WriteOptions{KeepOrder: true}); err != nil {
		t.Fatal(err)
	}
	f, err := Parse(b.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, f, sources)
	names := f.Names()
	for i, s := range sources {
		if names[i] != s.Name && len(s.Data) > 0 { // an empty tensor may trade places
			t.Errorf("%d: %s, want %s", i, names[i], s.Name)
		}
	}
}

// The bytes are the same every time, and encoding/json reads the header alike.
func TestEncodeHeader(t *testing.T) {
	sources := []Source{
		{Name: "a\"\\\n\x00é😀/", DType: F32, Shape: []uint64{1, 1}, Data: make([]byte, 4)},
		{Name: "", DType: U8, Data: []byte{1}},
	}
	metadata := map[string]string{"format": "pt", "": "", "é\t": "\x1f\u007f\u2028", "a": "b", "c": "d"}
	var first []byte
	for range 10 {
		var b bytes.Buffer
		if err := Encode(&b, sources, metadata, nil); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatal("the bytes change")
		}
	}
	f, err := Parse(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, f, sources)
	if diff := cmp.Diff(metadata, f.Metadata()); diff != "" {
		t.Error(diff)
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(first[8:len(first)-5], &header); err != nil {
		t.Fatal(err)
	}
	if len(header) != 3 || header[sources[0].Name] == nil || header[metadataKey] == nil {
		t.Error(header)
	}
}

func TestEncodeMetadata(t *testing.T) {
	for _, c := range []struct {
		metadata map[string]string
		want     string
	}{
		{nil, `{}`},
		{map[string]string{}, `{"__metadata__":{}}`},
		{map[string]string{"b": "2", "a": "1"}, `{"__metadata__":{"a":"1","b":"2"}}`},
	} {
		var b bytes.Buffer
		if err := Encode(&b, nil, c.metadata, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimRight(b.String()[8:], " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		f, err := Parse(b.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.metadata, f.Metadata()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	ok := Source{Name: "ok", DType: U8, Shape: []uint64{2}, Data: []byte("ab")}
	write := func(chunks ...string) func(io.Writer) error {
		return func(w io.Writer) error {
			for _, c := range chunks {
				if _, err := io.WriteString(w, c); err != nil {
					return err
				}
			}
			return nil
		}
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		source  Source
		want    error
		message string
	}{
		{"same name", ok, ErrDuplicateKey, `tensor "ok"`},
		{"reserved name", Source{Name: "__metadata__", DType: U8, Shape: []uint64{0}}, ErrName, ""},
		{"name not UTF-8", Source{Name: "\xff", DType: U8, Shape: []uint64{0}}, ErrName, `tensor "\xff"`},
		{"no dtype", Source{Name: "t"}, ErrDType, `tensor "t"`},
		{"overflow", Source{Name: "t", DType: U8, Shape: []uint64{1 << 32, 1 << 32}}, ErrOverflow, `tensor "t"`},
		{"partial byte", Source{Name: "t", DType: F4, Shape: []uint64{3}, Data: make([]byte, 2)}, ErrPartialByte, `tensor "t"`},
		{"data too short", Source{Name: "t", DType: F32, Shape: []uint64{2}, Data: make([]byte, 7)}, ErrSize, "takes 8 bytes, Data has 7"},
		{"data too long", Source{Name: "t", DType: F32, Shape: []uint64{2}, Data: make([]byte, 9)}, ErrSize, "takes 8 bytes, Data has 9"},
		{"no data", Source{Name: "t", DType: F32}, ErrSize, ""},
		{"wrote too little", Source{Name: "t", DType: U8, Shape: []uint64{4}, Write: write("a", "bc")}, ErrSize, "takes 4 bytes, Write gave 3"},
		{"wrote nothing", Source{Name: "t", DType: U8, Shape: []uint64{4}, Write: write()}, ErrSize, "Write gave 0"},
		{"wrote too much", Source{Name: "t", DType: U8, Shape: []uint64{4}, Write: write("abc", "de")}, ErrSize, "1 bytes too many"},
		{"writing failed", Source{Name: "t", DType: U8, Shape: []uint64{4}, Write: func(io.Writer) error { return broken }}, broken, `tensor "t"`},
		{"total overflow", Source{Name: "t", DType: U8, Shape: []uint64{math.MaxUint64 / 8}, Write: write()}, ErrSize, ""},
	} {
		sources := []Source{ok, c.source}
		err := Encode(io.Discard, sources, nil, nil)
		if !errors.Is(err, c.want) || err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v, want %v … %s", c.name, err, c.want, c.message)
		}
		// Write leaves the old file and nothing else.
		dir := t.TempDir()
		path := writeFile(t, dir, "m.safetensors", []byte("old"))
		if err := Write(path, sources, nil, nil); !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Write: %v", c.name, err)
		}
		if err := Write(path, sources, nil, &WriteOptions{MaxShard: 2}); !errors.Is(err, c.want) {
			t.Errorf("%s: Write of shards: %v", c.name, err)
		}
		checkFolder(t, dir, "m.safetensors")
		if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
			t.Errorf("%s: the old file holds %q, %v", c.name, text, err)
		}
	}
	for _, metadata := range []map[string]string{{"\xff": ""}, {"a": "\xff"}} {
		if err := Encode(io.Discard, nil, metadata, nil); !errors.Is(err, ErrName) {
			t.Error(err)
		}
	}
	if err := Encode(io.Discard, []Source{ok}, nil, &WriteOptions{MaxHeader: 55}); !errors.Is(err, ErrHeaderTooLarge) {
		t.Error(err)
	}
	if err := Encode(io.Discard, []Source{ok}, nil, &WriteOptions{MaxHeader: 56}); err != nil {
		t.Error(err)
	}
	full := &limited{left: 20}
	if err := Encode(full, []Source{ok}, nil, nil); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

// The sum of sizes that are each possible does not.
func TestEncodeTotalOverflows(t *testing.T) {
	var sources []Source
	for i := range 9 {
		sources = append(sources, Source{
			Name: fmt.Sprint(i), DType: U8, Shape: []uint64{math.MaxUint64 / 8},
			Write: func(io.Writer) error { return nil },
		})
	}
	if err := Encode(io.Discard, sources, nil, nil); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
}

// limited takes left bytes.
type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// checkFolder compares the names in a folder.
func checkFolder(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWritePanics(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, dir, "m.safetensors", []byte("old"))
	source := Source{Name: "t", DType: U8, Shape: []uint64{4}, Write: func(w io.Writer) error {
		_, _ = w.Write([]byte("ab"))
		panic("source")
	}}
	func() {
		defer func() {
			if r := recover(); r != "source" {
				t.Errorf("recovered %v", r)
			}
		}()
		_ = Write(path, []Source{source}, nil, nil)
	}()
	checkFolder(t, dir, "m.safetensors")
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("the old file holds %q, %v", text, err)
	}
}

// Tensors are streamed: a Source may write in pieces, and sees nothing of path
// before all are done.
func TestWriteStreams(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	const size, piece = 5 << 20, 10_000
	content := bytesUpTo(size)
	source := Source{Name: "t", DType: U8, Shape: []uint64{size}, Write: func(w io.Writer) error {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is there before it is complete: %v", err)
		}
		for at := 0; at < size; at += piece {
			if _, err := w.Write(content[at:min(at+piece, size)]); err != nil {
				return err
			}
		}
		return nil
	}}
	before := totalAlloc()
	if err := Write(path, []Source{source}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if grown := totalAlloc() - before; grown > 1<<20 {
		t.Errorf("%d bytes allocated for a tensor of %d", grown, size)
	}
	f, err := closing(t)(Open(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	if tensor, err := f.Tensor("t"); err != nil || !bytes.Equal(tensor.Data, content) {
		t.Error("content changed", err)
	}
	checkFolder(t, dir, "m.safetensors")
}

// What is read from a reader is streamed from it.
func TestSourcesOfReader(t *testing.T) {
	var one, two bytes.Buffer
	if err := Encode(&one, mixture(), nil, nil); err != nil {
		t.Fatal(err)
	}
	f, err := NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Encode(&two, f.Sources(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("written again, the file differs")
	}
}

func TestTensorSource(t *testing.T) {
	sources := mixture()
	for _, s := range sources {
		tensor := Tensor{s.Name, s.DType, s.Shape, s.Data}
		if diff := cmp.Diff(s, tensor.Source()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWriteShards(t *testing.T) {
	sources := mixture()
	metadata := map[string]string{"format": "pt"}
	for _, c := range []struct {
		limit  int64
		shards int
	}{{1 << 40, 0}, {7300, 0}, {7000, 2}, {100, 4}, {1, 13}} {
		dir := t.TempDir()
		path := filepath.Join(dir, singleName)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, sources, metadata, &WriteOptions{MaxShard: c.limit}); err != nil {
			t.Fatal(err)
		}
		if c.shards == 0 {
			checkFolder(t, dir, singleName)
		} else {
			var want []string
			for i := range c.shards {
				want = append(want, fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, c.shards))
			}
			checkFolder(t, dir, append(want, indexName)...)
		}
		f, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, f, sources)
		if diff := cmp.Diff(metadata, f.Metadata()); diff != "" {
			t.Error(diff)
		}
		for _, s := range sources { // every shard by itself within the limit
			info, err := f.Stat(s.Name)
			if err != nil {
				t.Fatal(err)
			}
			if c.shards > 0 {
				shard, err := Open(filepath.Join(dir, info.File), nil)
				if err != nil {
					t.Fatal(err)
				}
				if shard.Size() > c.limit && info.Bytes > 0 && shard.Size() > info.Bytes {
					t.Errorf("%s holds %d bytes, the limit is %d", info.File, shard.Size(), c.limit)
				}
				shard.Close()
			}
		}
		f.Close()
	}
}

// The index is what Hugging Face's tools write, and JSON.
func TestWriteIndex(t *testing.T) {
	dir := t.TempDir()
	sources := []Source{
		{Name: "b\"", DType: U8, Shape: []uint64{3}, Data: []byte("abc")},
		{Name: "a", DType: U8, Shape: []uint64{2}, Data: []byte("de")},
	}
	if err := Write(filepath.Join(dir, "x.safetensors"), sources, nil, &WriteOptions{MaxShard: 3}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "x.safetensors.index.json"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "metadata": {
    "total_size": 5
  },
  "weight_map": {
    "a": "x-00002-of-00002.safetensors",
    "b\"": "x-00001-of-00002.safetensors"
  }
}
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// Shards written over the shards that are their source.
func TestWriteShardsOverOwnMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), singleName)
	sources := mixture()
	opts := &WriteOptions{MaxShard: 100}
	if err := Write(path, sources, nil, opts); err != nil {
		t.Fatal(err)
	}
	f, err := closing(t)(Open(filepath.Dir(path), nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, f.Sources(), nil, opts); err != nil {
		t.Fatal(err)
	}
	again, err := closing(t)(Open(filepath.Dir(path), nil))
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, f, sources)
	checkSame(t, again, sources)
}

// A folder in the place of a shard, of the index or of path itself is refused
// before anything is replaced.
func TestWriteShardsRefuses(t *testing.T) {
	for _, blocked := range []string{"model-00002-of-00004.safetensors", indexName, singleName} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, blocked), 0o755); err != nil {
			t.Fatal(err)
		}
		err := Write(filepath.Join(dir, singleName), mixture(), nil, &WriteOptions{MaxShard: 100})
		if !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", blocked, err)
		}
		checkFolder(t, dir, blocked)
	}
	dir := t.TempDir()
	err := Write(filepath.Join(dir, singleName), mixture(), nil, &WriteOptions{MaxShard: 100, MaxHeader: 100})
	if !errors.Is(err, ErrHeaderTooLarge) {
		t.Error(err)
	}
	checkFolder(t, dir)
}

func TestWriteNoFolder(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "none", "m.safetensors"), nil, nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
