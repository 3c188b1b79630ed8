package testmodel

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/leveret-os/leveret/internal/half"
)

type tensor struct {
	name   string
	shape  []int
	values []float32
}

// safetensorsFiles lays tensors out as model.safetensors, or, when shards is
// above 1, as that many files and their index.
func safetensorsFiles(tensors []tensor, dtype string, shards int) map[string][]byte {
	if shards == 1 {
		return map[string][]byte{"model.safetensors": safetensorsFile(tensors, dtype)}
	}
	files := map[string][]byte{}
	weightMap := map[string]string{}
	total := 0
	for s := range shards {
		part := tensors[s*len(tensors)/shards : (s+1)*len(tensors)/shards]
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", s+1, shards)
		files[name] = safetensorsFile(part, dtype)
		for _, t := range part {
			weightMap[t.name] = name
			total += len(t.values) * dtypeSize(dtype)
		}
	}
	index, err := json.MarshalIndent(map[string]any{"metadata": map[string]any{"total_size": total}, "weight_map": weightMap}, "", "  ")
	if err != nil {
		panic(err)
	}
	files["model.safetensors.index.json"] = append(index, '\n')
	return files
}

// safetensorsFile lays tensors out in the safetensors format: the header's
// length (uint64, little endian), the header (JSON, padded with spaces to a
// multiple of 8) and the data.
func safetensorsFile(tensors []tensor, dtype string) []byte {
	var header strings.Builder
	header.WriteString(`{"__metadata__":{"format":"pt"}`)
	var data []byte
	for _, t := range tensors {
		begin := len(data)
		for _, v := range t.values {
			data = appendValue(data, dtype, v)
		}
		shape, err := json.Marshal(t.shape)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&header, `,%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, t.name, dtype, shape, begin, len(data))
	}
	header.WriteString("}")
	for header.Len()%8 != 0 {
		header.WriteByte(' ')
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(header.Len()))
	file = append(file, header.String()...)
	return append(file, data...)
}

func dtypeSize(dtype string) int {
	if dtype == "F32" {
		return 4
	}
	return 2
}

func appendValue(data []byte, dtype string, v float32) []byte {
	switch dtype {
	case "F32":
		return binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	case "F16":
		return binary.LittleEndian.AppendUint16(data, half.F16(v))
	case "BF16":
		return binary.LittleEndian.AppendUint16(data, half.BF16(v))
	}
	panic("testmodel: dtype " + dtype)
}
