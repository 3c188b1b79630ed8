package simd

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/internal/half"
)

var precisions = []Precision{Int16, Int8}

var kinds = []blocks.Kind{blocks.Q8B32, blocks.Q4B32, blocks.Q4B32M}

// blockISAs returns the instruction sets to test here.
func blockISAs(t testing.TB) []ISA { return append([]ISA{Portable}, assembly(t)...) }

// refQuantize and refProduct are docs/arithmetic.md, word for word.
func refQuantize(x []float32, p Precision) (q [blocks.Size]int32, scale float32) {
	amax := float32(0)
	for _, v := range x {
		a := float32(math.Abs(float64(v)))
		if !(a <= math.MaxFloat32) {
			return q, float32(math.NaN())
		}
		amax = max(amax, a)
	}
	if amax < 0x1p-96 {
		return q, 0
	}
	largest, step := float32(32512), float32(1)/32512
	if p == Int8 {
		largest, step = 127, float32(1)/127
	}
	inv := largest / amax
	for i, v := range x {
		q[i] = int32(math.RoundToEven(float64(float32(v * inv))))
	}
	return q, float32(amax * step)
}

func refProduct(kind blocks.Kind, w []byte, row, cols int, x []float32, p Precision) float32 {
	tile := w[row/blocks.TileRows*kind.TileBytes(cols):]
	lane := row % blocks.TileRows
	var acc float32
	for b := range cols / blocks.Size {
		q, xs := refQuantize(x[b*blocks.Size:][:blocks.Size], p)
		ws := half.FromF16(binary.LittleEndian.Uint16(tile[kind.ScaleOffset(lane, b):]))
		var isum, sum int32
		for i, v := range q {
			off, shift := kind.QuantOffset(lane, b*blocks.Size+i, cols)
			wq := int32(tile[off] >> shift)
			switch kind {
			case blocks.Q8B32:
				wq -= 128
			case blocks.Q4B32:
				wq = wq&15 - 8
			case blocks.Q4B32M:
				wq &= 15
			}
			isum += wq * v
			sum += v
		}
		acc = FMA(float32(isum), float32(ws*xs), acc)
		if kind == blocks.Q4B32M {
			m := half.FromF16(binary.LittleEndian.Uint16(tile[blocks.MinOffset(lane, b):]))
			acc = FMA(m, float32(xs*float32(sum)), acc)
		}
	}
	return acc
}

// same reports whether two results are equal: the same bits, or both NaN.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// randomBlocks returns a matrix with all bytes random but the exponents of the
// scales, which are kept from being infinite or NaN.
func randomBlocks(rnd *rand.Rand, kind blocks.Kind, rows, cols int) []byte {
	w := make([]byte, kind.MatrixBytes(rows, cols))
	for i := range w {
		w[i] = byte(rnd.Uint32())
	}
	tile := kind.TileBytes(cols)
	for t := 0; t < len(w); t += tile {
		for o := 0; o < kind.ParamBytes(cols); o += 2 {
			h := half.F16(float32(rnd.NormFloat64()) * 0.02)
			binary.LittleEndian.PutUint16(w[t+o:], h)
		}
	}
	return w
}

func randomActs(rnd *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rnd.NormFloat64())
	}
	return x
}

func TestMatMulBlocks(t *testing.T) {
	for _, kind := range kinds {
		for _, shape := range [][2]int{{16, 32}, {1, 32}, {17, 64}, {32, 96}, {33, 160}, {48, 576}, {95, 352}, {15, 1536}} {
			rows, cols := shape[0], shape[1]
			rnd := rand.New(rand.NewPCG(1, uint64(rows*cols)))
			w := randomBlocks(rnd, kind, rows, cols)
			for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 20} {
				x := randomActs(rnd, n*(cols+3))
				for _, p := range precisions {
					checkApart(t, p, kind, w, rows, cols, x, n)
				}
			}
		}
	}
}

// checkApart is checkPrecision with gaps between the rows of x and those of the
// results, which must stay.
func checkApart(t *testing.T, p Precision, kind blocks.Kind, w []byte, rows, cols int, x []float32, n int) {
	ldx, ldd := len(x)/n, rows+5
	want := make([]float32, n*rows)
	for j := range n {
		for r := range rows {
			want[j*rows+r] = refProduct(kind, w, r, cols, x[j*ldx:j*ldx+cols], p)
		}
	}
	for _, isa := range blockISAs(t) {
		k := New(isa)
		a := Acts{Precision: p}
		k.Quantize(&a, x, ldx, cols, n)
		dst := make([]float32, n*ldd)
		for i := range dst {
			dst[i] = -12345
		}
		k.MatMulBlocks(kind, dst, ldd, w, rows, &a)
		for i, got := range dst {
			j, r := i/ldd, i%ldd
			wanted := float32(-12345)
			if r < rows {
				wanted = want[j*rows+r]
			}
			if !same(got, wanted) {
				t.Fatalf("%v %v %d bits %d×%d n=%d: token %d row %d is %v (%#x), want %v (%#x)", isa, kind, 16>>p, rows, cols, n,
					j, r, got, math.Float32bits(got), wanted, math.Float32bits(wanted))
			}
		}
	}
}

// check compares the product of every instruction set with refProduct.
func check(t *testing.T, kind blocks.Kind, w []byte, rows, cols int, x []float32, n int) {
	t.Helper()
	for _, p := range precisions {
		checkPrecision(t, p, kind, w, rows, cols, x, n)
	}
}

func checkPrecision(t *testing.T, p Precision, kind blocks.Kind, w []byte, rows, cols int, x []float32, n int) {
	t.Helper()
	want := make([]float32, n*rows)
	for j := range n {
		for r := range rows {
			want[j*rows+r] = refProduct(kind, w, r, cols, x[j*cols:(j+1)*cols], p)
		}
	}
	for _, isa := range blockISAs(t) {
		a := Acts{Precision: p}
		dst := make([]float32, n*rows)
		New(isa).Quantize(&a, x, cols, cols, n)
		New(isa).MatMulBlocks(kind, dst, rows, w, rows, &a)
		for i := range dst {
			if !same(dst[i], want[i]) {
				t.Fatalf("%v %v %d bits %d×%d n=%d: token %d row %d is %v, want %v", isa, kind, 16>>p, rows, cols, n, i/rows, i%rows, dst[i], want[i])
			}
		}
	}
}

// TestMatMulBlocksSpecial has activations that are not finite, too large or
// small for a quantised block, or subnormal.
func TestMatMulBlocksSpecial(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, inf, -inf, nan, math.MaxFloat32, -math.MaxFloat32,
		math.SmallestNonzeroFloat32, 0x1p-96, math.Nextafter32(0x1p-96, 0), 0x1p-126, -0x1p-100, 32512, 1e30}
	rnd := rand.New(rand.NewPCG(7, 7))
	const cols = 96
	for _, kind := range kinds {
		w := randomBlocks(rnd, kind, 32, cols)
		for _, v := range values {
			for _, n := range []int{1, 2, 6} {
				for _, fill := range []func() float32{
					func() float32 { return 0 },
					func() float32 { return v },
					func() float32 { return float32(rnd.NormFloat64()) },
				} {
					x := make([]float32, n*cols)
					for i := range x {
						x[i] = fill()
					}
					x[rnd.IntN(len(x))] = v
					check(t, kind, w, 32, cols, x, n)
				}
			}
		}
		// A NaN or an infinity anywhere makes the token's results NaN, and no other's.
		for _, bad := range []float32{nan, inf, -inf} {
			x := randomActs(rnd, 3*cols)
			x[cols+40] = bad
			for _, isa := range blockISAs(t) {
				var a Acts
				dst := make([]float32, 3*32)
				New(isa).Quantize(&a, x, cols, cols, 3)
				New(isa).MatMulBlocks(kind, dst, 32, w, 32, &a)
				for i, v := range dst {
					if isNaN := v != v; isNaN != (i/32 == 1) {
						t.Fatalf("%v %v: token %d row %d is %v", isa, kind, i/32, i%32, v)
					}
				}
			}
		}
	}
}

// TestMatMulBlocksExtreme has the largest integer sums, and scales at both
// ends of binary16, infinite and NaN.
func TestMatMulBlocksExtreme(t *testing.T) {
	const cols = 64
	for _, kind := range kinds {
		for _, fill := range []byte{0, 0xff, 0x0f, 0xf0} {
			for _, scale := range []uint16{0x3c00, 0x7bff, 0xfbff, 0x0001, 0x8001, 0, 0x8000, 0x03ff, 0x7c00, 0xfc00, 0x7e00} {
				w := make([]byte, kind.MatrixBytes(16, cols))
				for i := range w {
					w[i] = fill
				}
				for o := 0; o < kind.ParamBytes(cols); o += 2 {
					binary.LittleEndian.PutUint16(w[o:], scale)
				}
				for _, v := range []float32{1, -1, math.MaxFloat32, 0x1p-96} {
					x := make([]float32, 2*cols)
					for i := range x {
						x[i] = v
					}
					check(t, kind, w, 16, cols, x[:cols], 1)
					check(t, kind, w, 16, cols, x, 2)
				}
			}
		}
	}
}

// TestMatMulBlocksManyTokens crosses the bound of the activations that are
// kept in the cache, and leaves one token for the last round.
func TestMatMulBlocksManyTokens(t *testing.T) {
	const cols, rows = 2048, 33
	rnd := rand.New(rand.NewPCG(3, 3))
	for _, kind := range kinds {
		w := randomBlocks(rnd, kind, rows, cols)
		x := randomActs(rnd, 49*cols)
		for _, p := range precisions {
			checkManyTokens(t, p, kind, w, rows, cols, x)
		}
	}
}

func checkManyTokens(t *testing.T, p Precision, kind blocks.Kind, w []byte, rows, cols int, x []float32) {
	var want []float32
	for _, isa := range blockISAs(t) {
		for _, n := range []int{49, 48, 1} {
			a := Acts{Precision: p}
			dst := make([]float32, n*rows)
			New(isa).Quantize(&a, x, cols, cols, n)
			New(isa).MatMulBlocks(kind, dst, rows, w, rows, &a)
			if want == nil {
				want = dst
			}
			for i := range dst {
				if !same(dst[i], want[i]) {
					t.Fatalf("%v %v n=%d: token %d row %d is %v, want %v", isa, kind, n, i/rows, i%rows, dst[i], want[i])
				}
			}
		}
	}
}

// TestMatMulBlocksConcurrent: threads quantise rows of activations, share them, and
// split the rows of weights.
func TestMatMulBlocksConcurrent(t *testing.T) {
	const cols, rows, n = 128, 80, 5
	rnd := rand.New(rand.NewPCG(4, 4))
	for _, kind := range kinds {
		w := randomBlocks(rnd, kind, rows, cols)
		x := randomActs(rnd, n*cols)
		for _, isa := range blockISAs(t) {
			k := New(isa)
			var a, parts Acts
			k.Quantize(&a, x, cols, cols, n)
			k.Reserve(&parts, cols, n)
			var wait sync.WaitGroup
			for j := range n {
				wait.Go(func() { k.QuantizeRows(&parts, x, cols, j, 1) })
			}
			wait.Wait()
			want, got := make([]float32, n*rows), make([]float32, n*rows)
			k.MatMulBlocks(kind, want, rows, w, rows, &a)
			for first := 0; first < rows; first += 16 {
				wait.Go(func() {
					k.MatMulBlocks(kind, got[first:], rows, w[first/16*kind.TileBytes(cols):], 16, &parts)
				})
			}
			wait.Wait()
			for i := range got {
				if !same(got[i], want[i]) {
					t.Fatalf("%v %v: %d is %v, want %v", isa, kind, i, got[i], want[i])
				}
			}
		}
	}
}

func TestMatMulBlocksAllocates(t *testing.T) {
	const cols, rows, n = 64, 40, 7
	rnd := rand.New(rand.NewPCG(5, 5))
	w := randomBlocks(rnd, blocks.Q4B32M, rows, cols)
	x := randomActs(rnd, n*cols)
	dst := make([]float32, n*rows)
	for _, isa := range blockISAs(t) {
		k := New(isa)
		var a Acts
		k.Quantize(&a, x, cols, cols, n)
		if got := testing.AllocsPerRun(10, func() {
			for _, m := range []int{1, 3, n} {
				k.Quantize(&a, x, cols, cols, m)
				k.MatMulBlocks(blocks.Q4B32M, dst, rows, w, rows, &a)
			}
		}); got != 0 {
			t.Errorf("%v: %v allocations", isa, got)
		}
	}
}

func TestMatMulBlocksEmpty(t *testing.T) {
	for _, isa := range blockISAs(t) {
		k := New(isa)
		var a Acts
		dst := []float32{1, 2}
		k.Quantize(&a, nil, 32, 32, 0)
		k.MatMulBlocks(blocks.Q8B32, dst, 2, nil, 0, &a)
		k.Quantize(&a, nil, 0, 0, 1)
		if dst[0] != 1 || dst[1] != 2 {
			t.Errorf("%v: wrote %v", isa, dst)
		}
		k.MatMulBlocks(blocks.Q8B32, dst, 2, nil, 2, &a)
		if dst[0] != 0 || dst[1] != 0 {
			t.Errorf("%v: rows of no columns give %v", isa, dst)
		}
	}
}

// TestMatMulBlocksOtherISA: activations of one instruction set are refused by
// another, whose arrangement differs.
func TestMatMulBlocksOtherISA(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	a := Acts{isa: AVX2}
	New(Portable).MatMulBlocks(blocks.Q8B32, nil, 0, nil, 0, &a)
}

// TestMatMulBlocksGolden holds the bits of the arithmetic: they may change only
// together with docs/arithmetic.md.
func TestMatMulBlocksGolden(t *testing.T) {
	golden := map[blocks.Kind][2]string{
		blocks.Q8B32:  {"1ffa7bf6a039cd6cafeca4edc00f49ecf0f2d31ee419f9d3d047d7b132d00454", "7b37b78d38a9f04024301225b9b59dc3084db44132a912d7a0455699a795bcf3"},
		blocks.Q4B32:  {"d79e23b259869a3ced70df8ba5a4429f7902612166b5fcc894cbc6950e6e5181", "c005dd6ae27fbfd268cbf99e0583b5d734aba62626c0dba0e322ed1d1d78dac8"},
		blocks.Q4B32M: {"c362a9af071ce3875db1a0dd2a640e01c8347e3ed49afdc8d544f49697a58d21", "b4df14e5e02de014e23fd3f6f65cfa14b615c65e1102cf51fc98513fc00c5152"},
	}
	const rows, cols, n = 48, 320, 7
	for _, kind := range kinds {
		state := uint64(kind)
		next := func() uint64 { // SplitMix64
			state += 0x9e3779b97f4a7c15
			z := state
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			return z ^ z>>31
		}
		w := make([]byte, kind.MatrixBytes(rows, cols))
		for i := range w {
			w[i] = byte(next())
		}
		for o := 0; o < len(w); o += kind.TileBytes(cols) {
			for p := 0; p < kind.ParamBytes(cols); p += 2 {
				binary.LittleEndian.PutUint16(w[o+p:], uint16(next())&0x9fff) // up to 2⁻⁷
			}
		}
		x := make([]float32, n*cols)
		for i := range x {
			x[i] = float32(int64(next())>>40) / (1 << 20)
		}
		for _, p := range precisions {
			for _, isa := range blockISAs(t) {
				a := Acts{Precision: p}
				dst := make([]float32, n*rows)
				New(isa).Quantize(&a, x, cols, cols, n)
				New(isa).MatMulBlocks(kind, dst, rows, w, rows, &a)
				sum := sha256.New()
				for _, v := range dst {
					if v != v {
						t.Fatal("NaN in the golden product")
					}
					sum.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
				}
				if got := hex.EncodeToString(sum.Sum(nil)); got != golden[kind][p] {
					t.Errorf("%v %v %d bits: digest %s, want %s", isa, kind, 16>>p, got, golden[kind][p])
				}
			}
		}
	}
}

func FuzzMatMulBlocks(f *testing.F) {
	f.Add(uint8(0), uint8(1), uint8(1), uint8(1), []byte{1, 2, 3})
	f.Add(uint8(1), uint8(17), uint8(2), uint8(7), []byte{0x7f, 0xc0, 0, 1})
	f.Add(uint8(2), uint8(33), uint8(3), uint8(6), []byte{0xff})
	f.Fuzz(func(t *testing.T, k, rows, nb, n uint8, data []byte) {
		kind := kinds[int(k)%len(kinds)]
		r, cols, tokens := int(rows%50)+1, (int(nb%5)+1)*blocks.Size, int(n%15)+1
		w := make([]byte, kind.MatrixBytes(r, cols))
		x := make([]float32, tokens*cols)
		if len(data) == 0 {
			return
		}
		seed := uint64(0)
		at := func(i int) byte { // the input, repeated and varied
			seed = seed*6364136223846793005 + uint64(data[i%len(data)])
			return data[i%len(data)] ^ byte(seed>>60)
		}
		for i := range w {
			w[i] = at(i)
		}
		for i := range x {
			x[i] = math.Float32frombits(uint32(at(4*i)) | uint32(at(4*i+1))<<8 | uint32(at(4*i+2))<<16 | uint32(at(4*i+3))<<24)
		}
		check(t, kind, w, r, cols, x, tokens)
	})
}
