package safetensors

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// The names under which a model folder is opened.
const (
	singleName = "model.safetensors"
	indexName  = "model.safetensors.index.json"
)

// index is a parsed model.safetensors.index.json.
type index struct {
	shards []string       // file names in ascending order
	names  []string       // tensor names in the order of the file
	shard  map[string]int // tensor name → index in shards
}

// parseIndex parses the JSON of an index: an object whose weight_map gives the
// shard's file name by tensor name. Other fields, such as the metadata with
// total_size, are skipped: writers disagree about what they count.
func parseIndex(text []byte) (*index, error) {
	s := &scanner{text: text}
	if err := s.checkUTF8(); err != nil {
		return nil, err
	}
	x := &index{shard: make(map[string]int)}
	number := make(map[string]int) // shard name → order of appearance
	keys := make(map[string]struct{})
	err := s.object(func(key []byte) error {
		k := string(key)
		if _, dup := keys[k]; dup {
			return s.duplicate("", key)
		}
		keys[k] = struct{}{}
		if k != "weight_map" {
			return s.skip(maxDepth)
		}
		err := s.object(func(key []byte) error { return s.weight(x, string(key), number) })
		if err != nil {
			return fmt.Errorf("weight_map: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	if _, ok := keys["weight_map"]; !ok {
		return nil, s.fail(ErrSyntax, "field weight_map is missing")
	}
	x.sort()
	return x, nil
}

// weight reads the shard of one tensor.
func (s *scanner) weight(x *index, name string, number map[string]int) error {
	if _, dup := x.shard[name]; dup {
		return s.duplicate("tensor ", []byte(name))
	}
	if name == metadataKey {
		return s.fail(ErrSyntax, "%q is not a tensor", name)
	}
	shard, err := s.string()
	if err != nil {
		return fmt.Errorf("tensor %s: %w", quote(name), err)
	}
	if !validShardName(string(shard)) {
		return fmt.Errorf("tensor %s: %w: %s", quote(name), ErrShardName, quote(string(shard)))
	}
	n, ok := number[string(shard)]
	if !ok {
		n = len(x.shards)
		number[string(shard)] = n
		x.shards = append(x.shards, string(shard))
	}
	x.names = append(x.names, name)
	x.shard[name] = n
	return nil
}

// validShardName reports whether name is a path that stays in the index's
// folder on every system. Symbolic links are followed: the hub's cache
// consists of them.
func validShardName(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\:\x00")
}

// sort brings the shards into ascending order.
func (x *index) sort() {
	order := make([]int, len(x.shards)) // order[new] = old
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(x.shards[a], x.shards[b]) })
	place := make([]int, len(order))
	sorted := make([]string, len(order))
	for to, from := range order {
		place[from] = to
		sorted[to] = x.shards[from]
	}
	x.shards = sorted
	for name, from := range x.shard {
		x.shard[name] = place[from]
	}
}

// check compares the index with the shards' tensors: every tensor in exactly
// one shard, and those of the weight_map in theirs. Tensors that the index
// does not list are kept.
func (x *index) check(entries []entry) error {
	found := make(map[string]int, len(entries))
	for _, e := range entries {
		if other, dup := found[e.name]; dup {
			return fmt.Errorf("tensor %s: %w: %s and %s", quote(e.name), ErrTwoShards,
				quote(x.shards[other]), quote(x.shards[e.shard]))
		}
		found[e.name] = e.shard
	}
	for _, name := range x.names {
		want := x.shard[name]
		switch got, ok := found[name]; {
		case !ok:
			return fmt.Errorf("tensor %s: %w: %s lacks it, and so do the others", quote(name), ErrWrongShard,
				quote(x.shards[want]))
		case got != want:
			return fmt.Errorf("tensor %s: %w: want %s, found in %s", quote(name), ErrWrongShard,
				quote(x.shards[want]), quote(x.shards[got]))
		}
	}
	return nil
}
