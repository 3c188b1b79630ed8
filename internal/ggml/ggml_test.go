package ggml

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
)

func load(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func floats(b []byte) []float32 {
	x := make([]float32, len(b)/4)
	f32(x, b)
	return x
}

func typeOf(t testing.TB, name string) Type {
	t.Helper()
	for typ, l := range layouts {
		if l.name == name {
			return typ
		}
	}
	t.Fatalf("no type %q", name)
	return 0
}

type block struct {
	Case  string
	Type  string
	In    string `json:"in_f32_hex"`
	Bytes string `json:"block_hex"`
	F32   string `json:"f32_hex"`
	// Finite is false where the reference writes infinite or NaN scales: ours
	// is an error there.
	Finite bool
	Out    []json.RawMessage
}

func TestDequantizeVectors(t *testing.T) {
	var v struct{ Blocks []block }
	load(t, "dequantize.json", &v)
	if len(v.Blocks) == 0 {
		t.Fatal("no vectors")
	}
	for _, c := range v.Blocks {
		want := floats(fromHex(t, c.F32))
		got := make([]float32, len(want))
		if err := Dequantize(typeOf(t, c.Type), got, fromHex(t, c.Bytes)); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Errorf("%s: weight %d is %v, want %v", c.Type, i, got[i], want[i])
				break
			}
		}
	}
}

func TestQuantizeVectors(t *testing.T) {
	var v struct{ Blocks []block }
	load(t, "quantize.json", &v)
	if len(v.Blocks) == 0 {
		t.Fatal("no vectors")
	}
	for _, c := range v.Blocks {
		typ := typeOf(t, c.Type)
		in, want := floats(fromHex(t, c.In)), fromHex(t, c.Bytes)
		got := make([]byte, len(want))
		err := Quantize(typ, got, in)
		if !c.Finite {
			wantErr := ErrOverflow
			if c.Case == "inf" || c.Case == "nan" {
				wantErr = ErrNonFinite
			}
			if !errors.Is(err, wantErr) {
				t.Errorf("%s %s: error %v, want %v", c.Type, c.Case, err, wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", c.Type, c.Case, err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s %s: bytes %x, want %x", c.Type, c.Case, got, want)
		}
		back := make([]float32, len(in))
		if err := Dequantize(typ, back, want); err != nil {
			t.Fatal(err)
		}
		for i, raw := range c.Out {
			var w float32
			if err := json.Unmarshal(raw, &w); err != nil {
				t.Fatal(err)
			}
			if back[i] != w {
				t.Errorf("%s %s: weight %d back is %v, want %v", c.Type, c.Case, i, back[i], w)
			}
		}
	}
}

func TestErrorNamesIndex(t *testing.T) {
	x := make([]float32, 64)
	x[37] = float32(math.Inf(-1))
	err := Quantize(Q8_0, make([]byte, 68), x)
	if !errors.Is(err, ErrNonFinite) || !strings.Contains(err.Error(), "index 37") {
		t.Errorf("got %v", err)
	}
	x[37] = 9e6
	err = Quantize(Q8_0, make([]byte, 68), x)
	if !errors.Is(err, ErrOverflow) || !strings.Contains(err.Error(), "weights 32 to 63") {
		t.Errorf("got %v", err)
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		typ       Type
		weights   int
		bytes     int
		want      error
		wantQuant error
	}{
		{Q8_0, 32, 34, nil, nil},
		{Q8_0, 33, 34, ErrSize, ErrSize},
		{Q8_0, 32, 35, ErrSize, ErrSize},
		{Q8_0, 64, 34, ErrSize, ErrSize},
		{Q8_0, 0, 0, nil, nil},
		{Q4_0, 0, 18, ErrSize, ErrSize},
		{Q4_K, 128, 144, ErrSize, ErrType},
		{F32, 3, 12, nil, ErrType},
		{F32, 3, 13, ErrSize, ErrType},
		{I32, 1, 4, ErrType, ErrType},
		{Type(99), 1, 1, ErrType, ErrType},
		{Type(1 << 31), 0, 0, ErrType, ErrType},
	} {
		if err := Dequantize(c.typ, make([]float32, c.weights), make([]byte, c.bytes)); !errors.Is(err, c.want) {
			t.Errorf("Dequantize %v, %d weights, %d bytes: %v, want %v", c.typ, c.weights, c.bytes, err, c.want)
		}
		if err := Quantize(c.typ, make([]byte, c.bytes), make([]float32, c.weights)); !errors.Is(err, c.wantQuant) {
			t.Errorf("Quantize %v, %d weights, %d bytes: %v, want %v", c.typ, c.weights, c.bytes, err, c.wantQuant)
		}
	}
	if Type(99).Known() || Type(99).String() != "ggml type 99" || Type(99).BlockBytes() != 0 {
		t.Error("type 99 is known")
	}
	for typ, l := range layouts {
		if !typ.Known() || typ.String() != l.name || typ.BlockSize() != l.weights || typ.BlockBytes() != l.bytes {
			t.Errorf("%v: inconsistent", typ)
		}
	}
}

func TestFloats(t *testing.T) {
	src := []byte{0, 0, 0x80, 0x3f, 0x80, 0x3f, 0, 0x3c}
	for _, c := range []struct {
		typ  Type
		src  []byte
		want float32
	}{{F32, src[:4], 1}, {BF16, src[4:6], 1}, {F16, src[6:8], 1}} {
		var got [1]float32
		if err := Dequantize(c.typ, got[:], c.src); err != nil || got[0] != c.want {
			t.Errorf("%v: %v, %v, want %v", c.typ, got[0], err, c.want)
		}
	}
}

// FuzzDequantize: any bytes of whole blocks have values, and where the block is
// one that Quantize can write, its values come back as the same values.
func FuzzDequantize(f *testing.F) {
	var v struct{ Blocks []block }
	load(f, "dequantize.json", &v)
	for _, c := range v.Blocks {
		f.Add(uint32(typeOf(f, c.Type)), fromHex(f, c.Bytes))
	}
	f.Add(uint32(99), []byte{1})
	f.Fuzz(func(t *testing.T, typ uint32, data []byte) {
		ty := Type(typ)
		if !ty.CanDequantize() {
			if err := Dequantize(ty, nil, data); !errors.Is(err, ErrType) {
				t.Fatalf("%v: %v", ty, err)
			}
			return
		}
		n := len(data) / ty.BlockBytes()
		x := make([]float32, n*ty.BlockSize())
		err := Dequantize(ty, x, data)
		if whole := len(data)%ty.BlockBytes() == 0; (err == nil) != whole {
			t.Fatalf("%v, %d bytes: %v", ty, len(data), err)
		}
		if err != nil || ty != Q8_0 {
			return
		}
		out := make([]byte, len(data))
		if err := Quantize(ty, out, x); err != nil {
			if !errors.Is(err, ErrNonFinite) && !errors.Is(err, ErrOverflow) {
				t.Fatal(err)
			}
			return
		}
		for b := range n {
			if h := binary.LittleEndian.Uint16(out[34*b:]); h&0x7c00 == 0x7c00 {
				t.Fatalf("block %d: scale %#04x is not finite", b, h)
			}
		}
	})
}
