package object

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/frames/frametest"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// read returns n bytes at off as a reader of the object sees them.
func read(o *Object, off, n uint64) []byte {
	b := make([]byte, n)
	for i := range b {
		if at := off + uint64(i); at < o.Size {
			if index := at >> 12; !o.Hole(index) {
				b[i] = *(*byte)(phys.Pointer(o.Page(index) + at&4095))
			}
		}
	}
	return b
}

func drop(t *testing.T, o *Object, first, end uint64) {
	t.Helper()
	for n := 0; first < end; n++ {
		if n > 100000 {
			t.Fatal("Drop makes no progress")
		}
		first = o.Drop(first, end, 3)
	}
}

// TestRandom writes, cuts and extends an object at random, over an initramfs
// file at several alignments or none, and compares all of it with a plain
// slice.
func TestRandom(t *testing.T) {
	for _, tc := range []struct{ base, n uint64 }{{0, 0}, {0x10000, 0x8000}, {0x10000, 0x7123}, {0x10004, 0x6004}, {0x10000, 5}} {
		t.Run(fmt.Sprintf("%#x+%#x", tc.base, tc.n), func(t *testing.T) {
			f := frametest.RAM(t, 64<<20)
			free := f.Free()
			r := rand.New(rand.NewPCG(9, tc.n))
			around := unsafe.Slice((*byte)(phys.Pointer(0x8000)), 0x18000)
			for i := range around {
				around[i] = byte(r.Uint32()) | 1
			}
			guard := append([]byte(nil), around...)
			var o Object
			o.InitInPlace(f, tc.base, tc.n)
			if tc.n == 0 {
				o.Init(f)
			}
			model := append([]byte(nil), around[tc.base-min(tc.base, 0x8000):][:tc.n]...)
			const limit = 80 << 12
			for step := range 3000 {
				switch r.IntN(4) {
				case 0, 1:
					at := uint64(r.IntN(limit - 1))
					pa := o.Page(at >> 12)
					if pa == 0 {
						t.Fatal("no page")
					}
					if at >= o.Size {
						if !o.Resize(at + 1) {
							t.Fatal("Resize")
						}
						model = append(model, make([]byte, at+1-uint64(len(model)))...)
					}
					v := byte(r.Uint32())
					*(*byte)(phys.Pointer(pa + at&4095)) = v
					model[at] = v
				case 2:
					size := uint64(r.IntN(limit))
					if r.IntN(3) == 0 {
						size = min(size, tc.n)
					}
					if !o.Resize(size) {
						t.Fatal("Resize")
					}
					drop(t, &o, (size+4095)>>12, MaxSize>>12)
					if n := uint64(len(model)); size < n {
						model = model[:size]
					} else {
						model = append(model, make([]byte, size-n)...)
					}
				case 3:
					if step%16 != 0 {
						break
					}
					if got := read(&o, 0, o.Size); !bytes.Equal(got, model) {
						i := 0
						for got[i] == model[i] {
							i++
						}
						t.Fatalf("step %d: byte %#x of %#x is %#x, want %#x", step, i, o.Size, got[i], model[i])
					}
				}
			}
			if !o.Resize(0) {
				t.Fatal("Resize(0)")
			}
			drop(t, &o, 0, MaxSize>>12)
			if o.Pages != 0 || f.Free() != free {
				t.Errorf("%d pages, %d frames are missing", o.Pages, free-f.Free())
			}
			// the neighbours of the file in the archive are untouched
			for i := range guard {
				if at := 0x8000 + uint64(i); (at < tc.base || at >= tc.base+tc.n) && guard[i] != around[i] {
					t.Fatalf("byte %#x outside the file was changed", at)
				}
			}
			frametest.Check(t, f)
		})
	}
}

// TestSparse uses pages far apart, so that every height of the tree occurs.
func TestSparse(t *testing.T) {
	f := frametest.RAM(t, 64<<20)
	free := f.Free()
	var o Object
	o.Init(f)
	indices := []uint64{0, 511, 512, 1 << 18, 1<<27 + 3, 1<<36 + 9, MaxSize>>12 - 1}
	for i, index := range indices {
		pa := o.Page(index)
		if pa == 0 || o.Page(index) != pa || o.Peek(index) != pa {
			t.Fatalf("page %#x", index)
		}
		*phys.Word(pa) = uint64(i)
	}
	if o.Page(MaxSize>>12) != 0 {
		t.Error("a page beyond MaxSize")
	}
	for i, index := range indices {
		if got, ok := o.Next(index); !ok || got != index {
			t.Errorf("Next(%#x) = %#x, %v", index, got, ok)
		}
		if i > 0 {
			if got, ok := o.Next(indices[i-1] + 1); !ok || got != index {
				t.Errorf("Next after %#x = %#x, %v", indices[i-1], got, ok)
			}
		}
		if *phys.Word(o.Peek(index)) != uint64(i) {
			t.Errorf("page %#x lost its contents", index)
		}
	}
	drop(t, &o, 512, 1<<30)
	if o.Pages != 4 || !o.Hole(512) || o.Hole(511) || o.Hole(1<<36+9) {
		t.Errorf("%d pages are left", o.Pages)
	}
	drop(t, &o, 0, MaxSize>>12)
	if f.Free() != free {
		t.Errorf("%d frames are missing", free-f.Free())
	}
	// the same, each page alone
	for _, index := range indices {
		o.Page(index)
		drop(t, &o, 0, MaxSize>>12)
		if f.Free() != free {
			t.Errorf("page %#x: %d frames are missing", index, free-f.Free())
		}
	}
}

// TestExhausted: a page that cannot be had leaves nothing behind.
func TestExhausted(t *testing.T) {
	f := frametest.RAM(t, 4<<20)
	free := f.Free()
	var o Object
	o.Init(f)
	o.MaxPages = 3
	for i := range uint64(3) {
		o.Page(i)
	}
	if o.Page(3) != 0 || o.Page(2) == 0 {
		t.Error("MaxPages is not kept")
	}
	o.MaxPages = 0
	n := uint64(0)
	for o.Page(n<<20) != 0 {
		n++
	}
	if f.Free() > 3 {
		t.Errorf("%d frames left", f.Free())
	}
	drop(t, &o, 0, MaxSize>>12)
	if f.Free() != free || o.height != 0 {
		t.Errorf("%d frames are missing, height %d", free-f.Free(), o.height)
	}
	frametest.Check(t, f)
}

func ExampleObject() {
	f := frametest.RAM(new(testing.T), 4<<20)
	var o Object
	o.Init(f)
	o.Resize(10000)
	o.Page(2)
	fmt.Println(o.Hole(0), o.Hole(2), o.Pages)
	// Output: true false 1
}
