package frames

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/phys"
)

// ram points the direct map at size bytes of zeroed memory that stand in for
// physical memory from address 0.
func ram(t testing.TB, size int) {
	t.Helper()
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	old := phys.Base
	phys.Base = uintptr(unsafe.Pointer(&m[0]))
	t.Cleanup(func() { phys.Base = old; _ = unix.Munmap(m) })
}

func sound(t testing.TB, a *Allocator) Shape {
	t.Helper()
	var s Shape
	if f, pa := a.Check(&s); f != Sound {
		t.Fatalf("Check: fault %d at %#x", f, pa)
	}
	return s
}

// TestRandom runs random allocations against a plain record of who owns which
// frame, over regions with odd edges and a hole inside one section.
func TestRandom(t *testing.T) {
	const size = 192 << 20
	ram(t, size)
	var a Allocator
	regions := [MaxRegions]Region{{0x1000, 0x9f000}, {0x345000, 40<<20 + 0x7000}, {41 << 20, 130<<20 + 0x3000}, {0, 0}, {150 << 20, size}}
	if !a.Init(&regions, 5) {
		t.Fatal("Init found no room")
	}
	r := rand.New(rand.NewPCG(3, 4))
	owner := make([]int, size>>12)
	blocks := map[uint64]uint64{} // address → order
	var addrs []uint64
	var used uint64
	for step := range 60000 {
		if r.IntN(100) < 52 {
			order := uint64(r.IntN(4) * r.IntN(5))
			if order > MaxOrder {
				order = MaxOrder
			}
			pa := a.Alloc(order)
			if pa == 0 {
				continue
			}
			if pa&(phys.PageSize<<order-1) != 0 {
				t.Fatalf("block %#x of order %d is not aligned", pa, order)
			}
			inside := false
			for _, g := range regions {
				inside = inside || pa >= g.Start && pa+phys.PageSize<<order <= g.End
			}
			if !inside {
				t.Fatalf("block %#x of order %d is outside the regions", pa, order)
			}
			for f := pa >> 12; f < pa>>12+1<<order; f++ {
				if owner[f] != 0 {
					t.Fatalf("frame %#x given twice", f<<12)
				}
				owner[f] = step + 1
			}
			*phys.Word(pa), *phys.Word(pa + 8) = ^uint64(0), ^uint64(0)
			blocks[pa] = order
			addrs = append(addrs, pa)
			used += 1 << order
		} else if len(addrs) > 0 {
			i := r.IntN(len(addrs))
			pa := addrs[i]
			addrs[i] = addrs[len(addrs)-1]
			addrs = addrs[:len(addrs)-1]
			order := blocks[pa]
			delete(blocks, pa)
			if order > 0 && r.IntN(3) == 0 {
				a.Split(pa)
				if a.PutRun(pa+phys.PageSize, order) {
					t.Fatal("PutRun of a block that is not aligned")
				}
				if r.IntN(2) == 0 {
					if !a.PutRun(pa, order) {
						t.Fatal("PutRun")
					}
				} else {
					a.Put(pa)
					if a.PutRun(pa, order) {
						t.Fatal("PutRun of frames of which one is free")
					}
					for f := pa + phys.PageSize; f < pa+phys.PageSize<<order; f += phys.PageSize {
						a.Put(f)
					}
				}
			} else {
				a.Put(pa)
			}
			for f := pa >> 12; f < pa>>12+1<<order; f++ {
				owner[f] = 0
			}
			used -= 1 << order
		}
		if a.Free()+used != a.Total() {
			t.Fatalf("step %d: %d free + %d used is not %d", step, a.Free(), used, a.Total())
		}
		if step%2000 == 0 {
			sound(t, &a)
		}
	}
	for _, pa := range addrs {
		a.Release(pa)
	}
	for o, n := range sound(t, &a).Used {
		if n != 0 {
			t.Errorf("%d blocks of order %d are still in use", n, o)
		}
	}
}

// TestExhaustion takes every frame, finds each once, and gives them back.
func TestExhaustion(t *testing.T) {
	ram(t, 64<<20)
	var a Allocator
	if !a.Init(&[MaxRegions]Region{{4 << 20, 64 << 20}}, 1) {
		t.Fatal("Init")
	}
	a.SetReserve(100)
	seen := map[uint64]bool{}
	for {
		pa := a.AllocUser(0)
		if pa == 0 {
			break
		}
		if seen[pa] {
			t.Fatalf("%#x twice", pa)
		}
		seen[pa] = true
	}
	if a.Free() != 100 {
		t.Errorf("%d frames are left of a reserve of 100", a.Free())
	}
	for range 100 {
		pa := a.AllocZero()
		if pa == 0 || seen[pa] {
			t.Fatalf("the reserve gave %#x", pa)
		}
		seen[pa] = true
	}
	if pa := a.Alloc(0); pa != 0 || a.Free() != 0 {
		t.Errorf("an exhausted allocator gave %#x and has %d frames", pa, a.Free())
	}
	for pa := range seen {
		a.Put(pa)
	}
	if s := sound(t, &a); a.Free() != a.Total() || s.Free[MaxOrder] != 1 {
		t.Errorf("%d of %d frames free, %d whole sections", a.Free(), a.Total(), s.Free[MaxOrder])
	}
}

// TestLazy checks that a guest of 64 GiB with a hole below 4 GiB costs one
// section's metadata to start with.
func TestLazy(t *testing.T) {
	ram(t, 66<<30)
	var a Allocator
	if !a.Init(&[MaxRegions]Region{{4 << 20, 2 << 30}, {4 << 30, 66 << 30}}, 2) {
		t.Fatal("Init")
	}
	if pa := a.AllocZero(); pa == 0 {
		t.Fatal("no frame")
	}
	var pages int
	vec := make([]byte, 66<<30>>12)
	m := unsafe.Slice((*byte)(unsafe.Pointer(phys.Pointer(0))), 66<<30)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), uintptr(unsafe.Pointer(&vec[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, v := range vec {
		pages += int(v & 1)
	}
	// 8 pages of metadata, one page a free block, the page itself
	if pages > 32 {
		t.Errorf("%d pages were touched", pages)
	}
	if want := uint64(62<<30+2<<30-4<<20)>>12 - 66<<30>>12*4>>12; a.Total() != want {
		t.Errorf("Total %d, want %d", a.Total(), want)
	}
	for a.Alloc(MaxOrder) != 0 {
	}
	sound(t, &a)
}

func TestSelfTest(t *testing.T) {
	ram(t, 128<<20)
	var a Allocator
	a.Init(&[MaxRegions]Region{{5 << 20, 127 << 20}}, 1)
	hold := a.Alloc(3)
	if f, pa := a.SelfTest(); f != Sound {
		t.Fatalf("fault %d at %#x", f, pa)
	}
	// every kind of damage is noticed
	damage := []struct {
		want Fault
		do   func() (undo func())
	}{
		{BadState, func() func() { w := a.word(hold); o := *w; *w = 0; return func() { *w = o } }},
		{BadInner, func() func() { w := a.word(hold + 4096); *w = 1; return func() { *w = 0 } }},
		{BadOrder, func() func() { w := a.word(hold); o := *w; *w = 31 << orderShift; return func() { *w = o } }},
		{BadLink, func() func() {
			p := phys.Word(a.lists[4] + 8)
			o := *p
			*p = hold
			return func() { *p = o }
		}},
		{BadCount, func() func() { a.free++; return func() { a.free-- } }},
		{BadCount, func() func() {
			o := 0
			for a.lists[o] == 0 {
				o++
			}
			head := a.lists[o]
			a.lists[o] = 0
			return func() { a.lists[o] = head }
		}},
	}
	for i, d := range damage {
		undo := d.do()
		var s Shape
		f, _ := a.Check(&s)
		if f == Sound || f != d.want && !(f == BadLink && d.want == BadCount) {
			t.Errorf("damage %d: Check found %d, want %d", i, f, d.want)
		}
		undo()
		sound(t, &a)
	}
}

func TestCounts(t *testing.T) {
	ram(t, 64<<20)
	var a Allocator
	a.Init(&[MaxRegions]Region{{1 << 20, 64 << 20}}, 1)
	pa := a.Alloc(0)
	free := a.Free()
	a.Add(pa, 2)
	a.Put(pa)
	a.Put(pa)
	if a.Count(pa) != 1 || a.Free() != free {
		t.Fatalf("count %d", a.Count(pa))
	}
	a.Add(pa, countMask-5)
	a.Add(pa, 100)
	if a.Sub(pa, 7) != countMask {
		t.Error("a saturated count moved")
	}
	for _, f := range []func(){
		func() { b := a.Alloc(0); a.Release(b); a.Release(b) },
		func() { b := a.Alloc(0); a.Sub(b, 2) },
		func() { b := a.Alloc(2); a.Add(b, 1); a.Split(b) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("misuse went unnoticed")
				}
			}()
			f()
		}()
	}
}

func Example() {
	// On the kernel the regions come from the boot memory map.
	var a Allocator
	if !a.Init(&[MaxRegions]Region{}, 0) {
		fmt.Println("no memory")
	}
	// Output: no memory
}
