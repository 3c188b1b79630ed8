package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// headerSeeds returns files with every part that a header may have.
func headerSeeds() [][]byte {
	return [][]byte{
		raw("{}"),
		raw(`{"__metadata__":{"format":"pt","é\u00e9\"\\":"\ud83d\ude00\n"}}  `),
		raw(`{"__metadata__":null,"t":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1),
		raw(`{"b":{"dtype":"I32","shape":[1],"data_offsets":[4,8]},"a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}`,
			1, 2, 3, 4, 5, 6, 7, 8),
		raw(`{"t":{"dtype":"F4","shape":[2],"data_offsets":[0,1],"x":[1,-2.5e3,{"a":null},true]},"e":{"dtype":"F64","shape":[0,18446744073709551615],"data_offsets":[1,1]}}`, 1),
		raw(`{"t":{"shape":[4],"data_offsets":[0,3],"dtype":"F6_E2M3"},"t2":{"shape":[1],"data_offsets":[3,11],"dtype":"C64"}}`,
			bytesUpTo(11)...),
		raw(`{"t":{"dtype":"I32","shape":[4611686018427387905],"data_offsets":[0,4]}}`, 0, 0, 0, 0),
		raw(`{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0074":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		raw(` {"t":["U8",[1],[0,1]]}`, 1),
		raw(`{"t":["U8",[1],[0,1]]}`, 1),
	}
}

// damage changes a file a little; the length of its header mostly stays right.
func damage(rng *rand.Rand, file []byte) []byte {
	header, data := slices.Clone(file[8:]), []byte(nil)
	n := binary.LittleEndian.Uint64(file)
	header, data = header[:n], header[n:]
	const alphabet = `{}[]:,"\0123456789-+.eE u/bntUFI` + "\t\n\x00\x1f\x7f\xc3\xa9\xff"
	tokens := []string{`\u0074`, `"t"`, `null`, `[0,1]`, `"x":1,`, `,"x":{}`, `1e0`, `-0`, `18446744073709551616`,
		`"dtype":"U8",`, `"shape":[1],`, `"__metadata__":{},`, `\ud800`, `\ud83d\ude00`, "é", `"F8_E4M3"`, `0`, ` `}
	for range rng.IntN(3) {
		at := rng.IntN(len(header) + 1)
		switch rng.IntN(6) {
		case 0: // a byte replaced
			if at < len(header) {
				header[at] = alphabet[rng.IntN(len(alphabet))]
			}
		case 1: // a part removed
			header = slices.Delete(header, at, min(len(header), at+1+rng.IntN(4)))
		case 2: // a token inserted
			header = slices.Insert(header, at, []byte(tokens[rng.IntN(len(tokens))])...)
		case 3: // a part repeated elsewhere
			from := rng.IntN(len(header) + 1)
			part := slices.Clone(header[from:min(len(header), from+rng.IntN(60))])
			header = slices.Insert(header, at, part...)
		case 4: // a digit counted up
			for i := at; i < len(header); i++ {
				if '0' <= header[i] && header[i] < '9' {
					header[i]++
					break
				}
			}
		case 5: // data cut or grown
			if rng.IntN(2) == 0 && len(data) > 0 {
				data = data[:len(data)-1]
			} else {
				data = append(slices.Clone(data), 0)
			}
		}
	}
	return raw(string(header), data...)
}

// causes are all errors that a file in memory can be refused with.
var causes = []error{ErrTruncated, ErrHeaderTooLarge, ErrSyntax, ErrDuplicateKey, ErrDType, ErrOverflow,
	ErrPartialByte, ErrSize, ErrOffsets, ErrUncovered}

// knownCause tells whether err wraps exactly one cause.
func knownCause(err error, causes []error) bool {
	n := 0
	for _, cause := range causes {
		if errors.Is(err, cause) {
			n++
		}
	}
	return n == 1
}

// FuzzParse: a file is refused for one of the causes, or its tensors cover the
// data; encoding/json reads the same header; read from a reader and written
// again they are the same.
func FuzzParse(f *testing.F) {
	for _, seed := range headerSeeds() {
		f.Add(seed)
	}
	var file struct{ Cases []struct{ Hex string } }
	readJSON(f, "safetensors.json", &file)
	for _, c := range file.Cases {
		data, err := hex.DecodeString(c.Hex)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data, nil)
		fromReader, readerErr := NewReader(bytes.NewReader(data), int64(len(data)), nil)
		if (err == nil) != (readerErr == nil) {
			t.Fatalf("Parse: %v, NewReader: %v", err, readerErr)
		}
		if err != nil {
			if !knownCause(err, causes) {
				t.Fatalf("no single known cause: %v", err)
			}
			if len(err.Error()) > 2000 {
				t.Fatalf("a message of %d bytes", len(err.Error()))
			}
			return
		}
		checkCover(t, file, data)
		checkJSON(t, file, data)
		want := tensors(t, file)
		if diff := cmp.Diff(want, tensors(t, fromReader)); diff != "" {
			t.Fatal(diff)
		}
		for _, opts := range []*WriteOptions{nil, {KeepOrder: true}} {
			var b bytes.Buffer
			if err := Encode(&b, file.Sources(), file.Metadata(), opts); err != nil {
				t.Fatal(err)
			}
			again, err := Parse(b.Bytes(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, tensors(t, again)); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(file.Metadata(), again.Metadata()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// checkCover makes sure that the tensors, in file order, are the data section.
func checkCover(t *testing.T, f *File, data []byte) {
	t.Helper()
	at := int64(8 + binary.LittleEndian.Uint64(data))
	for _, name := range f.Names() {
		info, err := f.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		tensor, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		size, err := info.DType.Bytes(info.Shape)
		if err != nil || info.Offset != at || uint64(info.Bytes) != size ||
			!bytes.Equal(tensor.Data, data[at:at+info.Bytes]) {
			t.Fatalf("%+v at %d: %v", info, at, err)
		}
		at += info.Bytes
		if tensor.DType != C64 && tensor.Len() < 1<<16 {
			if _, err := tensor.Float32s(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if at != int64(len(data)) {
		t.Fatalf("tensors end at %d of %d", at, len(data))
	}
}

// checkJSON compares with encoding/json's reading of the header.
func checkJSON(t *testing.T, f *File, data []byte) {
	t.Helper()
	type description struct {
		DType   string   `json:"dtype"`
		Shape   []uint64 `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+binary.LittleEndian.Uint64(data)], &header); err != nil {
		t.Fatalf("encoding/json: %v", err)
	}
	var metadata map[string]string
	if text, ok := header[metadataKey]; ok {
		if err := json.Unmarshal(text, &metadata); err != nil {
			t.Fatalf("encoding/json: %v", err)
		}
		delete(header, metadataKey)
	}
	if diff := cmp.Diff(metadata, f.Metadata()); diff != "" {
		t.Fatal(diff)
	}
	if len(header) != len(f.Names()) {
		t.Fatalf("%d tensors, encoding/json reads %d", len(f.Names()), len(header))
	}
	start := int64(8 + binary.LittleEndian.Uint64(data))
	for name, text := range header {
		info, err := f.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		// A map first: encoding/json matches field names in any case.
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		var want description
		for key, v := range map[string]any{"dtype": &want.DType, "shape": &want.Shape, "data_offsets": &want.Offsets} {
			if err := json.Unmarshal(fields[key], v); err != nil {
				t.Fatalf("encoding/json: %s: %v", key, err)
			}
		}
		got := description{info.DType.String(), info.Shape,
			[]uint64{uint64(info.Offset - start), uint64(info.Offset - start + info.Bytes)}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

// FuzzHeader is FuzzParse without the need to guess lengths: any JSON, any
// number of data bytes.
func FuzzHeader(f *testing.F) {
	for _, seed := range headerSeeds() {
		n := binary.LittleEndian.Uint64(seed)
		f.Add(string(seed[8:8+n]), uint64(len(seed))-8-n)
	}
	f.Fuzz(func(t *testing.T, text string, size uint64) {
		h, err := parseHeader([]byte(text), size)
		if err != nil {
			if !knownCause(err, causes) {
				t.Fatalf("no single known cause: %v", err)
			}
			return
		}
		at := uint64(0)
		for _, e := range h.entries {
			bytes, err := e.dtype.Bytes(e.shape)
			if err != nil || e.begin != at || e.end-e.begin != bytes || e.end < e.begin {
				t.Fatalf("%+v at %d: %v", e, at, err)
			}
			at = e.end
		}
		if at != size {
			t.Fatalf("tensors end at %d of %d", at, size)
		}
		if size > 1<<16 {
			return
		}
		data := raw(text, make([]byte, size)...)
		file, err := Parse(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkCover(t, file, data)
		checkJSON(t, file, data)
	})
}

// FuzzIndex: an index is refused for one of the causes, or it names shards
// inside the folder; written again it is the same.
func FuzzIndex(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"total_size":1.6e10},"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}}`,
		`{"weight_map":{}}`, `{"weight_map":{"a":"sub/m-1.safetensors"},"x":[null,true,{"":"\u0000"}]}`,
		`{"weight_map":{"a":"../x"}}`, `{"weight_map":{"\u0061":"m-1.safetensors","a":"m-1.safetensors"}}`,
		`{"weight_map":{"a":"m-2.safetensors","c":"m-1.safetensors"}}`,
	} {
		f.Add([]byte(seed))
	}
	one, two := shardFile(f, nil, "a", "b"), shardFile(f, nil, "c")
	indexCauses := []error{ErrSyntax, ErrDuplicateKey, ErrShardName, ErrMissingShard, ErrWrongShard, ErrTwoShards,
		ErrNotRegular, ErrHeaderTooLarge, ErrTruncated}
	f.Fuzz(func(t *testing.T, text []byte) {
		fsys := fstest.MapFS{indexName: {Data: text}, "m-1.safetensors": {Data: one}, "m-2.safetensors": {Data: two}}
		file, err := OpenFS(fsys, ".", nil)
		if err != nil {
			if !knownCause(err, indexCauses) {
				t.Fatalf("no single known cause: %v", err)
			}
		} else {
			defer file.Close()
			for tensor, err := range file.Tensors() {
				if err != nil || string(tensor.Data) != tensor.Name {
					t.Fatal(tensor, err)
				}
			}
		}
		x, err := parseIndex(text)
		if err != nil {
			return
		}
		shardOf := make(map[string]string)
		for _, name := range x.names {
			shard := x.shards[x.shard[name]]
			if !validShardName(shard) {
				t.Fatalf("shard %q", shard)
			}
			shardOf[name] = shard
		}
		again, err := parseIndex(encodeIndex(shardOf, 0))
		if err != nil {
			t.Fatal(err)
		}
		for name, shard := range shardOf {
			if got := again.shards[again.shard[name]]; got != shard {
				t.Fatalf("%q in %q, want %q", name, got, shard)
			}
		}
		if len(again.names) != len(shardOf) || !slices.IsSorted(x.shards) {
			t.Fatal(again, x)
		}
	})
}

// FuzzWrite: any tensor is written so that it can be read, or refused.
func FuzzWrite(f *testing.F) {
	f.Add("t", byte(F32), uint64(1), uint64(1), []byte{0, 0, 0x80, 0x3f}, "format", "pt")
	f.Add("__metadata__", byte(F4), uint64(2), uint64(1), []byte{1}, "", "")
	f.Add("\xff", byte(99), uint64(1<<63), uint64(2), []byte{}, "\xff", "\x00")
	f.Fuzz(func(t *testing.T, name string, d byte, rows, cols uint64, data []byte, key, value string) {
		source := Source{Name: name, DType: DType(d), Shape: []uint64{rows, cols}, Data: data}
		other := Source{Name: "other", DType: U8, Shape: []uint64{3}, Write: func(w io.Writer) error {
			_, err := io.WriteString(w, "abc")
			return err
		}}
		metadata := map[string]string{key: value}
		var b bytes.Buffer
		err := Encode(&b, []Source{other, source}, metadata, nil)
		if err != nil {
			if !knownCause(err, []error{ErrName, ErrDuplicateKey, ErrDType, ErrOverflow, ErrPartialByte, ErrSize}) {
				t.Fatalf("no single known cause: %v", err)
			}
			return
		}
		file, err := Parse(b.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		other.Write, other.Data = nil, []byte("abc")
		checkSame(t, file, []Source{other, source})
		if diff := cmp.Diff(metadata, file.Metadata()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzDecode: no bytes, dtype or place make decoding panic, and float32 is the
// rounded float64.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, byte(F6_E3M2), 1, 4)
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, byte(I64), 0, 1)
	f.Add([]byte{}, byte(F4), math.MaxInt, 0)
	f.Fuzz(func(t *testing.T, data []byte, d byte, first, n int) {
		n = min(max(n, 0), 1<<10)
		narrow, wide := make([]float32, n), make([]float64, n)
		err := DType(d).Float32s(narrow, data, first)
		if wideErr := DType(d).Float64s(wide, data, first); (err == nil) != (wideErr == nil) {
			t.Fatal(err, wideErr)
		}
		if err != nil {
			if !knownCause(err, []error{ErrSize, ErrDType, ErrNotReal}) {
				t.Fatal(err)
			}
			return
		}
		if DType(d) == I64 || DType(d) == U64 {
			return // these round once to float32, twice by way of float64
		}
		for i := range narrow {
			if !same(narrow[i], float32(wide[i])) {
				t.Fatalf("%v: %v and %v", DType(d), narrow[i], wide[i])
			}
		}
	})
}
