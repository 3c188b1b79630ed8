package quant

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/half"
)

type repackCase struct {
	name string
	typ  ggml.Type
	f    Format
	from func(dst []byte, rows, cols int, src []byte, order func(int) int) error
}

var repackCases = []repackCase{
	{"Q8_0", ggml.Q8_0, Q8B32, FromQ8_0},
	{"Q4_0", ggml.Q4_0, Q4B32, FromQ4_0},
	{"Q4_1", ggml.Q4_1, Q4B32M, FromQ4_1},
}

// randomGGUF returns blocks of random quants with finite scales.
func randomGGUF(rnd *rand.Rand, typ ggml.Type, n int) []byte {
	src := make([]byte, n*typ.BlockBytes())
	for i := range src {
		src[i] = byte(rnd.Uint32())
	}
	for b := 0; b < len(src); b += typ.BlockBytes() {
		binary.LittleEndian.PutUint16(src[b:], half.F16(float32(rnd.NormFloat64())))
		if typ == ggml.Q4_1 {
			binary.LittleEndian.PutUint16(src[b+2:], half.F16(float32(rnd.NormFloat64())))
		}
	}
	return src
}

// TestRepack: every value is that of the GGUF block, in the order asked for.
func TestRepack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	const rows, cols = 37, 96
	for _, c := range repackCases {
		src := randomGGUF(rnd, c.typ, rows*cols/BlockSize)
		want := make([]float32, rows*cols)
		if err := ggml.Dequantize(c.typ, want, src); err != nil {
			t.Fatal(err)
		}
		reverse := func(r int) int { return rows - 1 - r }
		for _, order := range []func(int) int{nil, reverse} {
			dst := make([]byte, c.f.Bytes(rows, cols))
			for i := range dst {
				dst[i] = 0xee
			}
			if err := c.from(dst, rows, cols, src, order); err != nil {
				t.Fatal(err)
			}
			for r, x := 0, make([]float32, cols); r < rows; r++ {
				from := r
				if order != nil {
					from = order(r)
				}
				Decode(x, c.f, dst, rows, cols, r)
				for i, v := range x {
					if w := want[from*cols+i]; math.Float32bits(v) != math.Float32bits(w) && (v != 0 || w != 0) {
						t.Fatalf("%s: row %d, column %d is %v, want %v", c.name, r, i, v, w)
					}
				}
			}
		}
	}
}

func TestRepackErrors(t *testing.T) {
	const rows, cols = 20, 64
	for _, c := range repackCases {
		size := c.typ.BlockBytes()
		src := make([]byte, rows*cols/BlockSize*size)
		dst := make([]byte, c.f.Bytes(rows, cols))
		for _, call := range []struct {
			dst, src   []byte
			rows, cols int
			want       error
		}{
			{dst, src, rows, cols, nil},
			{dst[1:], src, rows, cols, ErrSize},
			{dst, src[1:], rows, cols, ErrSize},
			{dst, src, rows - 1, cols, ErrSize},
			{dst, src, rows, cols - 1, ErrRowLength},
		} {
			if err := c.from(call.dst, call.rows, call.cols, call.src, nil); !errors.Is(err, call.want) {
				t.Errorf("%s %d×%d: %v, want %v", c.name, call.rows, call.cols, err, call.want)
			}
		}
		for _, bad := range []uint16{0x7c00, 0xfc00, 0x7e01} {
			binary.LittleEndian.PutUint16(src[size*(18*2+1):], bad)
			err := c.from(dst, rows, cols, src, nil)
			if !errors.Is(err, ErrNonFinite) || !strings.Contains(err.Error(), "row 18, weights 32 to 63") {
				t.Errorf("%s: scale %#04x: %v", c.name, bad, err)
			}
		}
	}
}
