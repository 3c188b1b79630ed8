package simd

import (
	"encoding/binary"
	"math"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/x448/float16"
)

// actMax is the largest quantised activation: two signed base-256 digits.
const actMax = 127 * 256

// actMin is the least block maximum that is quantised; a block below it is zero.
const actMin = 0x1p-96

func (a *Acts) grow(n, cols int) {
	a.n, a.cols = n, cols
	if n*cols > cap(a.q) {
		a.q = make([]int16, n*cols)
		a.scale = make([]float32, n*cols/blocks.Size)
		a.sum = make([]int32, n*cols/blocks.Size)
	}
	a.q = a.q[:n*cols]
	a.scale = a.scale[:n*cols/blocks.Size]
	a.sum = a.sum[:n*cols/blocks.Size]
}

func quantizePortable(a *Acts, x []float32, ldx, cols, n int) {
	a.grow(n, cols)
	nb := a.cols / blocks.Size
	for j := range a.n {
		for b := range nb {
			in := x[j*ldx+b*blocks.Size:][:blocks.Size]
			q := a.q[j*a.cols+b*blocks.Size:][:blocks.Size]
			a.scale[j*nb+b], a.sum[j*nb+b] = quantizeBlock(q, in)
		}
	}
}

func quantizeBlock(q []int16, x []float32) (scale float32, sum int32) {
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
	inv := actMax / amax
	for i, v := range x {
		n := int16(math.RoundToEven(float64(float32(v * inv))))
		q[i] = n
		sum += int32(n)
	}
	return amax * (1.0 / actMax), sum
}

func matMulBlocksPortable(kind blocks.Kind, dst []float32, ldd int, w []byte, rows int, a *Acts) {
	nb := a.cols / blocks.Size
	tile := kind.TileBytes(a.cols)
	for r := range rows {
		t, lane := w[r/blocks.TileRows*tile:], r%blocks.TileRows
		for j := range a.n {
			var acc float32
			for b := range nb {
				q := a.q[j*a.cols+b*blocks.Size:][:blocks.Size]
				isum := blockSum(kind, t, lane, b, a.cols, q)
				ws := float16.Frombits(binary.LittleEndian.Uint16(t[kind.ScaleOffset(lane, b):])).Float32()
				xs, sum := a.scale[j*nb+b], float32(a.sum[j*nb+b])
				acc = FMA(float32(isum), float32(ws*xs), acc)
				if kind == blocks.Q4B32M {
					m := float16.Frombits(binary.LittleEndian.Uint16(t[blocks.MinOffset(lane, b):])).Float32()
					acc = FMA(m, float32(xs*sum), acc)
				}
			}
			dst[j*ldd+r] = acc
		}
	}
}

// blockSum is the exact integer product of one block of a row with activations.
func blockSum(kind blocks.Kind, tile []byte, lane, b, cols int, q []int16) (sum int32) {
	bias := int32(0)
	mask := byte(15)
	switch kind {
	case blocks.Q8B32:
		bias, mask = 128, 255
	case blocks.Q4B32:
		bias = 8
	}
	for i, x := range q {
		off, shift := kind.QuantOffset(lane, b*blocks.Size+i, cols)
		sum += (int32(tile[off]>>shift&mask) - bias) * int32(x)
	}
	return sum
}
