package safetensors

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

// alignment is what the writer aligns to: a cache line, and the widest SIMD
// register.
const alignment = 64

// layout is one file to be written.
type layout struct {
	header  []byte // the first bytes of the file, its length included
	sources []*Source
	sizes   []uint64
	total   uint64 // bytes of data
}

// newLayout orders the tensors, which are checked, and makes the header.
//
// The format allows no holes between tensors, so alignment comes from order:
// first, as given, the tensors whose size is a multiple of 64 bytes, then the
// others by falling alignment of their size. Thus all of the first kind, and
// the first of the second, are aligned to 64 bytes, and every tensor at least
// to its element's size.
func newLayout(sources []*Source, sizes []uint64, metadata map[string]string, opts *WriteOptions) (*layout, error) {
	order := make([]int, len(sources))
	for i := range order {
		order[i] = i
	}
	if opts == nil || !opts.KeepOrder {
		slices.SortStableFunc(order, func(a, b int) int { return sizeAlignment(sizes[b]) - sizeAlignment(sizes[a]) })
	}
	l := &layout{}
	for _, i := range order {
		l.sources = append(l.sources, sources[i])
		l.sizes = append(l.sizes, sizes[i])
	}
	return l, l.encode(metadata, opts)
}

// sizeAlignment returns the greatest power of two that divides size, at most
// [alignment].
func sizeAlignment(size uint64) int { return 1 << min(bits.TrailingZeros64(size), 6) }

// encode makes the header: compact JSON, padded with spaces so that the data
// begins at a multiple of 64.
func (l *layout) encode(metadata map[string]string, opts *WriteOptions) error {
	b := append(make([]byte, prefixLen, 1024), '{')
	if metadata != nil {
		b = append(appendString(b, metadataKey), ":{"...)
		for i, key := range slices.Sorted(maps.Keys(metadata)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(append(appendString(b, key), ':'), metadata[key])
		}
		b = append(b, '}')
	}
	for i, s := range l.sources {
		end := l.total + l.sizes[i]
		if end < l.total {
			return fmt.Errorf("tensor %s: %w: the data exceeds 2⁶⁴ bytes", quote(s.Name), ErrOverflow)
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(appendString(b, s.Name), `:{"dtype":"`...)
		b = append(append(b, s.DType.String()...), `","shape":[`...)
		for j, dim := range s.Shape {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(b, dim, 10)
		}
		b = append(b, `],"data_offsets":[`...)
		b = append(strconv.AppendUint(b, l.total, 10), ',')
		b = append(strconv.AppendUint(b, end, 10), "]}"...)
		l.total = end
	}
	b = append(b, '}')
	for len(b)%alignment != 0 {
		b = append(b, ' ')
	}
	n := uint64(len(b) - prefixLen)
	if most := opts.maxHeader(); n > most {
		return fmt.Errorf("%w: %d bytes, the limit is %d (WriteOptions.MaxHeader)", ErrHeaderTooLarge, n, most)
	}
	binary.LittleEndian.PutUint64(b, n)
	l.header = b
	return nil
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// checkSources checks every tensor and the metadata and returns the sizes.
func checkSources(tensors []Source, metadata map[string]string) ([]*Source, []uint64, error) {
	for k, v := range metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, nil, fmt.Errorf("%s %s: %w: not UTF-8", metadataKey, quote(k), ErrName)
		}
	}
	sources := make([]*Source, len(tensors))
	sizes := make([]uint64, len(tensors))
	seen := make(map[string]struct{}, len(tensors))
	for i := range tensors {
		s := &tensors[i]
		size, err := s.check()
		if _, dup := seen[s.Name]; err == nil && dup {
			err = ErrDuplicateKey
		}
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %s: %w", quote(s.Name), err)
		}
		seen[s.Name] = struct{}{}
		sources[i], sizes[i] = s, size
	}
	return sources, sizes, nil
}
