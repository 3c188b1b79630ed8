package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Faults that other implementations had, one test each.

// A name that stands twice is a duplicate key, not a bad offset
// (huggingface/safetensors#401).
func TestDuplicateIsCalledDuplicate(t *testing.T) {
	const header = `{"t":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},"t":{"dtype":"I32","shape":[1],"data_offsets":[4,8]}}`
	_, err := Parse(raw(header, make([]byte, 8)...), nil)
	if !errors.Is(err, ErrDuplicateKey) || !strings.Contains(err.Error(), `duplicate key at offset 62: tensor "t"`) {
		t.Fatal(err)
	}
}

// A header of 126 MB is real (huggingface/safetensors#668): refused by
// default, with the number and the limit; the limit can be set.
func TestHeaderLimit(t *testing.T) {
	const n = 0x07DF9D40
	header := binary.LittleEndian.AppendUint64(nil, n)
	file := io.NewSectionReader(spaces{append(header, "{}"...)}, 0, 8+n)
	_, err := NewReader(file, 8+n, nil)
	if !errors.Is(err, ErrHeaderTooLarge) || !strings.Contains(err.Error(), "132095296") ||
		!strings.Contains(err.Error(), "100000000") {
		t.Fatal(err)
	}
	if _, err := NewReader(file, 8+n, &Options{MaxHeader: n - 1}); !errors.Is(err, ErrHeaderTooLarge) {
		t.Fatal(err)
	}
	if testing.Short() {
		return
	}
	if _, err := NewReader(file, 8+n, &Options{MaxHeader: n}); err != nil {
		t.Fatal(err)
	}
}

var blank = strings.Repeat(" ", 64<<10)

// spaces reads text and then spaces for ever.
type spaces struct{ text []byte }

func (s spaces) ReadAt(p []byte, off int64) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], blank)
	}
	if off < int64(len(s.text)) {
		copy(p, s.text[off:])
	}
	return len(p), nil
}

// The stated length must not size an allocation, nor wrap when 8 is added.
func TestHostileHeaderLength(t *testing.T) {
	for _, n := range []uint64{math.MaxUint64, math.MaxUint64 - 7, 1 << 63, math.MaxInt64, 1 << 40, 99_999_999} {
		data := append(binary.LittleEndian.AppendUint64(nil, n), "{}"...)
		for _, o := range openers {
			for _, opts := range []*Options{nil, {MaxHeader: math.MaxInt64}} {
				before := totalAlloc()
				_, err := o.open(t, data, opts)
				if grown := totalAlloc() - before; grown > 1<<20 {
					t.Errorf("%s: length %d allocated %d bytes", o.name, n, grown)
				}
				if !errors.Is(err, ErrHeaderTooLarge) && !errors.Is(err, ErrTruncated) {
					t.Errorf("%s: length %d: %v", o.name, n, err)
				}
			}
		}
	}
}

// totalAlloc returns the bytes allocated so far.
func totalAlloc() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A size that lies, from whoever gives the reader, costs nothing either.
func TestHostileSize(t *testing.T) {
	data := append(binary.LittleEndian.AppendUint64(nil, 90_000_000), "{}"...)
	before := totalAlloc()
	_, err := NewReader(bytes.NewReader(data), 1<<60, nil)
	if !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
	if _, err = NewReader(bytes.NewReader(data), -1, nil); !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
	if grown := totalAlloc() - before; grown > 1<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

// The product of a shape wraps to the very size of the data.
func TestShapeWraps(t *testing.T) {
	const header = `{"t":{"dtype":"I32","shape":[4611686018427387905],"data_offsets":[0,4]}}`
	if _, err := Parse(raw(header, 0, 0, 0, 0), nil); !errors.Is(err, ErrOverflow) {
		t.Fatal(err)
	}
}

// The writer pads by 64−len%64, not by len%64 (huggingface/safetensors#231 had
// this for 8): names of every length, so that headers of every length occur.
func TestWriterPadding(t *testing.T) {
	for n := range 130 {
		var b bytes.Buffer
		source := Source{Name: strings.Repeat("n", n), DType: U8, Shape: []uint64{3}, Data: []byte("abc")}
		if err := Encode(&b, []Source{source}, nil, nil); err != nil {
			t.Fatal(err)
		}
		length := binary.LittleEndian.Uint64(b.Bytes())
		if (8+length)%64 != 0 || b.Len() != int(8+length)+3 {
			t.Fatalf("name of %d bytes: header of %d, file of %d", n, length, b.Len())
		}
		f, err := Parse(b.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if tensor, err := f.Tensor(source.Name); err != nil || string(tensor.Data) != "abc" {
			t.Fatalf("%q, %v", tensor.Data, err)
		}
	}
}

// The data starts at 8+N exactly, whatever N is (llama.cpp#18291 rounded up).
func TestDataStart(t *testing.T) {
	const header = `{"t":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}`
	for pad := range 17 {
		data := raw(header+strings.Repeat(" ", pad), 'a', 'b', 'c')
		for _, o := range openers {
			for _, memory := range []Memory{Mapped, Private, Huge} {
				f, err := o.open(t, data, &Options{Memory: memory})
				if err != nil {
					t.Fatal(err)
				}
				if tensor, err := f.Tensor("t"); err != nil || string(tensor.Data) != "abc" {
					t.Fatalf("%s, %v, %d spaces: %q, %v", o.name, memory, pad, tensor.Data, err)
				}
				if info, err := f.Stat("t"); err != nil || info.Offset != int64(8+len(header)+pad) {
					t.Fatalf("%s, %v, %d spaces: offset %d, %v", o.name, memory, pad, info.Offset, err)
				}
			}
		}
	}
}

// Saving over the file that the tensors are mapped from keeps their content
// (huggingface/safetensors#762).
func TestSaveOverOwnMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	content := bytesUpTo(3 << 20)
	source := Source{Name: "w", DType: U8, Shape: []uint64{3, 1 << 20}, Data: content}
	if err := Write(path, []Source{source}, nil, nil); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(path, f.Sources(), map[string]string{"round": "2"}, nil); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, file := range []*File{f, again} {
		if tensor, err := file.Tensor("w"); err != nil || !bytes.Equal(tensor.Data, content) {
			t.Fatalf("content changed, %v", err)
		}
	}
	if again.Metadata()["round"] != "2" {
		t.Error("the file was not replaced")
	}
}

// A pipe does not hang the reader, a device does not feed it.
func TestNotRegular(t *testing.T) {
	if _, err := Open(os.DevNull, nil); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if err := Write(os.DevNull, nil, nil, nil); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if err := Write(t.TempDir(), nil, nil, nil); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
}
