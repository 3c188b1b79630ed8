package quant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// MetadataKey is the key of a safetensors file's __metadata__ whose value
// describes the quantised tensors in the file.
const MetadataKey = "leveret.quantization"

// What the metadata of this version says of itself.
const (
	metadataFormat  = "leveret-blocks"
	metadataVersion = 1
)

// Matrix is the format and shape of a quantised tensor.
type Matrix struct {
	Format     Format
	Rows, Cols int
}

// Bytes returns the size of the matrix in bytes.
func (m Matrix) Bytes() int { return m.Format.Bytes(m.Rows, m.Cols) }

// Metadata describes the quantised tensors of a checkpoint by name.
type Metadata map[string]Matrix

type metadataJSON struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Tensors json.RawMessage `json:"tensors"`
}

type matrixJSON struct {
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
}

// String returns the metadata as ParseMetadata reads it: JSON, names in order.
func (m Metadata) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"format":%q,"version":%d,"tensors":{`, metadataFormat, metadataVersion)
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(name) // a string always has a JSON form
		fmt.Fprintf(&b, `%s:{"type":%q,"shape":[%d,%d]}`, key, m[name].Format, m[name].Rows, m[name].Cols)
	}
	b.WriteString("}}")
	return b.String()
}

// ParseMetadata reads the value of MetadataKey. Another format or version is
// ErrVersion; anything malformed, an unknown type, a name given twice or a
// shape that no matrix can have is ErrMetadata, and the error names the tensor.
func ParseMetadata(value string) (Metadata, error) {
	var top metadataJSON
	if err := json.Unmarshal([]byte(value), &top); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMetadata, err)
	}
	if top.Format != metadataFormat || top.Version != metadataVersion {
		return nil, fmt.Errorf("%w: format %q version %d, expected %q version %d",
			ErrVersion, top.Format, top.Version, metadataFormat, metadataVersion)
	}
	m := Metadata{}
	err := eachMember(top.Tensors, func(name string, d *json.Decoder) error {
		if _, ok := m[name]; ok {
			return fmt.Errorf("%w: tensor %q is there twice", ErrMetadata, name)
		}
		var v matrixJSON
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%w: tensor %q: %v", ErrMetadata, name, err)
		}
		matrix, err := v.matrix()
		if err != nil {
			return fmt.Errorf("%w: tensor %q: %w", ErrMetadata, name, err)
		}
		m[name] = matrix
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (v matrixJSON) matrix() (Matrix, error) {
	f, err := ParseFormat(v.Type)
	if err != nil {
		return Matrix{}, err
	}
	if len(v.Shape) != 2 {
		return Matrix{}, fmt.Errorf("shape %v, expected rows and columns", v.Shape)
	}
	if v.Shape[0] < 1 || v.Shape[1] < 1 {
		return Matrix{}, fmt.Errorf("shape %v, expected positive sizes", v.Shape)
	}
	if err := f.checkShape(v.Shape[0], v.Shape[1]); err != nil {
		return Matrix{}, err
	}
	return Matrix{f, v.Shape[0], v.Shape[1]}, nil
}

// eachMember calls f for each member of a JSON object, the decoder being before
// its value.
func eachMember(object json.RawMessage, f func(name string, d *json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: no tensors", ErrMetadata)
	}
	if err != nil || t != json.Delim('{') {
		return fmt.Errorf("%w: tensors: expected an object", ErrMetadata)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("%w: %v", ErrMetadata, err)
		}
		if err := f(name.(string), d); err != nil {
			return err
		}
	}
	return nil
}
