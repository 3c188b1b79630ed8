package bpe

import (
	"hash/maphash"
	"math"
	"math/bits"
)

// Token ids index tables, so they may not be arbitrarily larger than their
// number: a file that states the id 2^31 must not cost 2^31 entries. Holes are
// allowed, since vocabularies are padded and cut down.
const (
	maxSparse = 1 << 19 // ids up to this one are always allowed
	maxHoles  = 4       // above it, ids up to this many times the number of tokens
)

// vocab is the set of the model's tokens, by content and by id. The contents
// lie one behind the other in one array; a hash table of 64-bit slots, each the
// upper half of the hash and an entry's number plus one, finds them. The seed
// of the hash is random, so no file can be made to collide.
type vocab struct {
	arena []byte
	end   []uint32 // entry → end of its content in arena (its start is the end before)
	ids   []int32  // entry → id
	byID  []int32  // id → entry, -1 for a hole
	slots []uint64
	seed  maphash.Seed
}

// at returns the content of an entry.
func (v *vocab) at(entry int32) []byte {
	start := uint32(0)
	if entry > 0 {
		start = v.end[entry-1]
	}
	return v.arena[start:v.end[entry]]
}

// freeze builds the tables. place names the vocabulary in errors.
func (v *vocab) freeze(place string) error {
	if len(v.arena) > math.MaxUint32>>1 {
		return placed(ErrVocab, place, "the tokens take %d bytes together", len(v.arena))
	}
	n := len(v.ids)
	top := int32(-1)
	for _, id := range v.ids {
		top = max(top, id)
	}
	if int(top) >= maxSparse+maxHoles*n {
		var e int32
		for i, id := range v.ids {
			if id == top {
				e = int32(i)
			}
		}
		return placed(ErrVocab, place, "token %q has the id %d, far beyond the %d tokens there are", clip(v.at(e)), top, n)
	}
	v.byID = make([]int32, top+1)
	for i := range v.byID {
		v.byID[i] = -1
	}
	v.seed = maphash.MakeSeed()
	v.slots = make([]uint64, tableSize(n))
	for i, id := range v.ids {
		content := v.at(int32(i))
		if other := v.byID[id]; other >= 0 {
			return placed(ErrVocab, place, "tokens %q and %q both have the id %d", clip(v.at(other)), clip(content), id)
		}
		v.byID[id] = int32(i)
		hash := maphash.Bytes(v.seed, content)
		slot, entry := v.probe(hash, content)
		if entry >= 0 {
			return placed(ErrVocab, place, "token %q appears twice, with the ids %d and %d", clip(content), v.ids[entry], id)
		}
		v.slots[slot] = hash&^math.MaxUint32 | uint64(i+1)
	}
	return nil
}

// tableSize returns a power of two with room for n entries below 3/4 load.
func tableSize(n int) int {
	return 1 << bits.Len(uint(n+n/3))
}

// probe finds the slot of a content: the entry there, or -1 and a free slot.
func (v *vocab) probe(hash uint64, content []byte) (slot int, entry int32) {
	mask := uint64(len(v.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := v.slots[i]
		if s == 0 {
			return int(i), -1
		}
		if (s^hash)>>32 == 0 {
			if e := int32(uint32(s)) - 1; string(v.at(e)) == string(content) {
				return int(i), e
			}
		}
	}
}

// find returns the entry of a token, or -1.
func (v *vocab) find(content []byte) int32 {
	_, e := v.probe(maphash.Bytes(v.seed, content), content)
	return e
}

// id returns the id of a token, or -1.
func (v *vocab) id(content []byte) int32 {
	if e := v.find(content); e >= 0 {
		return v.ids[e]
	}
	return -1
}

// content returns the spelling of an id.
func (v *vocab) content(id int) ([]byte, bool) {
	if id < 0 || id >= len(v.byID) || v.byID[id] < 0 {
		return nil, false
	}
	return v.at(v.byID[id]), true
}

// pairTable finds a merge by the ids of its two sides: open addressing with
// linear probing and a random odd multiplier as the hash.
type pairTable struct {
	slots []pairSlot
	mul   uint64
	shift uint
}

// merge is a merge rule's rank (0 the strongest) in the upper half and the id
// that it makes in the lower, so that the smaller value wins.
type merge uint64

const noMerge = merge(math.MaxUint64)

func newMerge(rank, id int32) merge { return merge(rank)<<32 | merge(id) }

func (m merge) id() int32    { return int32(uint32(m)) }
func (m merge) rank() uint32 { return uint32(m >> 32) }

// pairSlot is free while its value is 0: the stored value is the merge plus 1.
type pairSlot struct {
	key, value uint64
}

func newPairTable(rules []rule) pairTable {
	size := tableSize(len(rules))
	var b [8]byte
	t := pairTable{
		slots: make([]pairSlot, size),
		mul:   maphash.Bytes(maphash.MakeSeed(), b[:]) | 1,
		shift: uint(64 - bits.Len(uint(size-1))),
	}
	for rank, r := range rules {
		t.set(r.left, r.right, newMerge(int32(rank), r.joined))
	}
	return t
}

func pairKey(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// set stores a rule; of two rules for one pair the later stays, as in tokenizers.
func (t *pairTable) set(a, b int32, m merge) {
	key := pairKey(a, b)
	mask := uint64(len(t.slots) - 1)
	for i := t.home(key); ; i = (i + 1) & mask {
		if s := &t.slots[i&mask]; s.value == 0 || s.key == key {
			*s = pairSlot{key, uint64(m) + 1}
			return
		}
	}
}

func (t *pairTable) home(key uint64) uint64 { return (key * t.mul) >> (t.shift & 63) }

// get returns the rule for two adjacent tokens, or noMerge.
func (t *pairTable) get(a, b int32) merge {
	key := pairKey(a, b)
	mask := uint64(len(t.slots) - 1)
	for i := t.home(key); ; i++ {
		s := &t.slots[i&mask]
		if s.key == key && s.value != 0 {
			return merge(s.value - 1)
		}
		if s.value == 0 {
			return noMerge
		}
	}
}
