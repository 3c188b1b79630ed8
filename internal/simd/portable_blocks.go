package simd

import (
	"encoding/binary"
	"math"

	"github.com/leveret-os/leveret/internal/blocks"
)

// The largest quantised activation: two signed base-256 digits, or one.
const (
	actMax  = 127 * 256
	actMax8 = 127
)

// actMin is the least block maximum that is quantised; a block below it is zero.
const actMin = 0x1p-96

func (a *Acts) grow() {
	size := a.n * a.cols
	if size > cap(a.q) {
		a.q = make([]int16, size)
		a.scale = make([]float32, size/blocks.Size)
		a.sum = make([]int32, size/blocks.Size)
	}
	a.q = a.q[:size]
	a.scale = a.scale[:size/blocks.Size]
	a.sum = a.sum[:size/blocks.Size]
}

func quantizePortable(a *Acts, x []float32, ldx, first, n int) {
	nb := a.cols / blocks.Size
	for j := first; j < first+n; j++ {
		for b := range nb {
			in := x[j*ldx+b*blocks.Size:][:blocks.Size]
			q := a.q[j*a.cols+b*blocks.Size:][:blocks.Size]
			a.scale[j*nb+b], a.sum[j*nb+b] = quantizeBlock(q, in, a.Precision)
		}
	}
}

func quantizeBlock(q []int16, x []float32, p Precision) (scale float32, sum int32) {
	var amax float32
	for _, v := range x {
		if v < 0 {
			v = -v
		}
		if v > amax || v != v {
			amax = v
		}
		if amax != amax {
			break
		}
	}
	if !(amax <= math.MaxFloat32) { // NaN or infinity: the product is NaN
		clear(q)
		return float32(math.NaN()), 0
	}
	if amax < actMin {
		clear(q)
		return 0, 0
	}
	largest, step := float32(actMax), float32(1.0/actMax)
	if p == Int8 {
		largest, step = actMax8, 1.0/actMax8
	}
	inv := largest / amax
	for i, v := range x {
		n := roundToEven(float32(v * inv))
		q[i] = n
		sum += int32(n)
	}
	return amax * step, sum
}

// roundToEven returns the integer nearest to v, the even one of two, for
// |v| < 2²²: adding 1.5·2²³ leaves no bits for a fraction.
func roundToEven(v float32) int16 {
	const c = 0x1.8p23
	return int16(math.Float32bits(v + c))
}

func matMulBlocksPortable(kind blocks.Kind, dst []float32, ldd int, w []byte, rows int, a *Acts) {
	nb := a.cols / blocks.Size
	size := kind.TileBytes(a.cols)
	for r := 0; r < rows; r += blocks.TileRows {
		tile := w[r/blocks.TileRows*size:][:size]
		n := min(rows-r, blocks.TileRows)
		for j := range a.n {
			var acc [blocks.TileRows]float32
			for b := range nb {
				q := (*[blocks.Size]int16)(a.q[j*a.cols+b*blocks.Size:])
				isum := tileSums(kind, tile[kind.ParamBytes(a.cols)+b*kind.BlockBytes():], q, a.sum[j*nb+b])
				params := tile[kind.ScaleOffset(0, b):][:2*blocks.TileRows]
				xs := a.scale[j*nb+b]
				for l := range n {
					ws := fromF16(binary.LittleEndian.Uint16(params[2*l:]))
					acc[l] = FMA(float32(isum[l]), float32(ws*xs), acc[l])
				}
				if kind == blocks.Q4B32M {
					params = tile[blocks.MinOffset(0, b):][:2*blocks.TileRows]
					xsum := float32(xs * float32(a.sum[j*nb+b]))
					for l := range n {
						acc[l] = FMA(fromF16(binary.LittleEndian.Uint16(params[2*l:])), xsum, acc[l])
					}
				}
			}
			copy(dst[j*ldd+r:j*ldd+r+n], acc[:n])
		}
	}
}

// tileSums returns the exact integer products of one block of 16 rows with
// activations whose sum is sum.
//
// Two rows share an int64: the upper half of s holds one row's sum, to which a
// negative lower half owes one.
func tileSums(kind blocks.Kind, quants []byte, q *[blocks.Size]int16, sum int32) (isum [blocks.TileRows]int32) {
	const bytes, nibbles = 0x000000ff_000000ff, 0x0000000f_0000000f
	var s [blocks.TileRows / 2]int64
	bias := int32(0)
	if kind == blocks.Q8B32 {
		bias = 128
		for j := 0; j < blocks.Size; j += 4 {
			group := (*[64]byte)(quants[16*j:])
			x0, x1, x2, x3 := int64(q[j]), int64(q[j+1]), int64(q[j+2]), int64(q[j+3])
			for p := range s {
				u := binary.LittleEndian.Uint64(group[8*p:])
				s[p] += int64(u&bytes)*x0 + int64(u>>8&bytes)*x1 + int64(u>>16&bytes)*x2 + int64(u>>24&bytes)*x3
			}
		}
	} else {
		if kind == blocks.Q4B32 {
			bias = 8
		}
		for j := 0; j < blocks.Size; j += 8 {
			group := (*[64]byte)(quants[8*j:])
			x0, x1, x2, x3 := int64(q[j]), int64(q[j+1]), int64(q[j+2]), int64(q[j+3])
			x4, x5, x6, x7 := int64(q[j+4]), int64(q[j+5]), int64(q[j+6]), int64(q[j+7])
			for p := range s {
				u := binary.LittleEndian.Uint64(group[8*p:])
				s[p] += int64(u&nibbles)*x0 + int64(u>>8&nibbles)*x1 + int64(u>>16&nibbles)*x2 + int64(u>>24&nibbles)*x3 +
					int64(u>>4&nibbles)*x4 + int64(u>>12&nibbles)*x5 + int64(u>>20&nibbles)*x6 + int64(u>>28&nibbles)*x7
			}
		}
	}
	bias *= sum
	for p, v := range s {
		low := int32(v)
		isum[2*p] = low - bias
		isum[2*p+1] = int32((v-int64(low))>>32) - bias
	}
	return isum
}

// fromF16 is half.FromF16, inlined: a binary16 number placed in the bits of a
// float32 is 2¹¹² times too small, also where it is subnormal.
func fromF16(h uint16) float32 {
	b := math.Float32bits(math.Float32frombits(uint32(h&0x7fff)<<13) * 0x1p112)
	if h&0x7c00 == 0x7c00 { // infinity or NaN
		b = 0x7f800000 | uint32(h&0x3ff)<<13
	}
	return math.Float32frombits(b | uint32(h&0x8000)<<16)
}
