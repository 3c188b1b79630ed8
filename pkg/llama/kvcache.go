package llama

import (
	"fmt"
	"math"

	"github.com/leveret-os/leveret/internal/simd"
)

// kvCache holds the keys and values of one session, float32 and position-major:
// those of position p of a layer lie at p·dim, one head after another. float32
// is part of the arithmetic's contract.
//
// The cache is reserved for its full capacity, but takes memory only for
// positions that have been stored.
type kvCache struct {
	k, v     [][]float32 // a layer each
	dim      int         // key/value heads × head_dim
	capacity int         // positions
	memory   *simd.Memory
}

func newKVCache(c *Config, capacity int) (*kvCache, error) {
	kv := &kvCache{
		k:        make([][]float32, c.NumHiddenLayers),
		v:        make([][]float32, c.NumHiddenLayers),
		dim:      c.NumKeyValueHeads * c.HeadDim,
		capacity: capacity,
	}
	var err error
	if kv.memory, err = reserve(2*len(kv.k)*kv.dim, capacity, "keys and values"); err != nil {
		return nil, err
	}
	n, rest := capacity*kv.dim, kv.memory.Floats()
	for i := range kv.k {
		kv.k[i], kv.v[i], rest = rest[:n:n], rest[n:2*n:2*n], rest[2*n:]
	}
	return kv, nil
}

// reserve returns memory for so many values of each position.
func reserve(each, positions int, what string) (*simd.Memory, error) {
	count := float64(each) * float64(positions) // which may overflow an int
	err := simd.ErrMemory
	if count <= math.MaxInt/4 {
		var m *simd.Memory
		if m, err = simd.Reserve(each * positions); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%w: %s of %d positions, %.3g bytes: %w", ErrMemory, what, positions, 4*count, err)
}

// bytes returns the memory that n positions use.
func (kv *kvCache) bytes(n int) int64 { return int64(len(kv.k)) * int64(n) * int64(kv.dim) * 8 }

// free gives the memory back. The cache must not be used any more.
func (kv *kvCache) free() { kv.memory.Free() }
