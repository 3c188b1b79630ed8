package safetensors

import (
	"maps"
	"slices"
	"strconv"
)

// encodeIndex returns the JSON of an index, laid out as Hugging Face's tools
// do: tensors in ascending order, two spaces of indentation.
func encodeIndex(shardOf map[string]string, total uint64) []byte {
	b := []byte("{\n  \"metadata\": {\n    \"total_size\": ")
	b = strconv.AppendUint(b, total, 10)
	b = append(b, "\n  },\n  \"weight_map\": {"...)
	for i, name := range slices.Sorted(maps.Keys(shardOf)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    "...)
		b = append(appendString(b, name), ": "...)
		b = appendString(b, shardOf[name])
	}
	return append(b, "\n  }\n}\n"...)
}
