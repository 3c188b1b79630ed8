package pipes

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// buffer copies bytes by a Ring as a pipe does.
type buffer struct {
	Ring
	pages [][]byte
	free  []uint64
}

func (b *buffer) page() uint64 {
	if n := len(b.free); n > 0 {
		p := b.free[n-1]
		b.free = b.free[:n-1]
		return p
	}
	b.pages = append(b.pages, make([]byte, PageSize))
	return uint64(len(b.pages) - 1)
}

func (b *buffer) write(data []byte) (n int) {
	if tail := len(data) % PageSize; tail != 0 {
		if s, off := b.Merge(tail); s != nil {
			copy(b.pages[s.Page][off:], data[:tail])
			b.Merged(tail)
			n = tail
		}
	}
	for n < len(data) && !b.Full() {
		k := min(PageSize, len(data)-n)
		p := b.page()
		copy(b.pages[p], data[n:n+k])
		b.Push(p, k)
		n += k
	}
	return n
}

func (b *buffer) read(n int) (out []byte) {
	for n > 0 {
		s := b.Oldest()
		if s == nil {
			break
		}
		k := min(n, int(s.Len))
		out = append(out, b.pages[s.Page][s.Start:int(s.Start)+k]...)
		if p, done := b.Consume(k); done {
			b.free = append(b.free, p)
		}
		n -= k
	}
	return out
}

// TestAsLinuxCounts holds what pipe(2) does on Linux 6.18.
func TestAsLinuxCounts(t *testing.T) {
	b := &buffer{Ring: Ring{Slots: make([]Slot, DefaultSlots)}}
	big := make([]byte, 70000)
	step := func(name string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	step("write 65436", b.write(big[:65436]), 65436)
	step("write 4096 to 100 free bytes", b.write(big[:4096]), 0)
	step("FIONREAD", b.Bytes(), 65436)
	step("read all", len(b.read(70000)), 65436)
	step("write 70000", b.write(big), 65536)
	step("write 1 to a full pipe", b.write(big[:1]), 0)
	step("read 100", len(b.read(100)), 100)
	if !b.Full() {
		t.Error("a pipe is writable again only when a page is free")
	}
	step("read 4096", len(b.read(4096)), 4096)
	if b.Full() {
		t.Error("a pipe with a free page is not writable")
	}
	b = &buffer{Ring: Ring{Slots: make([]Slot, DefaultSlots)}}
	for range 4096 {
		step("write 1, merged", b.write(big[:1]), 1)
	}
	step("pages of 4096 writes of 1", b.Used(), 1)
}

func TestBytesKeepOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	b := &buffer{Ring: Ring{Slots: make([]Slot, 4)}}
	var in, out []byte
	next := byte(0)
	for step := range 5000 {
		data := make([]byte, rng.IntN(3*PageSize))
		for i := range data {
			data[i] = next + byte(i)*7
		}
		n := b.write(data)
		in = append(in, data[:n]...)
		next += byte(n)
		out = append(out, b.read(rng.IntN(2*PageSize))...)
		if step%100 == 99 {
			slots := make([]Slot, 1<<rng.IntN(6))
			_, ok := b.Resize(slots)
			if ok != (b.Used() <= len(slots)) {
				t.Fatalf("Resize to %d with %d used: %v", len(slots), b.Used(), ok)
			}
		}
	}
	out = append(out, b.read(b.Bytes())...)
	if !bytes.Equal(in, out) || !b.Empty() {
		t.Errorf("%d bytes in, %d out, equal %v", len(in), len(out), bytes.Equal(in, out))
	}
}

func TestCapacity(t *testing.T) {
	for bytes, want := range map[uint64]int{0: 1, 1: 1, 4096: 1, 4097: 2, 65536: 16, 70000: 32, 1 << 20: 256, 1<<20 + 1: 0, 1 << 63: 0} {
		if got := Capacity(bytes); got != want {
			t.Errorf("Capacity(%d) = %d, want %d", bytes, got, want)
		}
	}
}
