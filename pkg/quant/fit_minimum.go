package quant

import (
	"math"

	"github.com/leveret-os/leveret/internal/half"
)

// fitQ4M sets blk to x in Q4B32M. It returns false if x is out of range.
func fitQ4M(blk *block, x *[BlockSize]float32) bool {
	lo, hi := limits(x)
	span := hi - lo
	if lo < -maxScale || lo > maxScale || !(span <= 15*maxScale) {
		return false
	}
	f := minimumFit{x: x, err: float32(math.Inf(1))}
	f.try(0, half.F16(lo))
	f.exact(lo, hi)
	if f.err > 0 {
		f.search(lo, span)
	}
	blk.scale, blk.minimum = f.scale, f.minimum
	s, m := half.FromF16(f.scale), half.FromF16(f.minimum)
	inv := inverse(s)
	for i, v := range x {
		blk.quants[i] = uint8(clamp(round(float32((v-m)*inv)), 0, 15))
	}
	return true
}

// A minimumFit is the best parameters so far for weights x, and their error.
type minimumFit struct {
	x              *[BlockSize]float32
	scale, minimum uint16
	err            float32
}

// try judges a scale and a minimum.
func (f *minimumFit) try(scale, minimum uint16) {
	if scale&0x7fff > maxScaleBits || minimum&0x7fff > maxScaleBits {
		return
	}
	s, m := half.FromF16(scale), half.FromF16(minimum)
	inv := inverse(s)
	x := f.x
	var e [2]float32
	for i := 0; i < BlockSize; i += 2 {
		d := x[i] - (float32(float32(clamp(round(float32((x[i]-m)*inv)), 0, 15))*s) + m)
		e[0] += float32(d * d)
		d = x[i+1] - (float32(float32(clamp(round(float32((x[i+1]-m)*inv)), 0, 15))*s) + m)
		e[1] += float32(d * d)
	}
	if err := e[0] + e[1]; err < f.err {
		f.scale, f.minimum, f.err = scale, minimum, err
	}
}

// exact finds the grid that x lies on, if x was in such a format before: from
// lo to hi it has at most 15 equal steps, and it begins below lo, or above hi
// with a negative scale.
func (f *minimumFit) exact(lo, hi float32) {
	for steps := 15; steps > 0 && f.err > 0; steps-- {
		scale := half.F16((hi - lo) / float32(steps))
		s := half.FromF16(scale)
		if inv := inverse(s); inv == 0 || !onGrid(f.x, lo, inv) {
			continue
		}
		for unused := 0; unused <= 15-steps && f.err > 0; unused++ {
			d := float32(float32(unused) * s)
			f.try(scale, half.F16(lo-d))
			f.try(scale|0x8000, half.F16(hi+d))
		}
	}
}

// onGrid reports whether all of x is near to multiples of 1/inv above lo.
func onGrid(x *[BlockSize]float32, lo, inv float32) bool {
	for _, v := range x {
		n := float32((v - lo) * inv)
		if d := n - float32(round(n)); d > 0.02 || d < -0.02 {
			return false
		}
	}
	return true
}

// search tries quants that use more or less of the span, and takes the scale
// and minimum of the least squares for the best of them; then it tries their
// neighbours.
func (f *minimumFit) search(lo, span float32) {
	type sums struct{ q, qq, x, xq, det float32 } // of x−lo, lest they cancel
	var best sums
	var most float32
	for k := float32(13.5); k < 16.6; k += 0.25 {
		inv := k / span
		if inv-inv != 0 {
			break
		}
		var s sums
		for _, v := range f.x {
			v -= lo
			q := float32(clamp(round(float32(v*inv)), 0, 15))
			s.q += q
			s.qq += float32(q * q)
			s.x += v
			s.xq += float32(v * q)
		}
		s.det = float32(BlockSize*s.qq) - float32(s.q*s.q)
		if s.det <= 0 {
			continue
		}
		// The error is Σx² less this, divided by the span lest it underflow.
		x, xq := s.x/span, s.xq/span
		less := (float32(float32(BlockSize*xq)*xq) - float32(float32(2*s.q*x)*xq) + float32(float32(s.qq*x)*x)) / s.det
		if less > most {
			best, most = s, less
		}
	}
	if most > 0 {
		s := (float32(BlockSize*best.xq) - float32(best.q*best.x)) / best.det
		minimum := half.F16(lo + (best.x-float32(s*best.q))/BlockSize)
		// The scale again, for the minimum as it is rounded.
		shift := half.FromF16(minimum) - lo
		f.try(half.F16((best.xq-float32(shift*best.q))/best.qq), minimum)
	}
	// A minimum below all weights, of use where the minimum is far coarser than the span.
	down := half.F16(lo)
	if half.FromF16(down) > lo {
		down = nextDown(down)
	}
	f.try(half.F16((lo+span-half.FromF16(down))/15), down)
	for f.err > 0 {
		before, scale, minimum := f.err, f.scale, f.minimum
		for d := -1; d <= 1; d += 2 {
			f.try(step(scale, d), minimum)
			f.try(scale, step(minimum, d))
		}
		if f.err == before {
			return
		}
	}
}

// step returns the binary16 number d away in magnitude, with the same sign.
func step(h uint16, d int) uint16 {
	n := int(h&0x7fff) + d
	return uint16(min(max(n, 0), maxScaleBits)) | h&0x8000
}

// nextDown returns the next smaller binary16 number.
func nextDown(h uint16) uint16 {
	switch {
	case h == 0:
		return 0x8001
	case h&0x8000 != 0:
		return h + 1
	}
	return h - 1
}
