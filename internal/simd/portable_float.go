package simd

import (
	"encoding/binary"
	"math"

	"github.com/x448/float16"
)

// lanes is the number of partial sums of a dot product. Element i of a row
// belongs to lane i mod lanes; a row whose length is no multiple of lanes is
// padded with zeros.
const lanes = 16

// FMA returns x·y+z rounded once to float32.
//
// float32(math.FMA(x, y, z)) rounds twice. So does this, the product being exact
// in float64, and it goes wrong only where the first rounding may have made a
// tie of what was none.
func FMA(x, y, z float32) float32 {
	s := float64(x)*float64(y) + float64(z) // the same bits fused and unfused
	if doubtful(s) {
		return fmaOdd(x, y, z)
	}
	return float32(s)
}

// doubtful reports whether rounding s to float32 may differ from rounding what
// s was rounded from: s lies between two float32, or where those have fewer
// bits.
func doubtful(s float64) bool {
	const least = (1023 - 126) << 52 // the smallest normal float32
	b := math.Float64bits(s)
	return b<<35 == 1<<63 || b<<1-1 < least<<1-1
}

// fmaOdd rounds the sum to odd first, which makes the last rounding right
// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
// algorithms using rounding to odd", IEEE Transactions on Computers 57, 2008).
//
//go:noinline
func fmaOdd(x, y, z float32) float32 {
	p, a := float64(x)*float64(y), float64(z)
	s := p + a
	// Error of s, exactly (Knuth's two-sum).
	bb := s - p
	e := (p - (s - bb)) + (a - bb)
	if e != 0 && e == e {
		if b := math.Float64bits(s); b&1 == 0 {
			// s was rounded to an even neighbour: step towards the exact value.
			if (e > 0) == (s > 0) {
				b++
			} else {
				b--
			}
			s = math.Float64frombits(b)
		}
	}
	return float32(s)
}

// sumLanes sums the lanes of a dot product, always in this order.
func sumLanes(a *[lanes]float32) float32 {
	for n := lanes / 2; n > 0; n /= 2 {
		for i := range n {
			a[i] += a[i+n]
		}
	}
	return a[0]
}

// addDot adds the products of w and x to the lanes. All but the last call for a
// dot product have a multiple of lanes elements.
func addDot(acc *[lanes]float32, w, x []float32) {
	x = x[:len(w)]
	for len(w) >= lanes && len(x) >= lanes {
		a, b := (*[lanes]float32)(w), (*[lanes]float32)(x)
		for l := range lanes {
			s := float64(a[l])*float64(b[l]) + float64(acc[l]) // FMA, which the compiler does not inline
			if doubtful(s) {
				acc[l] = fmaOdd(a[l], b[l], acc[l])
			} else {
				acc[l] = float32(s)
			}
		}
		w, x = w[lanes:], x[lanes:]
	}
	if len(w) > 0 {
		var a, b [lanes]float32 // a padded lane turns −0 into +0
		copy(a[:], w)
		copy(b[:], x)
		for l := range lanes {
			acc[l] = FMA(a[l], b[l], acc[l])
		}
	}
}

func dotPortable(w, x []float32) float32 {
	var acc [lanes]float32
	addDot(&acc, w, x)
	return sumLanes(&acc)
}

func decodeRow(f Float, dst []float32, w []byte) {
	w = w[:len(dst)*f.Bytes()]
	switch f {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(w[4*i:]))
		}
	case F16:
		for i := range dst {
			dst[i] = float16.Frombits(binary.LittleEndian.Uint16(w[2*i:])).Float32()
		}
	case BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(w[2*i:])) << 16)
		}
	}
}

// matMulPortable decodes a part of a row at a time, for several rows of x.
func matMulPortable(f Float, dst []float32, ldd int, w []byte, rows, cols int, x []float32, ldx, n int) {
	const atOnce = 4
	var part [16 * lanes]float32
	size := cols * f.Bytes()
	for j0 := 0; j0 < n; j0 += atOnce {
		m := min(atOnce, n-j0)
		for r := range rows {
			row := w[r*size : (r+1)*size]
			var acc [atOnce][lanes]float32
			for c := 0; c < cols; c += len(part) {
				p := part[:min(len(part), cols-c)]
				decodeRow(f, p, row[c*f.Bytes():])
				for j := range m {
					addDot(&acc[j], p, x[(j0+j)*ldx+c:])
				}
			}
			for j := range m {
				dst[(j0+j)*ldd+r] = sumLanes(&acc[j])
			}
		}
	}
}

func dotsPortable(dst []float32, ldd int, w []float32, ldw, rows, cols int, x []float32, ldx, n int) {
	for r := range rows {
		for j := range n {
			dst[j*ldd+r] = dotPortable(w[r*ldw:r*ldw+cols], x[j*ldx:])
		}
	}
}

func weightedSumPortable(dst []float32, ldd int, a []float32, lda int, v []float32, ldv, rows, cols, n int) {
	for j := range n {
		out := dst[j*ldd : j*ldd+cols]
		clear(out)
		for p := range rows {
			s := a[j*lda+p]
			for d, x := range v[p*ldv : p*ldv+cols] {
				out[d] = FMA(s, x, out[d])
			}
		}
	}
}

func rmsNormPortable(dst, x, w []float32, eps float32) {
	ss := dotPortable(x, x)
	mean := ss / float32(len(x))
	r := 1 / float32(math.Sqrt(float64(float32(mean+eps)))) // exact: sqrt in float64, rounded, is the float32 sqrt
	for i := range dst {
		dst[i] = float32(x[i]*r) * w[i]
	}
}

func ropePortable(x []float32, cos, sin []float32) {
	h := len(cos)
	for ; len(x) >= 2*h; x = x[2*h:] {
		for i := range h {
			a, b := x[i], x[i+h]
			x[i] = float32(a*cos[i]) - float32(b*sin[i])
			x[i+h] = float32(b*cos[i]) + float32(a*sin[i])
		}
	}
}

// expPortable returns e^x by range reduction and a polynomial, with no fused
// operation: 0 below −87.3365, +Inf above 88.72284.
func expPortable(x float32) float32 {
	switch {
	case x != x:
		return x
	case x < -87.3365:
		return 0
	case x > 88.72284:
		return float32(math.Inf(1))
	}
	n := float32(math.RoundToEven(float64(float32(x * 1.44269504))))
	r := float32(x - float32(n*0.693359375))
	r = float32(r - float32(n*-2.12194440e-4))
	p := float32(1.9875691500e-4)
	for _, c := range [...]float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		p = float32(p*r) + c
	}
	p = float32(float32(p*float32(r*r))+r) + 1
	// Two steps, since 2^128 is no float32.
	i := int32(n)
	h := i / 2
	p *= math.Float32frombits(uint32(h+127) << 23)
	return p * math.Float32frombits(uint32(i-h+127)<<23)
}

func softmaxPortable(s []float32) {
	m := float32(math.Inf(-1))
	for _, v := range s {
		if v > m || v != v {
			m = v
		}
	}
	var acc [lanes]float32
	for i, v := range s {
		e := expPortable(v - m)
		s[i] = e
		acc[i%lanes] += e
	}
	inv := 1 / sumLanes(&acc)
	for i := range s {
		s[i] *= inv
	}
}

func siluMulPortable(gate, up []float32) {
	for i, g := range gate {
		gate[i] = float32(g/(1+expPortable(-g))) * up[i]
	}
}
