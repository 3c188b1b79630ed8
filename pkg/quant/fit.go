package quant

import (
	"math"

	"github.com/leveret-os/leveret/internal/half"
)

// maxScale is the largest finite binary16.
const (
	maxScale     = 65504
	maxScaleBits = 0x7bff
)

// The fits below look for the parameters of the least squared error among the
// binary16 numbers near those that map the extreme weights to the extreme
// quants, judging each by the weights that Decode would give. Products are
// rounded before they are added, so that the result is the same on every
// machine.

// near calls try with the bits of the binary16 numbers from below lo to above
// hi, which are positive, until it returns true.
func near(lo, hi float32, try func(uint16) bool) {
	first := min(max(int(half.F16(lo))-1, 1), maxScaleBits)
	last := min(int(half.F16(hi))+1, maxScaleBits)
	for h := first; h <= last; h++ {
		if try(uint16(h)) {
			return
		}
	}
}

// extreme returns the weight of the largest magnitude, the first of several.
func extreme(x *[BlockSize]float32) float32 {
	var m, a float32
	for _, v := range x {
		if v > a || v < -a {
			m, a = v, float32(math.Abs(float64(v)))
		}
	}
	return m
}

// fitQ8 sets blk to x in Q8B32. It returns false if x is out of range.
func fitQ8(blk *block, x *[BlockSize]float32) bool {
	m := extreme(x)
	amax := float32(math.Abs(float64(m)))
	if amax > 128*maxScale {
		return false
	}
	// The quants reach from −128 to 127: let the extreme weight be negative.
	sign := uint16(0)
	if m > 0 {
		sign = 0x8000
	}
	best, bestErr := uint16(0), float32(math.Inf(1))
	try := func(h uint16) bool {
		if e := errQ8(x, half.FromF16(h|sign)); e < bestErr {
			best, bestErr = h, e
		}
		return bestErr == 0
	}
	if e := half.F16(amax / 127); e == 0 || e > maxScaleBits || !try(e) {
		near(amax/128.5, amax/126.5, try)
	}
	if errQ8(x, 0) <= bestErr { // all are zero, or nearer to it than to any quant
		best, sign = 0, 0
	}
	s := half.FromF16(best | sign)
	inv := inverse(s)
	low := int32(0)
	for i, v := range x {
		q := clamp(round(float32(v*inv)), -128, 127)
		low = min(low, q)
		blk.quants[i] = uint8(q + 128)
	}
	blk.scale = best | sign
	if sign != 0 && low > -128 { // the sign was of no use
		blk.scale = best
		for i, q := range blk.quants {
			blk.quants[i] = -q
		}
	}
	return true
}

// errQ8 returns the squared error of x at scale s.
func errQ8(x *[BlockSize]float32, s float32) float32 {
	inv := inverse(s)
	var e [2]float32 // two chains
	for i := 0; i < BlockSize; i += 2 {
		d := x[i] - float32(float32(clamp(round(float32(x[i]*inv)), -128, 127))*s)
		e[0] += float32(d * d)
		d = x[i+1] - float32(float32(clamp(round(float32(x[i+1]*inv)), -128, 127))*s)
		e[1] += float32(d * d)
	}
	return e[0] + e[1]
}

// inverse returns 1/s, and 0 for 0.
func inverse(s float32) float32 {
	if s == 0 {
		return 0
	}
	return 1 / s
}

func clamp(q, lo, hi int32) int32 { return min(max(q, lo), hi) }

// fitQ4 sets blk to x in Q4B32. It returns false if x is out of range.
func fitQ4(blk *block, x *[BlockSize]float32) bool {
	m := extreme(x)
	amax := float32(math.Abs(float64(m)))
	if amax > 8*maxScale {
		return false
	}
	f := scaleFit{x: x, err: errQ4(x, 0)}
	// The quants reach from −8 to 7, and the scale may be negative: the
	// extreme weight may take either end. The plain choice first, which is the
	// exact one for weights that were in such a format before.
	f.try(half.F16(m / -8))
	if f.err > 0 {
		f.search(m)
	}
	s := half.FromF16(f.scale)
	inv := inverse(s)
	for i, v := range x {
		blk.quants[i] = uint8(clamp(round(float32(v*inv)), -8, 7) + 8)
	}
	blk.scale = f.scale
	return true
}

// A scaleFit is the best Q4B32 scale so far for weights x, and its error.
type scaleFit struct {
	x     *[BlockSize]float32
	scale uint16
	err   float32
}

// try judges a scale.
func (f *scaleFit) try(scale uint16) {
	if scale&0x7fff > maxScaleBits {
		return
	}
	if e := errQ4(f.x, half.FromF16(scale)); e < f.err {
		f.scale, f.err = scale, e
	}
}

// search lets the extreme weight m take several quants, and takes the scale of
// the least squares for the quants that follow; then it tries its neighbours.
func (f *scaleFit) search(m float32) {
	var best, most float32
	for _, k := range trialsQ4 {
		inv := k / m
		if inv-inv != 0 { // the weights are too small for any scale
			break
		}
		var sxq, sqq float32
		for _, v := range f.x {
			q := float32(clamp(round(float32(v*inv)), -8, 7))
			sxq += float32(v * q)
			sqq += float32(q * q)
		}
		// The error is Σx² less this.
		if less := sxq * (sxq / sqq); less > most {
			best, most = sxq/sqq, less
		}
	}
	f.try(half.F16(best))
	for f.err > 0 {
		before, at := f.err, f.scale
		f.try(step(at, 1))
		f.try(step(at, -1))
		if f.err == before {
			return
		}
	}
}

// trialsQ4 are the quants, not rounded, of the extreme weight.
var trialsQ4 = [...]float32{-9, -8.8, -8.6, -8.4, -8.2, -8, -7.9, -7.8, -7.7, -7.6, -7.5, -7.4, -7.3, -7.2, -7.1, -7, -6.8, 7, 7.2, 7.4, 7.6}

// errQ4 returns the squared error of x at scale s.
func errQ4(x *[BlockSize]float32, s float32) float32 {
	inv := inverse(s)
	var e [2]float32
	for i := 0; i < BlockSize; i += 2 {
		d := x[i] - float32(float32(clamp(round(float32(x[i]*inv)), -8, 7))*s)
		e[0] += float32(d * d)
		d = x[i+1] - float32(float32(clamp(round(float32(x[i+1]*inv)), -8, 7))*s)
		e[1] += float32(d * d)
	}
	return e[0] + e[1]
}
