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
			addScaled(out, s, v[p*ldv:])
		}
	}
}

// addScaled adds s·x to out, fused.
func addScaled(out []float32, s float32, x []float32) {
	x = x[:len(out)]
	d := float64(s)
	for len(out) >= lanes && len(x) >= lanes {
		a, b := (*[lanes]float32)(out), (*[lanes]float32)(x)
		for l := range lanes {
			sum := d*float64(b[l]) + float64(a[l]) // FMA, which the compiler does not inline
			if doubtful(sum) {
				a[l] = fmaOdd(s, b[l], a[l])
			} else {
				a[l] = float32(sum)
			}
		}
		out, x = out[lanes:], x[lanes:]
	}
	for i := range out {
		out[i] = FMA(s, x[i], out[i])
	}
}

// normScale returns 1/sqrt(ss/n+eps). The square root, rounded from float64, is
// that of float32.
func normScale(ss float32, n int, eps float32) float32 {
	mean := ss / float32(n)
	return 1 / float32(math.Sqrt(float64(float32(mean+eps))))
}

func rmsNormPortable(dst, x, w []float32, eps float32) {
	x, w = x[:len(dst)], w[:len(dst)]
	scaleMulPortable(dst, x, w, normScale(dotPortable(x, x), len(x), eps))
}

func scaleMulPortable(dst, x, w []float32, r float32) {
	for i := range dst {
		dst[i] = float32(x[i]*r) * w[i]
	}
}

func ropePortable(x []float32, cos, sin []float32) {
	h := len(cos)
	sin = sin[:h]
	for ; h > 0 && len(x) >= 2*h; x = x[2*h:] {
		first, second := x[:h], x[h:2*h]
		for i := range first {
			a, b := first[i], second[i]
			first[i] = float32(a*cos[i]) - float32(b*sin[i])
			second[i] = float32(b*cos[i]) + float32(a*sin[i])
		}
	}
}

func addPortable(x, y []float32) {
	x = x[:len(y)]
	for i, v := range y {
		x[i] += v
	}
}

func scalePortable(x []float32, r float32) {
	for i := range x {
		x[i] *= r
	}
}

func largestPortable(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		if v > m {
			m = v
		}
	}
	return m
}

// The constants of expPortable, which gen/floats has too. expQ is a polynomial
// q of degree 4 for which 1 + r + r²·q(r) has the least error against e^r on
// |r| ≤ ln 2 / 2, 3.2e-9 of it (fitted for this purpose); ln 2 is the sum of 15
// bits, whose products with the exponents are exact, and a rest.
const (
	expMin = -87.3365 // below, e^x is no normal number: 0
	expMax = 88.72283 // above, e^x is +Inf
	log2e  = 0x1.715476p+0
	ln2Hi  = 0x1.62e4p-1
	ln2Lo  = 0x1.7f7d1cp-20
)

var expQ = [...]float32{0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558aap-5, 0x1.12398cp-7, 0x1.6a5428p-10}

// expPortable returns e^x with an error of at most 1.02 ulp (measured on every x).
func expPortable(x float32) float32 {
	switch {
	case x != x:
		return x
	case x < expMin:
		return 0
	case x > expMax:
		return float32(math.Inf(1))
	}
	n := float32(math.RoundToEven(float64(float32(x * log2e))))
	r := FMA(n, -ln2Hi, x) // exact
	r = FMA(n, -ln2Lo, r)
	q := expQ[4]
	for i := 3; i >= 0; i-- {
		q = FMA(q, r, expQ[i])
	}
	p := FMA(float32(r*r), q, r) + 1
	// Two steps, since 2^128 is no float32; the first one is exact.
	i := int32(n)
	h := i >> 1
	p *= math.Float32frombits(uint32(h+127) << 23)
	return p * math.Float32frombits(uint32(i-h+127)<<23)
}

func softmaxPortable(s []float32) {
	m := float32(math.Inf(-1))
	for _, v := range s {
		if v > m { // a NaN makes the sum, and so every element, NaN
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
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = float32(g/(1+expPortable(-g))) * up[i]
	}
}
