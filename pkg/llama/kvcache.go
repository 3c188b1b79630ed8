package llama

// kvCache holds the keys and values of one session, float32 and position-major:
// those of position p of a layer lie at p·dim, one head after another. float32
// is part of the arithmetic's contract.
//
// The cache is allocated for its full capacity, but memory that no position has
// touched yet is only reserved.
type kvCache struct {
	k, v     [][]float32 // a layer each
	dim      int         // key/value heads × head_dim
	capacity int         // positions
}

func newKVCache(c *Config, capacity int) *kvCache {
	kv := &kvCache{
		k:        make([][]float32, c.NumHiddenLayers),
		v:        make([][]float32, c.NumHiddenLayers),
		dim:      c.NumKeyValueHeads * c.HeadDim,
		capacity: capacity,
	}
	for i := range kv.k {
		kv.k[i] = make([]float32, capacity*kv.dim)
		kv.v[i] = make([]float32, capacity*kv.dim)
	}
	return kv
}

// bytes returns the memory that n positions use.
func (kv *kvCache) bytes(n int) int64 { return int64(len(kv.k)) * int64(n) * int64(kv.dim) * 8 }
