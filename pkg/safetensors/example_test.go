package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/leveret-os/leveret/pkg/safetensors"
)

// float32s returns the bytes of float32 numbers.
func float32s(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// checkpoint returns a small file.
func checkpoint() []byte {
	var b bytes.Buffer
	err := safetensors.Encode(&b, []safetensors.Source{
		{Name: "embed", DType: safetensors.F32, Shape: []uint64{2, 2}, Data: float32s(1, 2, 3, 4)},
		{Name: "norm", DType: safetensors.BF16, Shape: []uint64{2}, Data: []byte{0x80, 0x3f, 0, 0xc0}},
	}, map[string]string{"format": "pt"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}

// folder returns a folder with the file in it.
func folder() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), checkpoint(), 0o644); err != nil {
		log.Fatal(err)
	}
	return dir
}

// A model folder is mapped and its tensors are read where they lie.
func ExampleOpen() {
	dir := folder()
	defer os.RemoveAll(dir)

	f, err := safetensors.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for t, err := range f.Tensors() {
		if err != nil {
			log.Fatal(err)
		}
		values, err := t.Float32s()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(t.Name, t.DType, t.Shape, values)
	}
	// Output:
	// embed F32 [2 2] [1 2 3 4]
	// norm BF16 [2] [1 -2]
}

// A copy in huge pages, which is safe from whoever cuts the file short.
func ExampleOpen_private() {
	dir := folder()
	defer os.RemoveAll(dir)

	f, err := safetensors.Open(dir, &safetensors.Options{Memory: safetensors.Huge})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(filepath.Join(dir, "model.safetensors"), 0); err != nil {
		log.Fatal(err)
	}
	t, err := f.Tensor("embed")
	fmt.Println(len(t.Data), err)
	// Output: 16 <nil>
}

// Any file system will do; what os.DirFS and os.Root give is mapped.
func ExampleOpenFS() {
	fsys := fstest.MapFS{"smol/model.safetensors": {Data: checkpoint()}}

	f, err := safetensors.OpenFS(fsys, "smol", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Names(), f.Size(), f.Metadata()["format"], f.Memory())
	// Output: [embed norm] 20 pt private
}

// Every refusal names the place and wraps its cause.
func ExampleParse() {
	data := checkpoint()
	f, err := safetensors.Parse(data, nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := f.Tensor("norm")
	fmt.Println(t.Shape, err)

	_, err = safetensors.Parse(data[:len(data)-3], nil)
	fmt.Println(err, errors.Is(err, safetensors.ErrTruncated))
	// Output:
	// [2] <nil>
	// safetensors: file is cut short: tensors end at 20, the file has 17 bytes of data true
}

// From anything that reads at offsets, such as a remote file, only the header
// and the tensors that are asked for are fetched.
func ExampleNewReader() {
	data := checkpoint()
	f, err := safetensors.NewReader(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := f.Tensor("embed")
	fmt.Println(t.DType, len(t.Data), err)
	// Output: F32 16 <nil>
}

// A tensor may be written as it is made; it is never in memory as a whole.
func ExampleWrite() {
	dir := folder()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ramp.safetensors")

	ramp := safetensors.Source{Name: "ramp", DType: safetensors.F32, Shape: []uint64{3, 2},
		Write: func(w io.Writer) error {
			for row := range 3 {
				if _, err := w.Write(float32s(float32(row), float32(row)/2)); err != nil {
					return err
				}
			}
			return nil
		}}
	if err := safetensors.Write(path, []safetensors.Source{ramp}, nil, nil); err != nil {
		log.Fatal(err)
	}

	f, err := safetensors.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	t, err := f.Tensor("ramp")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Float32s())
	// Output: [0 0 1 0.5 2 1] <nil>
}

// Large checkpoints are written as shards with an index, and opened as one.
func ExampleWrite_shards() {
	dir := folder()
	defer os.RemoveAll(dir)
	f, err := safetensors.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	// The file that is replaced may be the one that is mapped.
	path := filepath.Join(dir, "model.safetensors")
	err = safetensors.Write(path, f.Sources(), f.Metadata(), &safetensors.WriteOptions{MaxShard: 16})
	if err != nil {
		log.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		fmt.Println(filepath.Base(file))
	}
	shards, err := safetensors.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer shards.Close()
	fmt.Println(shards.Names())
	// Output:
	// model-00001-of-00002.safetensors
	// model-00002-of-00002.safetensors
	// model.safetensors.index.json
	// [embed norm]
}

func ExampleEncode() {
	var b bytes.Buffer
	source := safetensors.Source{Name: "x", DType: safetensors.U8, Shape: []uint64{3}, Data: []byte("abc")}
	if err := safetensors.Encode(&b, []safetensors.Source{source}, nil, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d: %s\n", b.Len(), b.Bytes()[8:])
	// Output: 67: {"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}   abc
}

func ExampleParseDType() {
	d, err := safetensors.ParseDType("F8_E4M3")
	fmt.Println(d, d.Bits(), err)
	_, err = safetensors.ParseDType("F8")
	fmt.Println(err)
	// Output:
	// F8_E4M3 8 <nil>
	// safetensors: unknown dtype "F8"
}

func ExampleParseMemory() {
	m, err := safetensors.ParseMemory("huge")
	fmt.Println(m == safetensors.Huge, err)
	// Output: true <nil>
}

func ExampleDType_Bytes() {
	fmt.Println(safetensors.BF16.Bytes([]uint64{576, 1536}))
	_, err := safetensors.F4.Bytes([]uint64{3})
	fmt.Println(err)
	// Output:
	// 1769472 <nil>
	// elements do not fill whole bytes: 3 elements of 4 bits
}

// One row of a matrix, without taking memory.
func ExampleDType_Float32s() {
	f, err := safetensors.Parse(checkpoint(), nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := f.Tensor("embed")
	if err != nil {
		log.Fatal(err)
	}
	row := make([]float32, 2)
	err = t.DType.Float32s(row, t.Data, 1*len(row))
	fmt.Println(row, err)
	// Output: [3 4] <nil>
}

func ExampleDType_Float64s() {
	half := make([]float64, 1)
	err := safetensors.F16.Float64s(half, []byte{0x00, 0x38}, 0)
	fmt.Println(half, err)
	// Output: [0.5] <nil>
}

func ExampleTensor_Float32s() {
	t := safetensors.Tensor{Name: "scale", DType: safetensors.F8_E4M3, Shape: []uint64{2}, Data: []byte{0x38, 0x7e}}
	fmt.Println(t.Float32s())
	// Output: [1 448] <nil>
}

func ExampleTensor_Complex64s() {
	t := safetensors.Tensor{Name: "z", DType: safetensors.C64, Data: float32s(1, -1)}
	fmt.Println(t.Complex64s())
	// Output: [(1-1i)] <nil>
}

// A tensor of one checkpoint is copied to another.
func ExampleTensor_Source() {
	f, err := safetensors.Parse(checkpoint(), nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := f.Tensor("norm")
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	err = safetensors.Encode(&b, []safetensors.Source{t.Source()}, nil, nil)
	fmt.Println(b.Len()%64, err)
	// Output: 4 <nil>
}

func ExampleFile_Tensor() {
	f, err := safetensors.Parse(checkpoint(), nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = f.Tensor("head")
	fmt.Println(err, errors.Is(err, safetensors.ErrNotFound))
	// Output: safetensors: no such tensor: "head" true
}

func ExampleFile_Reader() {
	f, err := safetensors.Parse(checkpoint(), nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := f.Reader("norm")
	if err != nil {
		log.Fatal(err)
	}
	b, err := io.ReadAll(r)
	fmt.Printf("%x %v\n", b, err)
	// Output: 803f00c0 <nil>
}

func ExampleFile_Stat() {
	dir := folder()
	defer os.RemoveAll(dir)
	f, err := safetensors.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat("embed")
	fmt.Println(info.DType, info.Shape, info.Bytes, filepath.Base(info.File), err)
	// Output: F32 [2 2] 16 model.safetensors <nil>
}

// Pinning tells what it got. Without the right to lock so much memory it gets
// nothing, and the model runs all the same.
func ExampleFile_Pin() {
	dir := folder()
	defer os.RemoveAll(dir)
	f, err := safetensors.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	pinned, err := f.Pin()
	if err != nil {
		log.Fatal(err)
	}
	if pinned.Reason != nil {
		log.Printf("%d of %d bytes pinned: %v", pinned.Bytes, pinned.Wanted, pinned.Reason)
	}
	fmt.Println(pinned.Bytes <= pinned.Wanted)
	// Output: true
}

func ExampleFile_Usage() {
	dir := folder()
	defer os.RemoveAll(dir)
	f, err := safetensors.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	usage, err := f.Usage()
	if errors.Is(err, errors.ErrUnsupported) {
		usage = safetensors.Usage{} // not Linux
	} else if err != nil {
		log.Fatal(err)
	}
	fmt.Println("anonymous memory of a mapped file:", usage.Anonymous)
	// Output: anonymous memory of a mapped file: 0
}

func ExampleFile_Close() {
	f, err := safetensors.Parse(checkpoint(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Close())
	fmt.Println(f.Close())
	_, err = f.Tensor("embed")
	fmt.Println(errors.Is(err, safetensors.ErrClosed))
	// Output:
	// <nil>
	// safetensors: file already closed
	// true
}
