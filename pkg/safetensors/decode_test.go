package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decodeBits decodes one element from its bits.
func decodeBits(t *testing.T, d DType, bits uint64) float32 {
	t.Helper()
	var got [1]float32
	data := binary.LittleEndian.AppendUint64(nil, bits)[:max(d.Bits()/8, 1)]
	if err := d.Float32s(got[:], data, 0); err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// same compares values bit by bit, all NaN being equal.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// The 256 codes of both 8-bit floats, and BF16 and F16 numbers, against
// ml_dtypes and numpy.
func TestDecodeTables(t *testing.T) {
	var tables struct {
		F8        []struct{ Byte, E4M3FN, E5M2 string }
		F16, BF16 []struct {
			F32  string
			F16  string `json:"f16_hex"`
			BF16 string `json:"bf16_hex"`
		}
	}
	readJSON(t, "quant_dtypes.json", &tables)
	if len(tables.F8) != 256 || len(tables.F16) == 0 || len(tables.BF16) == 0 {
		t.Fatal("tables are incomplete")
	}
	number := func(s string) float32 {
		v, err := strconv.ParseFloat(s, 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			t.Fatal(err)
		}
		return float32(v)
	}
	code := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, row := range tables.F8 {
		if got, want := decodeBits(t, F8_E4M3, code(row.Byte)), number(row.E4M3FN); !same(got, want) {
			t.Errorf("F8_E4M3 %s = %v, want %v", row.Byte, got, want)
		}
		if got, want := decodeBits(t, F8_E5M2, code(row.Byte)), number(row.E5M2); !same(got, want) {
			t.Errorf("F8_E5M2 %s = %v, want %v", row.Byte, got, want)
		}
	}
	// The other two tables give the nearest 16-bit number of a float32: it is
	// nearer than both its neighbours.
	nearest := func(d DType, value string, h uint64) {
		want, got := float64(number(value)), float64(decodeBits(t, d, h))
		if math.IsNaN(want) || math.IsInf(want, 0) || math.IsInf(got, 0) {
			// The limit of rounding to infinity is half a step beyond the largest.
			largest := float64(decodeBits(t, d, h-1))
			if math.IsNaN(want) != math.IsNaN(got) || math.IsInf(got, 0) && math.Abs(want) <= math.Abs(largest) {
				t.Errorf("%v %04x = %v, want %v", d, h, got, want)
			}
			return
		}
		for _, other := range []uint64{h - 1, h + 1} {
			if next := float64(decodeBits(t, d, other&0xffff)); math.Abs(next-want) < math.Abs(got-want) {
				t.Errorf("%v %04x = %v, but %04x = %v is nearer to %v", d, h, got, other, next, want)
			}
		}
	}
	for _, row := range tables.F16 {
		nearest(F16, row.F32, code(row.F16))
	}
	for _, row := range tables.BF16 {
		nearest(BF16, row.F32, code(row.BF16))
	}
}

// The values that candle#2875, mlx-examples#1232 and tinygrad#3310 missed.
func TestDecodeKnown(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		d    DType
		bits uint64
		want float32
	}{
		{BF16, 0x3f80, 1}, {BF16, 0xff80, -inf}, {BF16, 0x7fc0, nan}, {BF16, 0x0001, 0x1p-133},
		{F8_E4M3, 0x38, 1}, {F8_E4M3, 0x7e, 448}, {F8_E4M3, 0x7f, nan}, {F8_E4M3, 0xff, nan},
		{F8_E5M2, 0x7c, inf}, {F8_E5M2, 0xfc, -inf}, {F8_E5M2, 0x7b, 57344}, {F8_E5M2, 0x7d, nan},
		{F8_E4M3FNUZ, 0x80, nan}, {F8_E4M3FNUZ, 0x7f, 240}, {F8_E5M2FNUZ, 0x80, nan}, {F8_E5M2FNUZ, 0x7f, 57344},
		{F8_E8M0, 0, 0x1p-127}, {F8_E8M0, 127, 1}, {F8_E8M0, 254, 0x1p127}, {F8_E8M0, 255, nan},
		{F16, 0x3c00, 1}, {F16, 0x7c00, inf}, {F16, 0x0001, 0x1p-24}, {F16, 0x8000, float32(math.Copysign(0, -1))},
		{F32, 0x3f800000, 1}, {F32, 0x00000001, math.SmallestNonzeroFloat32},
		{F64, math.Float64bits(1e300), inf}, {F64, math.Float64bits(1 + 0x1p-24), 1}, {F64, math.Float64bits(-0.5), -0.5},
		{BOOL, 0, 0}, {BOOL, 1, 1}, {BOOL, 2, 1},
		{I8, 0x80, -128}, {U8, 0x80, 128}, {I16, 0x8000, -32768}, {U16, 0x8000, 32768},
		{I32, 0x80000001, -2147483648}, {U32, 0xffffffff, 4294967296},
		{I64, 1 << 63, -0x1p63}, {U64, math.MaxUint64, 0x1p64}, {I64, 1<<24 + 1, 1 << 24},
	} {
		if got := decodeBits(t, c.d, c.bits); !same(got, c.want) {
			t.Errorf("%v %x = %v, want %v", c.d, c.bits, got, c.want)
		}
	}
}

// Every code of every small float against ml_dtypes, every F16 against numpy.
func TestDecodeMinifloats(t *testing.T) {
	var file struct {
		F16    string `json:"f16_sha256"`
		Tables map[string][]string
	}
	readJSON(t, "minifloats.json", &file)
	if len(file.Tables) != 8 {
		t.Fatalf("%d tables, want 8", len(file.Tables))
	}
	for name, table := range file.Tables {
		d, err := ParseDType(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(table) != 1<<d.Bits() {
			t.Fatalf("%v: %d codes", d, len(table))
		}
		for code, want := range table {
			v := decodeBits(t, d, uint64(code))
			got := "nan"
			if v == v {
				got = fmt.Sprintf("%08x", math.Float32bits(v))
			}
			if got != want {
				t.Errorf("%v %#x = %s, want %s", d, code, got, want)
			}
		}
	}
	hash := sha256.New()
	for code := range uint64(1 << 16) {
		v := decodeBits(t, F16, code)
		bits := math.Float32bits(v)
		if v != v {
			bits = 0x7fc00000
		}
		hash.Write(binary.LittleEndian.AppendUint32(nil, bits))
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != file.F16 {
		t.Errorf("the digest of all F16 is %s, want %s", got, file.F16)
	}
}

// Elements of less than a byte: the first lies in the lowest bits.
func TestDecodePacked(t *testing.T) {
	got := make([]float32, 4)
	if err := F4.Float32s(got, []byte{0x21, 0xf4}, 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{0.5, 1, 2, -6}, got); diff != "" {
		t.Error(diff)
	}
	// Codes 8, 16, 24 and 47 of E2M3 (1, 2, 4, −1.875) as one number of 24 bits.
	word := 8 | 16<<6 | 24<<12 | 47<<18
	data := []byte{0xff, 0xff, 0xff, byte(word), byte(word >> 8), byte(word >> 16)}
	want := []float32{1, 2, 4, -1.875}
	for first := 4; first < 8; first++ {
		for n := 0; first+n <= 8; n++ {
			got := make([]float32, n)
			if err := F6_E2M3.Float32s(got, data, first); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[first-4:first-4+n], got); diff != "" {
				t.Errorf("%d from %d: %s", n, first, diff)
			}
		}
	}
}

// Every dtype at every alignment, and rows out of the middle.
func TestDecodeUnaligned(t *testing.T) {
	values := bytesUpTo(64)
	for d := BOOL; d <= U64; d++ {
		if d == C64 {
			continue
		}
		n := 16 * 8 / d.Bits()
		want := make([]float64, n)
		if err := d.Float64s(want, values[:16], 0); err != nil {
			t.Fatal(err)
		}
		for shift := range 9 {
			data := append(make([]byte, shift), values[:16]...)[shift:]
			for first := range n {
				got := make([]float64, n-first)
				if err := d.Float64s(got, data, first); err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if math.Float64bits(got[i]) != math.Float64bits(want[first+i]) {
						t.Fatalf("%v at shift %d: element %d = %v, want %v", d, shift, first+i, got[i], want[first+i])
					}
				}
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	dst := make([]float32, 2)
	for _, c := range []struct {
		d     DType
		bytes int
		first int
		want  error
	}{
		{F32, 8, 0, nil}, {F32, 7, 0, ErrSize}, {F32, 8, 1, ErrSize}, {F32, 8, -1, ErrSize},
		{F32, 8, math.MaxInt, ErrSize}, {F4, 1, 0, nil}, {F4, 1, 1, ErrSize}, {F6_E3M2, 1, 0, ErrSize},
		{C64, 16, 0, ErrNotReal}, {0, 16, 0, ErrDType}, {99, 16, 0, ErrDType},
	} {
		if err := c.d.Float32s(dst, make([]byte, c.bytes), c.first); !errors.Is(err, c.want) {
			t.Errorf("%v, %d bytes from %d: %v, want %v", c.d, c.bytes, c.first, err, c.want)
		}
	}
	if err := F32.Float32s(nil, nil, 0); err != nil {
		t.Error(err)
	}
}

func TestTensorNumbers(t *testing.T) {
	f32 := Tensor{Name: "t", DType: F32, Shape: []uint64{1, 2}, Data: []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}}
	if got, err := f32.Float32s(); err != nil || !cmp.Equal(got, []float32{1, -2}) {
		t.Error(got, err)
	}
	if got, err := f32.Float64s(); err != nil || !cmp.Equal(got, []float64{1, -2}) {
		t.Error(got, err)
	}
	if _, err := f32.Complex64s(); !errors.Is(err, ErrNotReal) {
		t.Error(err)
	}
	c64 := Tensor{Name: "t", DType: C64, Data: f32.Data}
	if got, err := c64.Complex64s(); err != nil || !cmp.Equal(got, []complex64{1 - 2i}) {
		t.Error(got, err)
	}
	if _, err := c64.Float32s(); !errors.Is(err, ErrNotReal) {
		t.Error(err)
	}
	for _, bad := range []Tensor{
		{DType: F32, Shape: []uint64{3}, Data: f32.Data},
		{DType: F32, Shape: []uint64{1 << 62}, Data: f32.Data},
		{DType: F4, Shape: []uint64{3}, Data: f32.Data},
		{DType: C64, Shape: []uint64{3}, Data: f32.Data},
		{Data: f32.Data},
	} {
		if _, err := bad.Float32s(); err == nil {
			t.Errorf("%v has numbers", bad)
		}
		if _, err := bad.Complex64s(); err == nil {
			t.Errorf("%v has complex numbers", bad)
		}
	}
	if n := (Tensor{Shape: []uint64{2, 0, 5}}).Len(); n != 0 {
		t.Error(n)
	}
	if n := (Tensor{}).Len(); n != 1 {
		t.Error(n)
	}
}

// Decoding a row allocates nothing.
func TestDecodeAllocates(t *testing.T) {
	dst, data := make([]float32, 64), make([]byte, 1024)
	for d := BOOL; d <= U64; d++ {
		if d == C64 {
			continue
		}
		if n := testing.AllocsPerRun(10, func() {
			if err := d.Float32s(dst, data, 3); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations", d, n)
		}
	}
}
