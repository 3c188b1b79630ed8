package safetensors

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// shardFile returns a file with tensors of one byte: the name's first.
func shardFile(t testing.TB, metadata map[string]string, names ...string) []byte {
	t.Helper()
	var sources []Source
	for _, name := range names {
		sources = append(sources, Source{Name: name, DType: U8, Data: []byte(name[:1])})
	}
	var b strings.Builder
	if err := Encode(&b, sources, metadata, &WriteOptions{KeepOrder: true}); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

func TestShards(t *testing.T) {
	// Tensors in the order of shards, whatever order the index has; one that
	// the index does not list; shards in a subfolder; other fields.
	files := map[string][]byte{
		indexName: []byte(`{"metadata":{"total_size":1.6e10,"x":[{}]},"weight_map":
			{"c":"sub/m-2.safetensors","a":"m-1.safetensors","b":"m-1.safetensors"},"y":null}`),
		"m-1.safetensors":     shardFile(t, map[string]string{"format": "pt", "n": "1"}, "b", "a", "extra"),
		"sub/m-2.safetensors": shardFile(t, map[string]string{"n": "2", "m": "2"}, "c"),
	}
	dir := t.TempDir()
	memory := fstest.MapFS{}
	for name, data := range files {
		memory[name] = &fstest.MapFile{Data: data}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir, filepath.FromSlash(name), data)
	}
	check := func(name string, f *File, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		defer f.Close()
		if diff := cmp.Diff([]string{"b", "a", "extra", "c"}, f.Names()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(map[string]string{"format": "pt", "n": "1", "m": "2"}, f.Metadata()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for tensor, err := range f.Tensors() {
			if err != nil || string(tensor.Data) != tensor.Name[:1] {
				t.Errorf("%s: %v, %v", name, tensor, err)
			}
		}
		if info, err := f.Stat("c"); err != nil || info.File != "sub/m-2.safetensors" || info.Bytes != 1 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		if f.Size() != 4 {
			t.Errorf("%s: size %d", name, f.Size())
		}
	}
	for _, m := range []Memory{Mapped, Private, Huge} {
		opts := &Options{Memory: m}
		f, err := Open(dir, opts)
		check("folder "+m.String(), f, err)
		f, err = Open(filepath.Join(dir, indexName), opts)
		check("index "+m.String(), f, err)
		f, err = OpenFS(os.DirFS(dir), ".", opts)
		check("fs "+m.String(), f, err)
		f, err = OpenFS(os.DirFS(filepath.Dir(dir)), filepath.Base(dir)+"/"+indexName, opts)
		check("fs index "+m.String(), f, err)
		f, err = OpenFS(memory, ".", opts)
		check("memory "+m.String(), f, err)
	}
}

func TestShardsRefused(t *testing.T) {
	m1, m2 := shardFile(t, nil, "a", "b"), shardFile(t, nil, "c")
	index := func(weights string) string { return `{"weight_map":{` + weights + `}}` }
	const good = `"a":"m-1.safetensors","b":"m-1.safetensors","c":"m-2.safetensors"`
	for _, c := range []struct {
		name, index string
		files       map[string][]byte
		want        error
		message     string
	}{
		{"missing shard", index(good), map[string][]byte{"m-1.safetensors": m1}, ErrMissingShard, `shard "m-2.safetensors"`},
		{"missing shard is not found", index(good), map[string][]byte{"m-1.safetensors": m1}, fs.ErrNotExist, ""},
		{"broken shard", index(good), map[string][]byte{"m-1.safetensors": m1, "m-2.safetensors": m2[:len(m2)-1]},
			ErrTruncated, `shard "m-2.safetensors"`},
		{"empty shard", index(good), map[string][]byte{"m-1.safetensors": m1, "m-2.safetensors": {}}, ErrTruncated, ""},
		{"shard lacks it", index(good + `,"d":"m-2.safetensors"`), nil, ErrWrongShard,
			`tensor "d": tensor is not in the shard that the index gives: "m-2.safetensors" lacks it`},
		{"wrong shard", index(`"a":"m-2.safetensors","b":"m-1.safetensors"`), nil, ErrWrongShard,
			`want "m-2.safetensors", found in "m-1.safetensors"`},
		{"in two shards", index(good), map[string][]byte{"m-1.safetensors": m1, "m-2.safetensors": shardFile(t, nil, "a", "c")},
			ErrTwoShards, `tensor "a"`},
		{"unlisted in two shards", index(good), map[string][]byte{"m-1.safetensors": shardFile(t, nil, "a", "b", "x"),
			"m-2.safetensors": shardFile(t, nil, "c", "x")}, ErrTwoShards, `tensor "x"`},
		{"parent", index(`"a":"../m-1.safetensors"`), nil, ErrShardName, `"../m-1.safetensors"`},
		{"parent inside", index(`"a":"sub/../../m-1.safetensors"`), nil, ErrShardName, ""},
		{"parent, escaped", index(`"a":"\u002e\u002e\u002fm-1.safetensors"`), nil, ErrShardName, ""},
		{"absolute", index(`"a":"/etc/passwd"`), nil, ErrShardName, ""},
		{"backslash", index(`"a":"..\\m-1.safetensors"`), nil, ErrShardName, ""},
		{"drive", index(`"a":"c:m-1.safetensors"`), nil, ErrShardName, ""},
		{"zero byte", index(`"a":"m-1\u0000.safetensors"`), nil, ErrShardName, ""},
		{"the folder", index(`"a":"."`), nil, ErrShardName, ""},
		{"no name", index(`"a":""`), nil, ErrShardName, ""},
		{"a subfolder", index(`"a":"sub"`), map[string][]byte{"sub/x": m1}, ErrNotRegular, ""},
		{"the index itself", index(`"a":"` + indexName + `"`), nil, ErrHeaderTooLarge, ""},
		{"tensor twice", index(`"a":"m-1.safetensors","\u0061":"m-1.safetensors"`), nil, ErrDuplicateKey, `tensor "a"`},
		{"weight_map twice", `{"weight_map":{},"weight_map":{}}`, nil, ErrDuplicateKey, "weight_map"},
		{"no weight_map", `{"metadata":{}}`, nil, ErrSyntax, "field weight_map is missing"},
		{"weight_map null", `{"weight_map":null}`, nil, ErrSyntax, "weight_map: "},
		{"weight_map array", `{"weight_map":[]}`, nil, ErrSyntax, ""},
		{"shard is a number", index(`"a":1`), nil, ErrSyntax, `tensor "a"`},
		{"metadata as a tensor", index(`"__metadata__":"m-1.safetensors"`), nil, ErrSyntax, ""},
		{"empty", ``, nil, ErrSyntax, "found the end"},
		{"array", `[]`, nil, ErrSyntax, "want '{'"},
		{"something after", index(good) + "x", nil, ErrSyntax, "found 'x'"},
		{"not UTF-8", "{\"weight_map\":{\"\xff\":\"a\"}}", nil, ErrSyntax, "0xff"},
		{"deep", `{"metadata":` + strings.Repeat(`{"":`, 1e6), nil, ErrSyntax, "nested too deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := c.files
			if files == nil {
				files = map[string][]byte{"m-1.safetensors": m1, "m-2.safetensors": m2}
			}
			fsys := fstest.MapFS{indexName: {Data: []byte(c.index)}}
			dir := t.TempDir()
			writeFile(t, dir, indexName, []byte(c.index))
			for name, data := range files {
				fsys[name] = &fstest.MapFile{Data: data}
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				writeFile(t, dir, name, data)
			}
			_, err := OpenFS(fsys, ".", nil)
			_, osErr := Open(dir, nil)
			for _, err := range []error{err, osErr} {
				if !errors.Is(err, c.want) || err == nil || !strings.Contains(err.Error(), c.message) {
					t.Errorf("error %v, want %v … %s", err, c.want, c.message)
				}
			}
		})
	}
}

func TestIndexTooLarge(t *testing.T) {
	fsys := fstest.MapFS{indexName: {Data: []byte(`{"weight_map":{}}`)}}
	if _, err := OpenFS(fsys, ".", &Options{MaxHeader: 16}); !errors.Is(err, ErrHeaderTooLarge) {
		t.Error(err)
	}
	f, err := OpenFS(fsys, ".", &Options{MaxHeader: 17})
	if err != nil || len(f.Names()) != 0 || f.Size() != 0 || f.Close() != nil {
		t.Error(err)
	}
}
