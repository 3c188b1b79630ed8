package llama

// A candidate is a token that may be picked.
type candidate struct {
	x  float32 // logit, less the largest
	p  float32 // probability
	id int32
}

// above is the order of candidates: by logit, equal ones by ascending id.
func (c candidate) above(d candidate) bool {
	return c.x > d.x || c.x == d.x && c.id < d.id
}

func (t TokenLogProb) above(u TokenLogProb) bool {
	return t.LogProb > u.LogProb || t.LogProb == u.LogProb && t.ID < u.ID
}

// ranked is a type with a total order.
type ranked[T any] interface{ above(T) bool }

// maxHeapify makes h a binary heap with the element above all others at 0.
func maxHeapify[T ranked[T]](h []T) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftMax(h, i)
	}
}

// popMax takes the root off the heap h, leaves it at the end of h, where it is
// no part of the heap, and returns it.
func popMax[T ranked[T]](h []T) T {
	n := len(h) - 1
	h[0], h[n] = h[n], h[0]
	siftMax(h[:n], 0)
	return h[n]
}

func siftMax[T ranked[T]](h []T, i int) {
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].above(h[child]) {
			child++
		}
		if !h[child].above(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// minHeapify makes h a binary heap with the element below all others at 0.
func minHeapify[T ranked[T]](h []T) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftMin(h, i)
	}
}

func siftMin[T ranked[T]](h []T, i int) {
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child].above(h[child+1]) {
			child++
		}
		if !h[i].above(h[child]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// sortMinHeap sorts a heap whose root is its lowest, in descending order.
func sortMinHeap[T ranked[T]](h []T) {
	for n := len(h) - 1; n > 0; n-- {
		h[0], h[n] = h[n], h[0]
		siftMin(h[:n], 0)
	}
}

// selectTop appends to dst the k ≥ 1 candidates with the largest of the logits
// x, in descending order. It reads x once and compares most elements with the
// lowest candidate so far alone.
func selectTop(dst []candidate, x []float32, k int) []candidate {
	n := len(dst)
	for id, v := range x[:min(k, len(x))] {
		dst = append(dst, candidate{id: int32(id), x: v})
	}
	h := dst[n:]
	minHeapify(h)
	for id := len(h); id < len(x); id++ {
		if x[id] > h[0].x { // an equal one has a higher id
			h[0] = candidate{id: int32(id), x: x[id]}
			siftMin(h, 0)
		}
	}
	sortMinHeap(h)
	return dst
}
