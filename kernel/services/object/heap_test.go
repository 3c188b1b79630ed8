package object

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHeapIsAFile compares an object with a slice of bytes under random
// changes, in place and not.
func TestHeapIsAFile(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := new(Heap)
		var model []byte
		var o Object
		if seed%2 == 0 {
			o, _ = h.Create(1)
		} else {
			model = bytes.Repeat([]byte("archive "), r.IntN(3000))
			o, _ = h.InPlace(bytes.Clone(model), 1)
		}
		grow := func(n int) {
			if n > len(model) {
				model = append(model, make([]byte, n-len(model))...)
			}
		}
		for range 200 {
			off, n := r.IntN(30000), r.IntN(9000)
			switch r.IntN(6) {
			case 0, 1:
				b := bytes.Repeat([]byte{byte(1 + r.IntN(255))}, n)
				if got, e := o.WriteAt(b, int64(off)); e != 0 || got != n {
					t.Fatalf("seed %d: write of %d: %d, %v", seed, n, got, e)
				}
				if n > 0 {
					grow(off + n)
					copy(model[off:], b)
				}
			case 2:
				o.Resize(int64(off))
				grow(off)
				model = model[:off]
			case 3:
				o.Punch(int64(off), int64(n))
				if off < len(model) {
					clear(model[off:min(off+n, len(model))])
				}
			case 4:
				o.Allocate(int64(off), int64(n)+1)
			default:
				b := make([]byte, n)
				got, e := o.ReadAt(b, int64(off))
				want := []byte{}
				if off < len(model) {
					want = model[off:min(off+n, len(model))]
				}
				if e != 0 || !bytes.Equal(b[:got], want) {
					t.Fatalf("seed %d: read of %d at %d: %d bytes, %v", seed, n, off, got, e)
				}
			}
			if size := o.Head().Size; size != uint64(len(model)) {
				t.Fatalf("seed %d: size %d, want %d", seed, size, len(model))
			}
		}
		// Whatever Find calls data and holes, holes are zero.
		for at := int64(0); ; {
			hole, e := o.Find(at, unix.SEEK_HOLE)
			if e == unix.ENXIO {
				break
			}
			data, e := o.Find(hole, unix.SEEK_DATA)
			if e == unix.ENXIO {
				data = int64(len(model))
			}
			if len(bytes.Trim(model[hole:data], "\x00")) != 0 {
				t.Fatalf("seed %d: a hole from %d to %d has data", seed, hole, data)
			}
			if at = data; e == unix.ENXIO {
				break
			}
		}
		o.Release()
		if h.Pages() != 0 {
			t.Fatalf("seed %d: %d pages left", seed, h.Pages())
		}
	}
}

func TestHeapLimit(t *testing.T) {
	h := &Heap{MaxPages: 3}
	o, _ := h.Create(1)
	if n, e := o.WriteAt(make([]byte, 5*PageSize), 100); e != 0 || n != 3*PageSize-100 {
		t.Errorf("a write that fits in part: %d, %v", n, e)
	}
	if n, e := o.WriteAt([]byte("x"), 3*PageSize); e != unix.ENOSPC || n != 0 {
		t.Errorf("a write that does not fit: %d, %v", n, e)
	}
	if e := o.Resize(0); e != 0 {
		t.Error(e)
	}
	if e := o.Allocate(0, 4*PageSize); e != unix.ENOSPC {
		t.Errorf("Allocate: %v", e)
	}
}
