// Package order keeps nodes sorted by a key in a tree whose links are inside
// the nodes, so that it allocates nothing: timers by deadline, runnable
// threads by virtual runtime.
//
// The tree is a treap (Seidel and Aragon, Randomized Search Trees, 1996): a
// search tree by key and a heap by a random priority, so the expected depth
// is logarithmic whatever keys a program chooses.
package order

// Node is a member of at most one Tree. Its zero value is in none.
type Node struct {
	Key uint64

	left, right, parent *Node
	priority            uint32
	in                  bool
}

// In tells whether n is in a tree.
func (n *Node) In() bool { return n.in }

// Tree holds nodes in rising order of Key; of equal keys the one inserted
// first comes first. The zero value is empty and ready to use.
type Tree struct {
	root, first *Node
	length      int
	seed        uint32
}

// Len is the number of nodes.
func (t *Tree) Len() int { return t.length }

// First is the node with the lowest key, nil when the tree is empty.
func (t *Tree) First() *Node { return t.first }

// Insert adds n, which must be in no tree, under key.
func (t *Tree) Insert(n *Node, key uint64) {
	n.Key = key
	n.left, n.right = nil, nil
	n.in = true
	t.length++
	if t.root == nil { // the common case on a quiet machine
		n.parent = nil
		t.root, t.first = n, n
		return
	}
	s := t.seed*1664525 + 1013904223
	t.seed = s
	n.priority = s ^ s>>15
	p, lowest := t.root, true
	for {
		if key < p.Key {
			if p.left == nil {
				p.left = n
				break
			}
			p = p.left
			continue
		}
		lowest = false
		if p.right == nil {
			p.right = n
			break
		}
		p = p.right
	}
	n.parent = p
	if lowest {
		t.first = n
	}
	for p = n.parent; p != nil && p.priority < n.priority; p = n.parent {
		t.raise(n, p)
	}
}

// raise rotates n, a child of p, above it.
func (t *Tree) raise(n, p *Node) {
	g := p.parent
	if p.left == n {
		p.left = n.right
		if n.right != nil {
			n.right.parent = p
		}
		n.right = p
	} else {
		p.right = n.left
		if n.left != nil {
			n.left.parent = p
		}
		n.left = p
	}
	p.parent = n
	n.parent = g
	t.replace(g, p, n)
}

// replace makes n the child of g (nil: the root) where old was.
func (t *Tree) replace(g, old, n *Node) {
	switch {
	case g == nil:
		t.root = n
	case g.left == old:
		g.left = n
	default:
		g.right = n
	}
}

// Remove takes n out; nothing happens when it is in no tree.
func (t *Tree) Remove(n *Node) {
	if !n.in {
		return
	}
	n.in = false
	t.length--
	if t.length == 0 {
		t.root, t.first = nil, nil
		return
	}
	if t.first == n {
		t.first = n.next()
	}
	for n.left != nil && n.right != nil {
		c := n.left
		if n.right.priority > c.priority {
			c = n.right
		}
		t.raise(c, n)
	}
	c := n.left
	if c == nil {
		c = n.right
	}
	if c != nil {
		c.parent = n.parent
	}
	t.replace(n.parent, n, c)
	n.left, n.right, n.parent = nil, nil, nil
}

// Pop removes and returns the node with the lowest key, nil when the tree is
// empty.
func (t *Tree) Pop() *Node {
	n := t.first
	if n == nil {
		return nil
	}
	if t.length == 1 {
		n.in = false
		t.length, t.root, t.first = 0, nil, nil
		return n
	}
	t.Remove(n)
	return n
}

// next is the node after n in order.
func (n *Node) next() *Node {
	if n.right != nil {
		n = n.right
		for n.left != nil {
			n = n.left
		}
		return n
	}
	for n.parent != nil && n.parent.right == n {
		n = n.parent
	}
	return n.parent
}

// Next is the node after n, nil at the end. n must be in the tree.
func (t *Tree) Next(n *Node) *Node { return n.next() }

// Find is the first node with key, nil when there is none.
func (t *Tree) Find(key uint64) *Node {
	var found *Node
	for n := t.root; n != nil; {
		if key <= n.Key {
			if key == n.Key {
				found = n
			}
			n = n.left
		} else {
			n = n.right
		}
	}
	return found
}
