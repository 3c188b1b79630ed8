package grammar

import (
	"bytes"
	"slices"
)

// A trie holds byte strings in the order of a walk that meets a node before what
// is below it. Node 0 is the empty string.
type trie struct {
	label []byte  // the last byte of a node's string
	end   []int32 // the first node that is not below
	item  []int32 // the first item with a node's string; -1: none
	same  []int32 // by item: the next one with the same string; -1: none
}

// newTrie builds a trie of items 0 to n-1; those for which text is nil are left
// out.
func newTrie(n int, text func(i int32) []byte) *trie {
	order := make([]int32, 0, n)
	size := 1
	for i := range int32(n) {
		if t := text(i); t != nil {
			order = append(order, i)
			size += len(t)
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := bytes.Compare(text(a), text(b)); c != 0 {
			return c
		}
		return int(a) - int(b)
	})
	t := &trie{same: make([]int32, n), label: make([]byte, 1, size), end: make([]int32, 1, size), item: make([]int32, 1, size)}
	t.item[0] = -1
	open := []int32{0} // the nodes of the last string's prefixes
	last := int32(-1)
	var previous []byte
	for _, i := range order {
		t.same[i] = -1
		s := text(i)
		common := 0
		for common < len(previous) && common < len(s) && previous[common] == s[common] {
			common++
		}
		for k := len(open) - 1; k > common; k-- {
			t.end[open[k]] = int32(len(t.label))
		}
		open = open[:common+1]
		for _, c := range s[common:] {
			open = append(open, int32(len(t.label)))
			t.label = append(t.label, c)
			t.end = append(t.end, 0)
			t.item = append(t.item, -1)
		}
		node := open[len(s)]
		if t.item[node] < 0 {
			t.item[node] = i
		} else {
			t.same[last] = i
		}
		last = i
		previous = s
	}
	for _, node := range open {
		t.end[node] = int32(len(t.label))
	}
	return t
}
