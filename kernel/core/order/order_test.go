package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// check walks the tree and compares it with want.
func check(t *testing.T, tree *Tree, want []*Node) {
	t.Helper()
	if tree.Len() != len(want) {
		t.Fatalf("Len %d, want %d", tree.Len(), len(want))
	}
	i := 0
	for n := tree.First(); n != nil; n = tree.Next(n) {
		if i >= len(want) || n != want[i] {
			t.Fatalf("node %d of %d is another one", i, len(want))
		}
		i++
	}
	if i != len(want) {
		t.Fatalf("walk ends after %d of %d", i, len(want))
	}
}

func TestTreeAgainstSortedSlice(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var tree Tree
		var model []*Node
		nodes := make([]Node, 64)
		for range 2000 {
			if rng.IntN(4) == 0 {
				n := tree.Pop()
				if n == nil != (len(model) == 0) || n != nil && n != model[0] {
					t.Fatal("Pop is not the first")
				}
				model = model[min(1, len(model)):]
				check(t, &tree, model)
			}
			n := &nodes[rng.IntN(len(nodes))]
			if n.In() {
				tree.Remove(n)
				model = slices.DeleteFunc(model, func(m *Node) bool { return m == n })
			} else {
				tree.Insert(n, uint64(rng.IntN(20)))
				model = append(model, n)
				slices.SortStableFunc(model, func(a, b *Node) int { return cmp.Compare(a.Key, b.Key) })
			}
			check(t, &tree, model)
		}
	}
}

func TestDepthOfRisingKeys(t *testing.T) {
	var tree Tree
	nodes := make([]Node, 1<<14)
	for i := range nodes {
		tree.Insert(&nodes[i], uint64(i))
	}
	var depth func(n *Node) int
	depth = func(n *Node) int {
		if n == nil {
			return 0
		}
		return 1 + max(depth(n.left), depth(n.right))
	}
	// 2·ln(n) is the expected depth of a node, about 20; 60 is far out.
	if d := depth(tree.root); d > 60 {
		t.Errorf("depth %d of %d rising keys", d, len(nodes))
	}
}

func TestRemoveOfAbsentNode(t *testing.T) {
	var tree Tree
	var a, b Node
	tree.Insert(&a, 1)
	tree.Remove(&b)
	tree.Remove(&a)
	tree.Remove(&a)
	check(t, &tree, nil)
}
