package simd

import (
	"errors"
	"math"
	"testing"
)

func TestReserve(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1 << 20} {
		m, err := Reserve(n)
		if err != nil {
			t.Fatal(err)
		}
		f := m.Floats()
		if len(f) != n {
			t.Fatalf("%d values, want %d", len(f), n)
		}
		for i := range f {
			if f[i] != 0 {
				t.Fatalf("value %d of %d is %v", i, n, f[i])
			}
			f[i] = 1
		}
		m.Free()
		m.Free()
		if m.Floats() != nil {
			t.Error("values after Free")
		}
	}
	for _, n := range []int{-1, math.MinInt, math.MaxInt} {
		if _, err := Reserve(n); !errors.Is(err, ErrMemory) {
			t.Errorf("%d values: error %v, want ErrMemory", n, err)
		}
	}
}

func BenchmarkReserve(b *testing.B) {
	for b.Loop() {
		m, err := Reserve(64 << 20)
		if err != nil {
			b.Fatal(err)
		}
		m.Floats()[0] = 1
		m.Free()
	}
}
