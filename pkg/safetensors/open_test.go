package safetensors

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := OpenFS(fstest.MapFS{}, ".", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty fs: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := OpenFS(os.DirFS(dir), "../x", nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("an invalid name: %v", err)
	}
	// The single file goes before the index, as in Hugging Face's loaders.
	writeFile(t, dir, indexName, []byte("broken"))
	writeFile(t, dir, singleName, shardFile(t, nil, "a"))
	f, err := closing(t)(Open(dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, f.Names()); diff != "" {
		t.Error(diff)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.safetensors"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "folder.safetensors"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder named like a file: %v", err)
	}
}

// The hub's cache is folders of symbolic links to files elsewhere.
func TestOpenSymlinks(t *testing.T) {
	blobs, snapshot := t.TempDir(), t.TempDir()
	blob := writeFile(t, blobs, "0123abcd", shardFile(t, nil, "a"))
	if err := os.Symlink(blob, filepath.Join(snapshot, "m-1.safetensors")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	writeFile(t, snapshot, indexName, []byte(`{"weight_map":{"a":"m-1.safetensors"}}`))
	f, err := closing(t)(Open(snapshot, nil))
	if err != nil {
		t.Fatal(err)
	}
	if tensor, err := f.Tensor("a"); err != nil || string(tensor.Data) != "a" {
		t.Error(tensor, err)
	}
}

func TestNotFound(t *testing.T) {
	for _, o := range openers {
		f, err := o.open(t, shardFile(t, nil, "a"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Tensor("b"); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", o.name, err)
		}
		if _, err := f.Stat("b"); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", o.name, err)
		}
		if _, err := f.Reader(""); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", o.name, err)
		}
	}
}

func TestClose(t *testing.T) {
	for _, o := range openers {
		for _, m := range []Memory{Mapped, Private, Huge} {
			f, err := o.open(t, shardFile(t, nil, "a"), &Options{Memory: m})
			if err != nil {
				t.Fatal(err)
			}
			sources := f.Sources()
			if err := f.Close(); err != nil {
				t.Errorf("%s: %v", o.name, err)
			}
			_, tensorErr := f.Tensor("a")
			_, statErr := f.Stat("a")
			_, readerErr := f.Reader("a")
			_, pinErr := f.Pin()
			_, usageErr := f.Usage()
			var iterErr error
			for _, iterErr = range f.Tensors() {
			}
			for i, err := range []error{f.Close(), tensorErr, statErr, readerErr, pinErr, usageErr, iterErr,
				Encode(io.Discard, sources, nil, nil)} {
				if !errors.Is(err, ErrClosed) || !errors.Is(err, fs.ErrClosed) {
					t.Errorf("%s: call %d after Close: %v", o.name, i, err)
				}
			}
			if len(f.Names()) != 1 || f.Size() != 1 {
				t.Errorf("%s: the header is gone", o.name)
			}
		}
	}
}

// A reader is asked for the header and the wanted tensor only.
func TestNewReaderReadsLittle(t *testing.T) {
	const header = `{"a":{"dtype":"U8","shape":[1000],"data_offsets":[0,1000]},"b":{"dtype":"U8","shape":[3],"data_offsets":[1000,1003]}}`
	content := bytesUpTo(1003)
	r := &recorder{ReaderAt: bytes.NewReader(raw(header, content...))}
	f, err := NewReader(r, int64(8+len(header)+1003), nil)
	if err != nil {
		t.Fatal(err)
	}
	start := int64(8 + len(header))
	if r.bytes > start+1 {
		t.Errorf("opening read %d bytes, the header has %d", r.bytes, start)
	}
	r.bytes = 0
	tensor, err := f.Tensor("b")
	if err != nil || !bytes.Equal(tensor.Data, content[1000:]) || r.bytes != 3 {
		t.Errorf("%v, %v after reading %d bytes", tensor, err, r.bytes)
	}
	tensor.Data[0]++ // the caller's own
	reader, err := f.Reader("b")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, content[1000:]) {
		t.Error(got, err)
	}
}

type recorder struct {
	io.ReaderAt
	bytes int64
}

func (r *recorder) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bytes += int64(n)
	return n, err
}

// Readers that fail give their own error; one that ends gives ErrTruncated.
func TestNewReaderFails(t *testing.T) {
	data := raw(`{"a":{"dtype":"U8","shape":[100],"data_offsets":[0,100]}}`, bytesUpTo(100)...)
	broken := errors.New("broken")
	for fail := range len(data) {
		for cause, want := range map[error]error{broken: broken, io.EOF: ErrTruncated, io.ErrUnexpectedEOF: ErrTruncated} {
			r := failing{data, int64(fail), cause}
			f, err := NewReader(r, int64(len(data)), nil)
			if err == nil {
				_, err = f.Tensor("a")
			}
			if !errors.Is(err, want) {
				t.Fatalf("fails at %d with %v: %v", fail, cause, err)
			}
			if _, err := NewReader(r, int64(len(data)), &Options{Memory: Private}); !errors.Is(err, want) {
				t.Fatalf("private, fails at %d with %v: %v", fail, cause, err)
			}
		}
	}
}

// failing reads data, except the byte at fail.
type failing struct {
	data []byte
	fail int64
	err  error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, f.data[off:])
	if off <= f.fail && f.fail < off+int64(n) {
		return int(f.fail - off), f.err
	}
	return n, nil
}

// A file that shrinks between its Stat and its reading is refused.
func TestShortFSFile(t *testing.T) {
	data := raw(`{"a":{"dtype":"U8","shape":[100],"data_offsets":[0,100]}}`, bytesUpTo(100)...)
	for n := range len(data) {
		fsys := lyingFS{fstest.MapFS{"m.safetensors": {Data: data[:n]}}, int64(len(data))}
		if _, err := OpenFS(fsys, "m.safetensors", nil); !errors.Is(err, ErrTruncated) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	index := lyingFS{fstest.MapFS{"m.index.json": {Data: []byte("{}")}}, 50_000_000}
	if _, err := OpenFS(index, "m.index.json", nil); !errors.Is(err, ErrTruncated) {
		t.Fatal(err)
	}
}

// lyingFS states another size than its files have.
type lyingFS struct {
	fs   fstest.MapFS
	size int64
}

type lyingFile struct {
	fs.File
	size int64
}

type lyingInfo struct {
	fs.FileInfo
	size int64
}

func (l lyingFS) Open(name string) (fs.File, error) {
	f, err := l.fs.Open(name)
	return lyingFile{f, l.size}, err
}

func (l lyingFile) Stat() (fs.FileInfo, error) {
	info, err := l.File.Stat()
	return lyingInfo{info, l.size}, err
}

func (l lyingInfo) Size() int64 { return l.size }

// What callers get is theirs: changing it does not change the File.
func TestResultsAreCopies(t *testing.T) {
	f, err := Parse(raw(`{"__metadata__":{"k":"v"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},`+
		`"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 1, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := f.Tensor("a")
	if err != nil {
		t.Fatal(err)
	}
	tensor.Shape[0] = 5
	f.Names()[0] = "x"
	f.Metadata()["k"] = "x"
	info, err := f.Stat("a")
	if err != nil || info.Shape[0] != 1 || f.Names()[0] != "a" || f.Metadata()["k"] != "v" {
		t.Error(info, f.Names(), f.Metadata(), err)
	}
	if len(tensor.Data) != cap(tensor.Data) {
		t.Error("appending to Data would write to the next tensor")
	}
}

func TestConcurrentUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	var sources []Source
	for _, name := range []string{"a", "b", "c", "d"} {
		sources = append(sources, Source{Name: name, DType: F32, Shape: []uint64{1000}, Data: bytesUpTo(4000)})
	}
	if err := Write(path, sources, nil, nil); err != nil {
		t.Fatal(err)
	}
	f, err := closing(t)(Open(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, s := range sources {
		wg.Go(func() {
			for range 20 {
				tensor, err := f.Tensor(s.Name)
				if err != nil || !bytes.Equal(tensor.Data, s.Data) {
					t.Errorf("%s: %v", s.Name, err)
				}
				if _, err := tensor.Float32s(); err != nil {
					t.Error(err)
				}
				if _, err := f.Pin(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestMemoryNames(t *testing.T) {
	for _, m := range []Memory{Mapped, Private, Huge} {
		if got, err := ParseMemory(m.String()); err != nil || got != m {
			t.Error(got, err)
		}
	}
	if _, err := ParseMemory("swapped"); err == nil {
		t.Error("accepted")
	}
	if Memory(9).String() != "Memory(9)" {
		t.Error(Memory(9))
	}
}

// What cannot be mapped is read, and the File says so.
func TestMemoryReported(t *testing.T) {
	data := shardFile(t, nil, "a")
	dir := t.TempDir()
	writeFile(t, dir, singleName, data)
	for _, m := range []Memory{Mapped, Private, Huge} {
		want := m
		if !canMap {
			want = Private
		}
		for _, fsys := range []fs.FS{os.DirFS(dir), mustRoot(t, dir).FS()} {
			if f, err := closing(t)(OpenFS(fsys, ".", &Options{Memory: m})); err != nil || f.Memory() != want {
				t.Errorf("%v: %v, %v", m, f.Memory(), err)
			}
		}
		if want == Mapped {
			want = Private
		}
		fsys := fstest.MapFS{singleName: {Data: data}}
		if f, err := closing(t)(OpenFS(fsys, ".", &Options{Memory: m})); err != nil || f.Memory() != want {
			t.Errorf("%v of a MapFS: %v, %v", m, f.Memory(), err)
		}
	}
}

func mustRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}
