package vma

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// verify checks order, links, balance and every stored gap.
func verify(t *testing.T, tree *Tree) {
	t.Helper()
	var n uint64
	var walk func(a, parent *Area) (int32, uint64)
	var last *Area
	walk = func(a, parent *Area) (int32, uint64) {
		if a == nil {
			return 0, 0
		}
		if a.parent != parent {
			t.Fatalf("%#x has a wrong parent", a.Start)
		}
		hl, ml := walk(a.left, a)
		if a.Prev != last || last != nil && (last.Next != a || last.End > a.Start) {
			t.Fatalf("%#x: order or links", a.Start)
		}
		last = a
		n++
		hr, mr := walk(a.right, a)
		if hl-hr > 1 || hr-hl > 1 || a.height != max(hl, hr)+1 {
			t.Fatalf("%#x is out of balance", a.Start)
		}
		if want := max(gapBefore(a), ml, mr); a.gap != gapBefore(a) || a.max != want {
			t.Fatalf("%#x: gap %#x max %#x, want max %#x", a.Start, a.gap, a.max, want)
		}
		return a.height, a.max
	}
	walk(tree.root, nil)
	if n != tree.count || tree.last != last || n > 0 && tree.first.Prev != nil {
		t.Fatalf("%d areas, count %d", n, tree.count)
	}
}

// TestRandom inserts, removes and moves areas at random and compares searches
// with those of a bitmap of pages.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const pages = 4096
	var used [pages]*Area
	var tree Tree
	var list []*Area
	mark := func(a *Area, v *Area) {
		for p := a.Start / page; p < a.End/page; p++ {
			used[p] = v
		}
	}
	for step := range 30000 {
		switch op := r.IntN(10); {
		case op < 5:
			start := uint64(r.IntN(pages - 8))
			end := start + 1 + uint64(r.IntN(7))
			if r.IntN(20) == 0 {
				end = min(pages, start+1+uint64(r.IntN(300)))
			}
			if slices.ContainsFunc(used[start:end], func(a *Area) bool { return a != nil }) {
				break
			}
			a := &Area{Start: start * page, End: end * page}
			if r.IntN(50) == 0 {
				a.Flags = GrowsDown
			}
			tree.Insert(a)
			mark(a, a)
			list = append(list, a)
		case op < 8:
			if len(list) == 0 {
				break
			}
			i := r.IntN(len(list))
			a := list[i]
			list[i] = list[len(list)-1]
			list = list[:len(list)-1]
			mark(a, nil)
			tree.Remove(a)
		default:
			if len(list) == 0 {
				break
			}
			a := list[r.IntN(len(list))]
			var low, high uint64 = 0, pages * page
			if a.Prev != nil {
				low = a.Prev.End
			}
			if a.Next != nil {
				high = a.Next.Start
			}
			mark(a, nil)
			s := low + uint64(r.IntN(int((a.End-low)/page)))*page
			e := min(high, s+page+uint64(r.IntN(4))*page)
			tree.Move(a, s, e)
			mark(a, a)
		}
		if step%500 == 0 {
			verify(t, &tree)
		}
		addr := uint64(r.IntN(pages*page + page))
		var want *Area
		for p := addr / page; p < pages && want == nil; p++ {
			want = used[p]
		}
		if got := tree.Find(addr); got != want {
			t.Fatalf("step %d: Find(%#x) is %v, want %v", step, addr, got, want)
		}
		if step%20 == 0 {
			checkGaps(t, r, &tree, used[:])
		}
	}
	for _, a := range list {
		tree.Remove(a)
	}
	verify(t, &tree)
	if tree.First() != nil || tree.Last() != nil || tree.Len() != 0 {
		t.Error("an empty tree is not empty")
	}
}

// checkGaps compares both searches with a scan over all pages.
func checkGaps(t *testing.T, r *rand.Rand, tree *Tree, used []*Area) {
	t.Helper()
	pages := uint64(len(used))
	low, high := uint64(r.IntN(int(pages))), uint64(r.IntN(int(pages)+1))
	if r.IntN(4) == 0 {
		high = uint64(r.IntN(30)) + low // few areas below it
	}
	high = min(high, pages)
	n, align := uint64(1+r.IntN(40)), uint64(1)<<r.IntN(5)
	offset := uint64(r.IntN(int(align)))
	guarded := func(p uint64) bool { // within the guard of an area that grows down
		a := tree.Find(p * page)
		return a != nil && a.Flags&GrowsDown != 0 && p*page < a.Start && a.Start-p*page <= Guard
	}
	fits := func(p uint64) bool {
		if p < low || p+n > high || p&(align-1) != offset {
			return false
		}
		for q := p; q < p+n; q++ {
			if used[q] != nil || guarded(q) {
				return false
			}
		}
		return true
	}
	var first, last uint64
	found := false
	for p := low; p+n <= high; p++ {
		if fits(p) {
			if !found {
				first = p
			}
			last, found = p, true
		}
	}
	check := func(name string, got uint64, ok bool, want uint64) {
		if ok && (got%page != 0 || !fits(got/page)) {
			t.Fatalf("%s(%d, %d, %d, %d) = %#x, which does not fit", name, low, high, n, align, got)
		}
		// with an alignment a tight gap may be missed
		if align == 1 && (ok != found || ok && got != want*page) {
			t.Fatalf("%s(%d, %d, %d) = %#x %v, want %#x %v", name, low, high, n, got, ok, want*page, found)
		}
	}
	got, ok := tree.GapDown(low*page, high*page, n*page, align*page, offset*page)
	check("GapDown", got, ok, last)
	got, ok = tree.GapUp(low*page, high*page, n*page, align*page, offset*page)
	check("GapUp", got, ok, first)
}

func TestGapEdges(t *testing.T) {
	var tree Tree
	for _, c := range []struct {
		low, high, n, align uint64
		ok                  bool
	}{
		{0x1000, 0x3000, 0x2000, 1, true}, {0x1000, 0x3000, 0x3000, 1, false}, {0x1000, 0x1000, 0x1000, 1, false},
		{0x3000, 0x1000, 0x1000, 1, false}, {0, 1 << 47, 1 << 47, 1, true}, {0, 1 << 47, 1<<64 - 4096, 1, false},
		{0, 1 << 47, 0, 1, false}, {0, 1 << 47, 1<<64 - 1, 1 << 21, false},
	} {
		if _, ok := tree.GapDown(c.low, c.high, c.n, c.align, 0); ok != c.ok {
			t.Errorf("GapDown%v is %v", c, ok)
		}
		if _, ok := tree.GapUp(c.low, c.high, c.n, c.align, 0); ok != c.ok {
			t.Errorf("GapUp%v is %v", c, ok)
		}
	}
}

// BenchmarkInsertFind is what a program with many mappings costs.
func BenchmarkGapDown(b *testing.B) {
	var tree Tree
	for i := range uint64(60000) {
		tree.Insert(&Area{Start: i * 2 * page, End: (i*2 + 1) * page})
	}
	for b.Loop() {
		if _, ok := tree.GapDown(0, 1<<47, 2*page, 1, 0); !ok {
			b.Fatal("no gap")
		}
	}
}

func ExampleTree_GapDown() {
	var t Tree
	t.Insert(&Area{Start: 0x5000, End: 0x8000})
	addr, ok := t.GapDown(0x1000, 0x8000, 0x2000, 1, 0)
	fmt.Printf("%#x %v\n", addr, ok)
	// Output: 0x3000 true
}
