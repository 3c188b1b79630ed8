package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// raw returns the bytes of a file with this header and data.
func raw(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// opener opens the bytes of a file in one of the ways there are.
type opener struct {
	name string
	open func(t testing.TB, data []byte, opts *Options) (*File, error)
}

// openers are all of them.
var openers = []opener{
	{"Parse", func(_ testing.TB, data []byte, opts *Options) (*File, error) { return Parse(data, opts) }},
	{"NewReader", func(_ testing.TB, data []byte, opts *Options) (*File, error) {
		return NewReader(bytes.NewReader(data), int64(len(data)), opts)
	}},
	{"Open", func(t testing.TB, data []byte, opts *Options) (*File, error) {
		return closing(t)(Open(writeFile(t, t.TempDir(), "m.safetensors", data), opts))
	}},
	{"OpenFS", func(t testing.TB, data []byte, opts *Options) (*File, error) {
		dir := t.TempDir()
		writeFile(t, dir, singleName, data)
		return closing(t)(OpenFS(os.DirFS(dir), ".", opts))
	}},
}

// closing closes the file when the test ends.
func closing(t testing.TB) func(*File, error) (*File, error) {
	return func(f *File, err error) (*File, error) {
		if err == nil {
			t.Cleanup(func() { f.Close() })
		}
		return f, err
	}
}

func writeFile(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

// tensors returns all tensors of f by name, their data copied.
func tensors(t testing.TB, f *File) map[string]Tensor {
	t.Helper()
	all := make(map[string]Tensor)
	for tensor, err := range f.Tensors() {
		if err != nil {
			t.Fatal(err)
		}
		tensor.Data = append([]byte{}, tensor.Data...)
		all[tensor.Name] = tensor
	}
	return all
}

// bytesUpTo returns n bytes that differ from their neighbours.
func bytesUpTo(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}
