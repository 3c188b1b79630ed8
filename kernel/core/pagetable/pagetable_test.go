package pagetable

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/leveret-os/leveret/kernel/core/frames/frametest"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// translate walks the tables as the processor does and returns the physical
// address and the page's flags, or false.
func translate(root, va uint64) (pa, flags uint64, ok bool) {
	t := root
	for _, shift := range []uint64{39, 30, 21, 12} {
		e := *phys.Word(t + va>>shift&511*8)
		if e&Present == 0 {
			return 0, 0, false
		}
		if shift == 12 || e&Large != 0 {
			return e&Address + va&(1<<shift-1), e &^ Address, true
		}
		t = e & Address
	}
	return 0, 0, false
}

// TestRandom maps, unmaps, hides and splits pages at random places in both
// halves and compares every step with a plain map; at the end no table is left.
func TestRandom(t *testing.T) {
	f := frametest.RAM(t, 512<<20)
	free := f.Free()
	// a kernel half whose third level exists from boot, outside the allocator
	kernel := uint64(0x10000)
	for i := uint64(256); i < 400; i++ {
		*phys.Word(kernel + i*8) = (0x20000 + (i-256)*4096) | Present | Writable
	}
	var m Map
	if !m.Init(f, kernel) {
		t.Fatal("Init")
	}
	r := rand.New(rand.NewPCG(7, 8))
	type page struct{ pa, flags uint64 }
	small, large := map[uint64]page{}, map[uint64]page{}
	pick := func() uint64 {
		bases := []uint64{0x400000, 0x7f00_0000_0000, 0x7fff_fe00_0000, 0x1_0000_0000, 0xffff_c000_0000_0000, 0xffff_c000_4000_0000}
		return bases[r.IntN(len(bases))] + uint64(r.IntN(8))<<21 + uint64(r.IntN(20))<<12
	}
	flags := func(va uint64) uint64 {
		fl := uint64(Present | Accessed)
		if va < Half {
			fl |= User
		}
		if r.IntN(2) == 0 {
			fl |= Writable | Dirty
		}
		if r.IntN(2) == 0 {
			fl |= NoExec
		}
		return fl
	}
	unmapLarge := func(va uint64) {
		slot, size := m.Lookup(va)
		if size != 1<<21 || *slot&Large == 0 {
			t.Fatalf("no large page at %#x", va)
		}
		pa := *slot & Address
		*slot = 0
		m.Unuse(va, slot, 1)
		f.Release(pa)
		delete(large, va)
	}
	for step := range 40000 {
		va := pick()
		base := va &^ (1<<21 - 1)
		switch op := r.IntN(10); {
		case op < 5: // map a small page
			if _, ok := small[va]; ok {
				break
			}
			slot := m.Slot(va)
			if _, ok := large[base]; ok {
				if slot != nil {
					t.Fatalf("Slot(%#x) found a way through a large page", va)
				}
				break
			}
			if slot == nil || *slot != 0 {
				t.Fatalf("Slot(%#x) is %v", va, slot)
			}
			p := page{f.Alloc(0), flags(va)}
			*slot = p.pa | p.flags
			m.Use(slot, 1)
			small[va] = p
		case op < 8: // unmap
			if p, ok := small[va]; ok {
				slot, size := m.Lookup(va)
				if size != 4096 || *slot&Address != p.pa {
					t.Fatalf("Lookup(%#x) = %#x, %#x", va, *slot, size)
				}
				*slot = 0
				m.Unuse(va, slot, 1)
				f.Release(p.pa)
				delete(small, va)
			} else if _, ok := large[base]; ok {
				unmapLarge(base)
			}
		case op == 8: // map a large page where nothing is
			if base >= 0xffff_8000_0000_0000 {
				break
			}
			if _, ok := large[base]; ok {
				break
			}
			slot := m.LargeSlot(base)
			if slot == nil {
				t.Fatal("LargeSlot")
			}
			if *slot != 0 {
				break
			}
			p := page{f.Alloc(9), flags(base)}
			*slot = p.pa | p.flags | Large
			m.Use(slot, 1)
			large[base] = p
		case op == 9: // split
			p, ok := large[base]
			if !ok {
				break
			}
			slot, _ := m.Lookup(base)
			if !m.Split(slot) {
				t.Fatal("Split")
			}
			delete(large, base)
			for i := uint64(0); i < 512; i++ {
				small[base+i<<12] = page{p.pa + i<<12, p.flags}
			}
			// leave few of them, or the next steps only unmap
			for i := uint64(20); i < 512; i++ {
				slot, _ := m.Lookup(base + i<<12)
				*slot = 0
				m.Unuse(base+i<<12, slot, 1)
				f.Release(p.pa + i<<12)
				delete(small, base+i<<12)
			}
		}
		for _, va := range []uint64{va, pick(), pick()} {
			va += uint64(r.IntN(4096))
			want, ok := small[va&^4095]
			off, fl := va&4095, want.flags
			if !ok {
				want, ok = large[va&^(1<<21-1)]
				off, fl = va&(1<<21-1), want.flags|Large
			}
			pa, flags, got := translate(m.Root, va)
			if got != ok || ok && (pa != want.pa+off || flags != fl) {
				t.Fatalf("step %d: %#x translates to %#x %#x %v, want %#x %#x %v", step, va, pa, flags, got, want.pa+off, fl, ok)
			}
			slot, size := m.Lookup(va)
			if ok != (*slot != 0) || *slot == 0 && size < 4096 {
				t.Fatalf("Lookup(%#x): %#x, %#x", va, *slot, size)
			}
		}
	}
	for va, p := range small {
		slot, _ := m.Lookup(va)
		*slot = 0
		m.Unuse(va, slot, 1)
		f.Release(p.pa)
	}
	for va := range large {
		unmapLarge(va)
	}
	// the kernel's half keeps the second-level tables that it got
	kept := m.Tables
	for i := range uint64(256) {
		if e := *phys.Word(m.Root + i*8); e != 0 {
			t.Errorf("entry %d of the top table is left: %#x, count %d", i, e, f.Count(e&Address))
		}
	}
	if kept > 2 {
		t.Errorf("%d tables are left", kept)
	}
	m.Destroy()
	if f.Free()+kept != free {
		t.Errorf("%d frames are missing, %d of them tables", free-f.Free(), kept)
	}
	frametest.Check(t, f)
}

// TestExhausted checks that a map without memory answers nil and stays sound.
func TestExhausted(t *testing.T) {
	f := frametest.RAM(t, 4<<20)
	var m Map
	m.Init(f, 0)
	n := uint64(0)
	for ; ; n++ {
		slot := m.Slot(n << 30)
		if slot == nil {
			break
		}
		*slot = Present | User
		m.Use(slot, 1)
	}
	if f.Free() > 1 || n < 200 {
		t.Errorf("%d frames left after %d pages", f.Free(), n)
	}
	for i := uint64(0); i < n; i++ {
		slot, _ := m.Lookup(i << 30)
		*slot = 0
		m.Unuse(i<<30, slot, 1)
	}
	frametest.Check(t, f)
}

func ExampleMap() {
	f := frametest.RAM(new(testing.T), 4<<20)
	var m Map
	m.Init(f, 0)
	slot := m.Slot(0x400000)
	*slot = f.AllocZero() | Present | User | NoExec
	m.Use(slot, 1)
	_, size := m.Lookup(0x400000)
	_, hole := m.Lookup(1 << 40)
	fmt.Println(size, hole>>30, m.Tables)
	// Output: 4096 512 3
}
