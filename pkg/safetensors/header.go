package safetensors

import (
	"cmp"
	"fmt"
	"slices"
)

// metadataKey is the header's one key that is not a tensor.
const metadataKey = "__metadata__"

// entry is what a header says of a tensor.
type entry struct {
	name       string
	dtype      DType
	shape      []uint64
	begin, end uint64 // data_offsets
	shard      int    // index in File.shards
}

// header is the parsed JSON of one file; its entries are in the order of the
// data.
type header struct {
	entries  []entry
	metadata map[string]string
}

// parseHeader parses and checks the JSON of a file whose data section has
// dataSize bytes. Offsets in its errors count from the start of the file. Time
// is O(n log n) in the length of the JSON, memory O(n).
func parseHeader(text []byte, dataSize uint64) (*header, error) {
	s := &scanner{text: text, base: prefixLen}
	if len(text) == 0 || text[0] != '{' {
		return nil, s.unexpected("'{'")
	}
	if err := s.checkUTF8(); err != nil {
		return nil, err
	}
	h := &header{}
	seen := make(map[string]struct{})
	sawMetadata := false
	err := s.object(func(key []byte) error {
		if string(key) == metadataKey {
			if sawMetadata {
				return s.duplicate("", key)
			}
			sawMetadata = true
			return s.metadata(h)
		}
		name := string(key)
		if _, dup := seen[name]; dup {
			return s.duplicate("tensor ", key)
		}
		seen[name] = struct{}{}
		e := entry{name: name}
		if err := s.tensor(&e); err != nil {
			return fmt.Errorf("tensor %s: %w", quote(name), err)
		}
		h.entries = append(h.entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	// Only now, so that a name that stands twice is not called a wrong offset.
	for i := range h.entries {
		if err := h.entries[i].check(); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", quote(h.entries[i].name), err)
		}
	}
	if err := h.cover(dataSize); err != nil {
		return nil, err
	}
	return h, nil
}

// metadata reads the value of __metadata__: strings by name. The reference
// implementation reads null as no metadata, and so does this one.
func (s *scanner) metadata(h *header) error {
	if s.literal("null") {
		return nil
	}
	h.metadata = make(map[string]string)
	err := s.object(func(key []byte) error {
		k := string(key)
		if _, dup := h.metadata[k]; dup {
			return s.duplicate("", key)
		}
		v, err := s.string()
		if err != nil {
			return fmt.Errorf("key %s: %w", quote(k), err)
		}
		h.metadata[k] = string(v)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", metadataKey, err)
	}
	return nil
}

// tensor reads what stands behind a tensor's name. Fields that are not of the
// format are skipped, as by the reference implementation.
func (s *scanner) tensor(e *entry) error {
	var sawDType, sawShape, sawOffsets bool
	var others map[string]struct{}
	err := s.object(func(key []byte) error {
		first := func(saw *bool) error {
			if *saw {
				return s.duplicate("", key)
			}
			*saw = true
			return nil
		}
		switch string(key) {
		case "dtype":
			if err := first(&sawDType); err != nil {
				return err
			}
			s.peek()
			start := s.pos
			name, err := s.string()
			if err != nil {
				return fmt.Errorf("dtype: %w", err)
			}
			if e.dtype, err = ParseDType(string(name)); err != nil {
				s.pos = start
				return s.fail(ErrDType, "%s", quote(string(name)))
			}
			return nil
		case "shape":
			if err := first(&sawShape); err != nil {
				return err
			}
			return s.shape(e)
		case "data_offsets":
			if err := first(&sawOffsets); err != nil {
				return err
			}
			return s.offsets(e)
		}
		if _, dup := others[string(key)]; dup {
			return s.duplicate("", key)
		}
		if others == nil {
			others = make(map[string]struct{})
		}
		others[string(key)] = struct{}{}
		return s.skip(maxDepth)
	})
	if err != nil {
		return err
	}
	switch {
	case !sawDType:
		return s.fail(ErrSyntax, "field dtype is missing")
	case !sawShape:
		return s.fail(ErrSyntax, "field shape is missing")
	case !sawOffsets:
		return s.fail(ErrSyntax, "field data_offsets is missing")
	}
	return nil
}

// check makes sure that the size of the data is that of the elements.
func (e *entry) check() error {
	if e.end < e.begin {
		return fmt.Errorf("%w: end before begin in [%d, %d]", ErrOffsets, e.begin, e.end)
	}
	want, err := e.dtype.Bytes(e.shape)
	if err != nil {
		return err
	}
	if e.end-e.begin != want {
		return fmt.Errorf("%w: %v %v takes %d bytes, data_offsets [%d, %d] hold %d",
			ErrSize, e.dtype, shapeString(e.shape), want, e.begin, e.end, e.end-e.begin)
	}
	return nil
}

func (s *scanner) shape(e *entry) error {
	e.shape = []uint64{}
	err := s.array(func() error {
		dim, err := s.uint()
		e.shape = append(e.shape, dim)
		return err
	})
	if err != nil {
		return fmt.Errorf("shape: %w", err)
	}
	return nil
}

func (s *scanner) offsets(e *entry) error {
	var pair [2]uint64
	n := 0
	err := s.array(func() error {
		if n == len(pair) {
			return s.fail(ErrSyntax, "want two numbers, found more")
		}
		var err error
		pair[n], err = s.uint()
		n++
		return err
	})
	if err == nil && n < len(pair) {
		err = s.fail(ErrSyntax, "want two numbers, found %d", n)
	}
	if err != nil {
		return fmt.Errorf("data_offsets: %w", err)
	}
	e.begin, e.end = pair[0], pair[1]
	return nil
}

// cover sorts the entries by their data and makes sure that they cover the
// dataSize bytes of the data section without holes and overlaps.
func (h *header) cover(dataSize uint64) error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	covered := uint64(0)
	for i, e := range h.entries {
		if e.begin > covered {
			return fmt.Errorf("tensor %s: %w: [%d, %d] leaves a hole, want begin %d",
				quote(e.name), ErrOffsets, e.begin, e.end, covered)
		}
		if e.begin < covered {
			return fmt.Errorf("tensor %s: %w: [%d, %d] overlaps tensor %s, want begin %d",
				quote(e.name), ErrOffsets, e.begin, e.end, quote(h.entries[i-1].name), covered)
		}
		covered = e.end
	}
	if covered > dataSize {
		return fmt.Errorf("%w: tensors end at %d, the file has %d bytes of data", ErrTruncated, covered, dataSize)
	}
	if covered < dataSize {
		return fmt.Errorf("%w: tensors end at %d, the file has %d bytes of data", ErrUncovered, covered, dataSize)
	}
	return nil
}
