package quant

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"os"
	"strings"
	"testing"
)

func float32At(b []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
}

// encodeRows encodes weights and returns the error.
func encodeRows(f Format, rows, cols int, w []float32) ([]byte, error) {
	dst := make([]byte, f.Bytes(rows, cols))
	err := Encode(dst, f, rows, cols, func(r int, x []float32) error {
		copy(x, w[r*cols:])
		return nil
	})
	return dst, err
}

// TestFieldCases has the blocks that broke other quantisers (testdata/blocks.json:
// the weights of the vectors that internal/ggml checks byte for byte).
func TestFieldCases(t *testing.T) {
	data, err := os.ReadFile("testdata/blocks.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Case string
		In   string `json:"in_f32_hex"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		raw, err := hex.DecodeString(c.In)
		if err != nil || len(raw) != 4*BlockSize {
			t.Fatal(c.Case, err)
		}
		x := make([]float32, BlockSize)
		for i := range x {
			x[i] = float32At(raw, i)
		}
		for _, f := range Formats() {
			dst, err := encodeRows(f, 1, BlockSize, x)
			switch {
			case c.Case == "inf" || c.Case == "nan":
				if !errors.Is(err, ErrNonFinite) || !strings.Contains(err.Error(), "row 0, index 0") {
					t.Errorf("%v %s: %v, want ErrNonFinite", f, c.Case, err)
				}
				continue
			case c.Case == "f32-max",
				c.Case == "scale-f16-overflow-q8", // 8.4e6
				c.Case == "scale-f16-max-q8" && f != Q8B32,
				c.Case == "scale-f16-overflow-q4" && f != Q8B32: // 1e6
				if !errors.Is(err, ErrOverflow) || !strings.Contains(err.Error(), "row 0, weights 0 to 31") {
					t.Errorf("%v %s: %v, want ErrOverflow", f, c.Case, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%v %s: %v", f, c.Case, err)
				continue
			}
			got := decode(f, dst, 1, BlockSize)
			for i, v := range got {
				if v-v != 0 {
					t.Errorf("%v %s: weight %d became %v", f, c.Case, i, v)
				}
			}
			if e, n := squaredError(x, got), squaredError(x, naive(f, x)); e > n {
				t.Errorf("%v %s: error %v, the usual rule's %v", f, c.Case, e, n)
			}
		}
	}
}

// TestZeros: zero weights, and the rows that pad a tile, have scale zero.
func TestZeros(t *testing.T) {
	for f, quant := range map[Format]byte{Q8B32: 128, Q4B32: 0x88, Q4B32M: 0} {
		dst, err := encodeRows(f, 1, BlockSize, make([]float32, BlockSize))
		if err != nil {
			t.Fatal(err)
		}
		params := f.kind().ParamBytes(BlockSize)
		for i, b := range dst {
			want := byte(0)
			if i >= params && (i-params)%64 < 4 { // row 0
				want = quant
			}
			if b != want {
				t.Fatalf("%v: byte %d is %#02x, want %#02x", f, i, b, want)
			}
		}
	}
}

// TestTiny: weights about the smallest scale that there is are kept as well as
// it allows.
func TestTiny(t *testing.T) {
	const least = 0x1p-24
	for _, f := range Formats() {
		for _, a := range []float32{math.SmallestNonzeroFloat32, 0x1p-126, least / 4, least / 2, 0.6 * least, least, 1.4 * least, 100 * least, 200 * least} {
			x := make([]float32, BlockSize)
			for i := range x {
				x[i] = a * float32(i%5-2) / 2
			}
			dst, err := encodeRows(f, 1, BlockSize, x)
			if err != nil {
				t.Fatal(err)
			}
			got := decode(f, dst, 1, BlockSize)
			levels := map[Format]float32{Q8B32: 127, Q4B32: 7, Q4B32M: 7}[f]
			for i := range x {
				if d := math.Abs(float64(got[i] - x[i])); d > float64(max(least, a/levels))*0.5001 {
					t.Errorf("%v of up to %v: weight %v became %v", f, a, x[i], got[i])
				}
			}
		}
	}
}

// TestConstant: equal weights keep more bits than binary16 has where there is a minimum.
func TestConstant(t *testing.T) {
	for _, v := range []float32{1, -1, 0.1, -0.1, 1e-3, 12345.678, 65504, -65504} {
		x := make([]float32, BlockSize)
		for i := range x {
			x[i] = v
		}
		for f, limit := range map[Format]float64{Q8B32: 0x1p-10, Q4B32: 0x1p-10, Q4B32M: 0x1p-16} {
			dst, err := encodeRows(f, 1, BlockSize, x)
			if err != nil {
				t.Fatal(err)
			}
			if got := decode(f, dst, 1, BlockSize)[3]; math.Abs(float64(got/v-1)) > limit {
				t.Errorf("%v: %v became %v", f, v, got)
			}
		}
	}
}

func TestLargest(t *testing.T) {
	for f, largest := range map[Format]float32{Q8B32: 128 * 65504, Q4B32: 8 * 65504} {
		for _, sign := range []float32{1, -1} {
			x := make([]float32, BlockSize)
			x[9] = sign * largest
			dst, err := encodeRows(f, 1, BlockSize, x)
			if err != nil {
				t.Fatal(err)
			}
			if got := decode(f, dst, 1, BlockSize)[9]; got != x[9] {
				t.Errorf("%v: %v became %v", f, x[9], got)
			}
			x[9] = math.Nextafter32(x[9], x[9]*2)
			if _, err := encodeRows(f, 1, BlockSize, x); !errors.Is(err, ErrOverflow) {
				t.Errorf("%v: %v: %v", f, x[9], err)
			}
		}
	}
	x := make([]float32, BlockSize)
	x[0], x[1] = -65504, 14*65504
	dst, err := encodeRows(Q4B32M, 1, BlockSize, x)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(Q4B32M, dst, 1, BlockSize); got[0] != x[0] || got[1] != x[1] {
		t.Errorf("%v and %v became %v and %v", x[0], x[1], got[0], got[1])
	}
}

func TestErrors(t *testing.T) {
	const rows, cols = 40, 64
	w := make([]float32, rows*cols)
	w[37*cols+50] = float32(math.Inf(-1))
	w[38*cols] = float32(math.NaN())
	for _, f := range Formats() {
		if _, err := encodeRows(f, rows, cols, w); !errors.Is(err, ErrNonFinite) || !strings.Contains(err.Error(), "row 37, index 50") {
			t.Errorf("%v: %v", f, err)
		}
		w[21*cols+40] = 1e30
		if _, err := encodeRows(f, rows, cols, w); !errors.Is(err, ErrOverflow) || !strings.Contains(err.Error(), "row 21, weights 32 to 63") {
			t.Errorf("%v: %v", f, err)
		}
		w[21*cols+40] = 0
	}
	own := errors.New("own")
	for _, c := range []struct {
		f                Format
		rows, cols, size int
		want             error
	}{
		{Q8B32, 2, 33, 1000, ErrRowLength},
		{Q8B32, 2, 31, 1000, ErrRowLength},
		{Q8B32, 2, 48, 1000, ErrRowLength},
		{Q8B32, 2, 32, 575, ErrSize},
		{Q8B32, 2, 32, 577, ErrSize},
		{Q8B32, -1, 32, 0, ErrSize},
		{Q8B32, math.MaxInt, 32, 0, ErrSize},
		{Q8B32, 1 << (bits.UintSize * 5 / 8), 1 << (bits.UintSize * 5 / 8), 0, ErrSize},
		{Format(0), 2, 32, 576, ErrFormat},
		{Format(4), 2, 32, 576, ErrFormat},
		{Q8B32, 2, 32, 576, own},
		{Q8B32, 0, 32, 0, nil},
		{Q8B32, 3, 0, 0, nil},
	} {
		err := Encode(make([]byte, c.size), c.f, c.rows, c.cols, func(int, []float32) error { return c.want })
		if !errors.Is(err, c.want) {
			t.Errorf("Encode %v %d×%d in %d bytes: %v, want %v", c.f, c.rows, c.cols, c.size, err, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, f := range Formats() {
		for _, name := range []string{f.String(), strings.ToLower(f.String())} {
			if got, err := ParseFormat(name); got != f || err != nil {
				t.Errorf("%q: %v, %v", name, got, err)
			}
		}
		// One block of 16 rows, without the padding of the scales.
		if got, want := float64(f.Bytes(16, 64)*8)/(16*64), f.BitsPerWeight(); got != want {
			t.Errorf("%v: %v bits a weight, want %v", f, got, want)
		}
		if shape := f.Shape(33, 96); shape[0] != 3 || int(shape[0]*shape[1]) != f.Bytes(33, 96) {
			t.Errorf("%v: shape %v", f, shape)
		}
	}
	for _, name := range []string{"", "q8", "Q4_0", "Format(0)"} {
		if _, err := ParseFormat(name); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if Format(0).Valid() || Format(4).Valid() || Format(9).String() != "Format(9)" || Format(0).BitsPerWeight() != 0 {
		t.Error("a format that is none")
	}
}
