package bpe

// wordState is the scratch memory for merging one piece. It is reused from
// piece to piece and from call to call.
type wordState struct {
	ids    []int32 // the symbols of the piece
	merges []merge // merges[i] joins symbols i and its successor
	next   []int32 // long pieces: successor of each symbol, -1 at the end
	prev   []int32
	heap   []uint64 // long pieces: rank<<32 | position
	key    []byte   // the piece as the vocabulary spells it
}

// maxSmall is the number of symbols up to which scanning for the strongest
// merge beats keeping a heap. Words of natural language stay below it.
const maxSmall = 40

// mergeAll applies the merge rules to w.ids: always the strongest rule first,
// the leftmost place where it applies. It returns the remaining symbols, which
// are valid until the next call.
func (t *pairTable) mergeAll(w *wordState) []int32 {
	if len(w.ids) <= maxSmall {
		return t.mergeSmall(w)
	}
	return t.mergeLarge(w)
}

func (t *pairTable) mergeSmall(w *wordState) []int32 {
	ids := w.ids
	merges := w.merges[:0]
	for i := 1; i < len(ids); i++ {
		merges = append(merges, t.get(ids[i-1], ids[i]))
	}
	w.merges = merges
	for len(merges) > 0 {
		best, at := noMerge, -1
		for i, m := range merges {
			if m < best {
				best, at = m, i
			}
		}
		if at < 0 {
			break
		}
		ids[at] = best.id()
		copy(ids[at+1:], ids[at+2:])
		copy(merges[at:], merges[at+1:])
		ids, merges = ids[:len(ids)-1], merges[:len(merges)-1]
		if at > 0 {
			merges[at-1] = t.get(ids[at-1], ids[at])
		}
		if at < len(merges) {
			merges[at] = t.get(ids[at], ids[at+1])
		}
	}
	return ids
}

// mergeLarge keeps the applicable merges in a heap and the symbols in a linked
// list: n log n whatever the text. A heap entry is stale when its place has been
// merged otherwise since; then its rank differs from the place's current one.
func (t *pairTable) mergeLarge(w *wordState) []int32 {
	ids, n := w.ids, len(w.ids)
	w.merges = resize(w.merges, n)
	w.next = resize(w.next, n)
	w.prev = resize(w.prev, n)
	merges, next, prev := w.merges, w.next, w.prev
	heap := w.heap[:0]
	for i := range n {
		next[i], prev[i], merges[i] = int32(i+1), int32(i-1), noMerge
		if i+1 < n {
			if m := t.get(ids[i], ids[i+1]); m != noMerge {
				merges[i] = m
				heap = append(heap, uint64(m.rank())<<32|uint64(i))
			}
		}
	}
	next[n-1] = -1
	for i := len(heap)/2 - 1; i >= 0; i-- {
		siftDown(heap, i)
	}

	for len(heap) > 0 {
		top := heap[0]
		last := len(heap) - 1
		heap[0] = heap[last]
		heap = heap[:last]
		siftDown(heap, 0)

		i := int32(uint32(top))
		m := merges[i]
		if m == noMerge || uint64(m.rank()) != top>>32 {
			continue
		}
		right := next[i]
		after := next[right]
		ids[i] = m.id()
		ids[right] = -1
		merges[right] = noMerge
		next[i] = after
		merges[i] = noMerge
		if after >= 0 {
			prev[after] = i
			if m := t.get(ids[i], ids[after]); m != noMerge {
				merges[i] = m
				heap = push(heap, uint64(m.rank())<<32|uint64(i))
			}
		}
		if before := prev[i]; before >= 0 {
			m := t.get(ids[before], ids[i])
			merges[before] = m
			if m != noMerge {
				heap = push(heap, uint64(m.rank())<<32|uint64(before))
			}
		}
	}
	w.heap = heap

	out := ids[:0]
	for _, id := range ids {
		if id >= 0 {
			out = append(out, id)
		}
	}
	return out
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// siftDown and push keep a binary heap with the smallest entry first.
func siftDown(h []uint64, i int) {
	if i >= len(h) {
		return
	}
	v := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[c] >= v {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = v
}

func push(h []uint64, v uint64) []uint64 {
	h = append(h, v)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if h[p] <= v {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = v
	return h
}

// release gives back the memory of a very long piece.
func (w *wordState) release() {
	if cap(w.ids) > 1<<16 || cap(w.key) > 1<<16 {
		*w = wordState{}
	}
}
