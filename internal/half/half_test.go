package half

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

func bits(t *testing.T, s string, size int) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, size)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The table's answers come from numpy (binary16) and ml_dtypes (bfloat16).
func TestTable(t *testing.T) {
	data, err := os.ReadFile("testdata/half.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		F16 []struct {
			F32 string `json:"f32_hex"`
			F16 string `json:"f16_hex"`
		}
		BF16 []struct {
			F32  string
			BF16 string `json:"bf16_hex"`
		}
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.F16) == 0 || len(table.BF16) == 0 {
		t.Fatal("empty table")
	}
	for _, c := range table.F16 {
		f := math.Float32frombits(uint32(bits(t, c.F32, 32)))
		if got, want := F16(f), uint16(bits(t, c.F16, 16)); got != want {
			t.Errorf("F16(%v) = %#04x, want %#04x", f, got, want)
		}
	}
	for _, c := range table.BF16 {
		f, err := strconv.ParseFloat(c.F32, 32)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := BF16(float32(f)), uint16(bits(t, c.BF16, 16)); got != want {
			t.Errorf("BF16(%v) = %#04x, want %#04x", f, got, want)
		}
	}
}

// fromF16 is the definition of binary16 (IEEE 754, 3.4) in float64.
func fromF16(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exp, frac := int(h>>10&31), float64(h&0x3ff)
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

func TestEveryF16(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got, want := FromF16(h), fromF16(h)
		if want != want {
			if got == got || F16(got)&0x7e00 != 0x7e00 {
				t.Fatalf("%#04x: got %v, back %#04x", h, got, F16(got))
			}
			continue
		}
		if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
			t.Fatalf("FromF16(%#04x) = %v, want %v", h, got, want)
		}
		if back := F16(got); back != h {
			t.Fatalf("F16(%v) = %#04x, want %#04x", got, back, h)
		}
		// Between two neighbours the nearer one wins, the even one halfway.
		if h&0x7fff < 0x7bff {
			mid := (want + fromF16(h+1)) / 2
			even := h + h&1
			if g := F16(float32(mid)); g != even {
				t.Fatalf("F16(%v) = %#04x, want %#04x", mid, g, even)
			}
			if g := F16(math.Nextafter32(float32(mid), float32(want))); g != h {
				t.Fatalf("just below %v: %#04x, want %#04x", mid, g, h)
			}
		}
	}
}

func TestEveryBF16(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := FromBF16(h)
		if f != f {
			if g := BF16(f); g&0x7fc0 != 0x7fc0 || g&0x8000 != h&0x8000 {
				t.Fatalf("NaN %#04x became %#04x", h, g)
			}
			continue
		}
		if g := BF16(f); g != h {
			t.Fatalf("BF16(%v) = %#04x, want %#04x", f, g, h)
		}
		b := uint32(h) << 16
		if h&0x7fff < 0x7f80 {
			for _, c := range []struct {
				low  uint32
				want uint16
			}{{0x7fff, h}, {0x8000, h + h&1}, {0x8001, h + 1}} {
				if g := BF16(math.Float32frombits(b | c.low)); g != c.want {
					t.Fatalf("BF16 of bits %#08x = %#04x, want %#04x", b|c.low, g, c.want)
				}
			}
		}
	}
}
