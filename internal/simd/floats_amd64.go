//go:build !noasm

package simd

import (
	"math"
	"unsafe"

	"github.com/viterin/vek/vek32"
)

//go:generate go -C gen run ./floats -out ../floats_amd64.s -stubs ../floats_stubs_amd64.go -pkg simd

// Products with several rows of activations are computed in blocks: rows of
// weights that stay in the second-level cache, against rows of activations that
// stay in the first-level cache, but at least as many as the widest tile takes.
// Rows so long that those do not stay there are taken in parts, if there are
// more than one tile of them.
const (
	weightsNear = 512 << 10
	actsNear    = 32 << 10
	actsAtLeast = 6
	partCols    = 1024
	partTiles   = 32 // of 4 rows, that go through a part before the next one
)

// What tile is told of the columns it gets, as constants of gen/floats.
const (
	continued = 1
	unended   = 2
)

func matMul(isa ISA, f Float, dst []float32, ldd int, w []byte, rows, cols int, x []float32, ldx, n int) {
	if isa == Portable {
		matMulPortable(f, dst, ldd, w, rows, cols, x, ldx, n)
		return
	}
	if rows <= 0 || n <= 0 {
		return
	}
	size := cols * f.Bytes()
	w = w[:rows*size]
	matrixProduct(isa, f, dst, ldd, unsafe.Pointer(unsafe.SliceData(w)), size, rows, cols, x, ldx, n)
}

func dots(isa ISA, dst []float32, ldd int, w []float32, ldw, rows, cols int, x []float32, ldx, n int) {
	if isa == Portable {
		dotsPortable(dst, ldd, w, ldw, rows, cols, x, ldx, n)
		return
	}
	if rows <= 0 || n <= 0 {
		return
	}
	w = w[:(rows-1)*ldw+cols]
	if isa == AVX512 && rows >= transposedRows && n >= transposedFrom && cols > 0 && cols <= transposedCols && cols%lanes == 0 {
		done := dotsTransposed(dst, ldd, w, ldw, rows, cols, x, ldx, n)
		if rows == done {
			return
		}
		dst, w, rows = dst[done:], w[done*ldw:], rows-done
	}
	matrixProduct(isa, F32, dst, ldd, unsafe.Pointer(unsafe.SliceData(w)), 4*ldw, rows, cols, x, ldx, n)
}

// Short rows are transposed, some at a time, if there are enough rows of
// activations to make that worth while.
const (
	transposedRows = 32
	transposedCols = 128
	transposedFrom = 12
)

// dotsTransposed is dots for a multiple of transposedRows; it returns which.
func dotsTransposed(dst []float32, ldd int, w []float32, ldw, rows, cols int, x []float32, ldx, n int) int {
	rows -= rows % transposedRows
	dst = dst[:(n-1)*ldd+rows]
	x = x[:(n-1)*ldx+cols]
	var t [transposedRows * transposedCols]float32
	for r := 0; r < rows; r += transposedRows {
		transpose32AVX512(&t[0], &w[r*ldw], 4*ldw, cols)
		dotsTransposedAVX512(&dst[r], ldd, &t[0], &x[0], ldx, n, cols)
	}
	return rows
}

// matrixProduct computes dst[j·ldd+r] = dot(row r of w, row j of x). Rows of w
// are stride bytes apart.
func matrixProduct(isa ISA, f Float, dst []float32, ldd int, w unsafe.Pointer, stride, rows, cols int, x []float32, ldx, n int) {
	// The kernels check nothing: these do.
	dst = dst[:(n-1)*ldd+rows]
	x = x[:(n-1)*ldx+cols]
	if isa == AVX2 && cols%lanes != 0 {
		productWithTails(f, dst, ldd, w, stride, rows, cols, x, ldx, n)
		return
	}
	d, a := unsafe.SliceData(dst), unsafe.SliceData(x)
	if n == 1 {
		fours := rows / 4
		matvec(isa, f, 4, d, w, stride, fours, a, cols, ahead(stride))
		if done := 4 * fours; done < rows {
			matvec(isa, f, 1, at(d, done), unsafe.Add(w, done*stride), stride, rows-done, a, cols, ahead(stride))
		}
		return
	}
	if cols >= 2*partCols && n > actsAtLeast {
		productInParts(isa, f, d, ldd, w, stride, rows, cols, a, ldx, n)
	} else {
		block := max(weightsNear/max(stride, 1)&^3, 4)
		acts := max(actsNear/(4*max(cols, 1))/actsAtLeast, 1) * actsAtLeast
		for r := 0; r+4 <= rows; r += block {
			part := rowsApart(stride, min(block, rows-r)/4, n)
			for j := 0; j < n; j += acts {
				tile(isa, f, at(d, j*ldd+r), ldd, unsafe.Add(w, r*stride), part,
					at(a, j*ldx), ldx, min(acts, n-j), cols, 0, nil, nil, nil)
				part.ahead = 0 // the weights are near now
			}
		}
	}
	if done := rows &^ 3; done < rows {
		for j := range n {
			matvec(isa, f, 1, at(d, j*ldd+done), unsafe.Add(w, done*stride), stride, rows-done, at(a, j*ldx), cols, 0)
		}
	}
}

// tileRows are the rows of weights that tile works on, four at once, and where
// their products go: from one four to the next, and within it.
type tileRows struct {
	fours        int
	dnext, dstep int // in float32
	wnext, wstep int // in bytes
	ahead        int // in bytes, see below; 0: not at all
}

// rowsApart returns 4·fours rows that are stride bytes apart. Long rows, and any
// against few rows of activations, are read as four long streams: a four is of
// rows far apart. Else it is of neighbours, whose products are stored together;
// they are prefetched while the four before them is multiplied.
func rowsApart(stride, fours, n int) tileRows {
	const few, long = 32, 4096
	if n < few || stride > long {
		r := tileRows{fours, 1, fours, stride, fours * stride, 0}
		if n < few {
			r.ahead = ahead(stride)
		}
		return r
	}
	return tileRows{fours, 4, 1, 4 * stride, stride, 4 * stride}
}

// ahead returns how far before their use rows that are stride bytes apart are
// prefetched from memory: about half a page, and a whole number of rows, so
// that what lies between short rows is left where it is.
func ahead(stride int) int {
	const enough = 2048
	if stride >= enough {
		return enough
	}
	return (enough + stride - 1) / max(stride, 1) * stride
}

// productInParts is matrixProduct for groups of four long rows. The sums of a
// part wait for the next one in memory.
func productInParts(isa ISA, f Float, dst *float32, ldd int, w unsafe.Pointer, stride, rows, cols int, x *float32, ldx, n int) {
	var state [partTiles * actsAtLeast * 4 * lanes]float32
	parts := cols / partCols
	size := (cols/parts + lanes - 1) &^ (lanes - 1)
	for r := 0; r+4 <= rows; r += 4 * partTiles {
		fours := min(4*partTiles, rows-r) / 4
		for j := 0; j < n; j += actsAtLeast {
			for c := 0; c < cols; c += size {
				part := 0
				if c > 0 {
					part |= continued
				}
				if c+size < cols {
					part |= unended
				}
				tile(isa, f, at(dst, j*ldd+r), ldd, unsafe.Add(w, r*stride+c*f.Bytes()), rowsApart(stride, fours, n),
					at(x, j*ldx+c), ldx, min(actsAtLeast, n-j), min(size, cols-c), part, &state[0], nil, nil)
			}
		}
	}
}

// productWithTails is matrixProduct for AVX2 and rows that are no multiple of
// 16, which no kernel of AVX2 reads beyond their whole steps.
func productWithTails(f Float, dst []float32, ldd int, w unsafe.Pointer, stride, rows, cols int, x []float32, ldx, n int) {
	const acts = 12
	whole := cols &^ (lanes - 1)
	for j0 := 0; j0 < n; j0 += acts {
		m := min(acts, n-j0)
		var xtails [acts][lanes]float32
		for j := range m {
			copy(xtails[j][:], x[(j0+j)*ldx+whole:][:cols-whole])
		}
		for r := 0; r < rows; {
			count, step := 4, 1
			if rows-r < 4 { // the same row four times
				count, step = 1, 0
			}
			var wtails [4][lanes]float32
			for i := range wtails {
				row := unsafe.Slice((*byte)(unsafe.Add(w, (r+i*step)*stride)), cols*f.Bytes())
				decodeRow(f, wtails[i][:cols-whole], row[whole*f.Bytes():])
			}
			tile(AVX2, f, &dst[j0*ldd+r], ldd, unsafe.Add(w, r*stride), tileRows{1, 0, step, 0, step * stride, 0},
				&x[j0*ldx], ldx, m, cols, 0, nil, &wtails[0][0], &xtails[0][0])
			r += count
		}
	}
}

func weightedSum(isa ISA, dst []float32, ldd int, a []float32, lda int, v []float32, ldv, rows, cols, n int) {
	if isa == Portable {
		weightedSumPortable(dst, ldd, a, lda, v, ldv, rows, cols, n)
		return
	}
	if n <= 0 || cols <= 0 {
		return
	}
	dst = dst[:(n-1)*ldd+cols]
	if rows > 0 {
		a, v = a[:(n-1)*lda+rows], v[:(rows-1)*ldv+cols]
	}
	if rest := cols % 8; isa == AVX2 && rest != 0 {
		cols -= rest
		weightedSumPortable(dst[cols:], ldd, a, lda, v[min(cols, len(v)):], ldv, rows, rest, n)
	}
	d, s, p := unsafe.SliceData(dst), unsafe.SliceData(a), unsafe.SliceData(v)
	for j := 0; j < n; {
		d, s := at(d, j*ldd), at(s, j*lda)
		left := n - j
		switch {
		case isa == AVX512 && left >= 4:
			weightedSum4AVX512(d, ldd, s, lda, p, ldv, rows, cols)
			j += 4
		case isa == AVX512 && left == 3:
			weightedSum3AVX512(d, ldd, s, lda, p, ldv, rows, cols)
			j += 3
		case isa == AVX512 && left == 2:
			weightedSum2AVX512(d, ldd, s, lda, p, ldv, rows, cols)
			j += 2
		case isa == AVX512:
			weightedSum1AVX512(d, ldd, s, lda, p, ldv, rows, cols)
			j++
		case left == 3 || left > 4:
			weightedSum3AVX2(d, ldd, s, lda, p, ldv, rows, cols)
			j += 3
		case left >= 2:
			weightedSum2AVX2(d, ldd, s, lda, p, ldv, rows, cols)
			j += 2
		default:
			weightedSum1AVX2(d, ldd, s, lda, p, ldv, rows, cols)
			j++
		}
	}
}

func rmsNorm(isa ISA, dst, x, w []float32, eps float32) {
	n := len(dst)
	x, w = x[:n], w[:n]
	whole := wholeSteps(isa, n)
	if whole == 0 {
		rmsNormPortable(dst, x, w, eps)
		return
	}
	var ss float32
	if whole == n {
		matvec(isa, F32, 1, &ss, unsafe.Pointer(&x[0]), 0, 1, &x[0], n, 0)
	} else {
		ss = dotPortable(x, x)
	}
	r := normScale(ss, n, eps)
	if isa == AVX512 {
		scaleMulAVX512(&dst[0], &x[0], &w[0], r, n)
	} else {
		scaleMulAVX2(&dst[0], &x[0], &w[0], r, whole)
	}
	scaleMulPortable(dst[whole:], x[whole:], w[whole:], r)
}

func rope(isa ISA, x, cos, sin []float32) {
	half := len(cos)
	sin = sin[:half]
	if half == 0 || len(x) < 2*half || wholeSteps(isa, half) < half {
		ropePortable(x, cos, sin)
		return
	}
	if heads := len(x) / (2 * half); isa == AVX512 {
		ropeAVX512(&x[0], &cos[0], &sin[0], half, heads)
	} else {
		ropeAVX2(&x[0], &cos[0], &sin[0], half, heads)
	}
}

func softmax(isa ISA, s []float32) {
	switch {
	case isa == Portable || len(s) == 0:
		softmaxPortable(s)
	case isa == AVX512:
		softmaxAVX512(&s[0], len(s))
	default:
		whole := len(s) &^ (lanes - 1)
		if whole == len(s) {
			softmaxAVX2(&s[0], whole, nil)
			return
		}
		var tail [lanes]float32
		for i := copy(tail[:], s[whole:]); i < lanes; i++ {
			tail[i] = float32(math.Inf(-1)) // e to that adds nothing
		}
		softmaxAVX2(&s[0], whole, &tail[0])
		copy(s[whole:], tail[:])
	}
}

func siluMul(isa ISA, gate, up []float32) {
	up = up[:len(gate)]
	whole := wholeSteps(isa, len(gate))
	switch {
	case whole == 0:
	case isa == AVX512:
		siluMulAVX512(&gate[0], &up[0], whole)
	default:
		siluMulAVX2(&gate[0], &up[0], whole)
	}
	siluMulPortable(gate[whole:], up[whole:])
}

func add(isa ISA, x, y []float32) {
	switch {
	case isa == Portable || len(y) == 0 || &x[0] == &y[0]: // vek takes neither nothing nor the same slice twice
		addPortable(x, y)
	case isa == AVX512:
		addAVX512(&x[0], &y[0], len(y))
	default:
		vek32.Add_Inplace(x, y)
	}
}

func scale(isa ISA, x []float32, r float32) {
	whole := wholeSteps(isa, len(x))
	switch {
	case whole == 0:
	case isa == AVX512:
		scaleAVX512(&x[0], r, whole)
	default:
		scaleAVX2(&x[0], r, whole)
	}
	scalePortable(x[whole:], r)
}

func largest(isa ISA, x []float32) float32 {
	var most [lanes]float32
	for l := range most {
		most[l] = float32(math.Inf(-1))
	}
	whole := wholeSteps(isa, len(x))
	switch {
	case whole == 0:
	case isa == AVX512:
		largestAVX512(&most[0], &x[0], whole)
	default:
		largestAVX2(&most[0], &x[0], whole)
	}
	return max(largestPortable(most[:]), largestPortable(x[whole:]))
}

// wholeSteps returns how many of n elements the kernels on vectors take; the
// portable code does the rest.
func wholeSteps(isa ISA, n int) int {
	switch isa {
	case AVX512:
		return n
	case AVX2:
		return n &^ (lanes - 1)
	}
	return 0
}

// at returns the address i elements after p.
func at(p *float32, i int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), 4*i))
}

// matvec and tile choose a kernel. Plain calls, and not a table of functions,
// so that the compiler sees that no argument escapes.

func matvec(isa ISA, f Float, group int, dst *float32, w unsafe.Pointer, stride, rows int, x *float32, cols, ahead int) {
	b := (*byte)(w)
	switch {
	case isa == AVX512 && f == F32 && group == 4:
		matvec4F32AVX512(dst, b, stride, rows, x, cols, ahead)
	case isa == AVX512 && f == F16 && group == 4:
		matvec4F16AVX512(dst, b, stride, rows, x, cols, ahead)
	case isa == AVX512 && f == BF16 && group == 4:
		matvec4BF16AVX512(dst, b, stride, rows, x, cols, ahead)
	case isa == AVX512 && f == F32:
		matvec1F32AVX512(dst, b, stride, rows, x, cols, ahead)
	case isa == AVX512 && f == F16:
		matvec1F16AVX512(dst, b, stride, rows, x, cols, ahead)
	case isa == AVX512:
		matvec1BF16AVX512(dst, b, stride, rows, x, cols, ahead)
	case f == F32 && group == 4:
		matvec4F32AVX2(dst, b, stride, rows, x, cols, ahead)
	case f == F16 && group == 4:
		matvec4F16AVX2(dst, b, stride, rows, x, cols, ahead)
	case f == BF16 && group == 4:
		matvec4BF16AVX2(dst, b, stride, rows, x, cols, ahead)
	case f == F32:
		matvec1F32AVX2(dst, b, stride, rows, x, cols, ahead)
	case f == F16:
		matvec1F16AVX2(dst, b, stride, rows, x, cols, ahead)
	default:
		matvec1BF16AVX2(dst, b, stride, rows, x, cols, ahead)
	}
}

func tile(isa ISA, f Float, dst *float32, ldd int, w unsafe.Pointer, r tileRows, x *float32, ldx, n, cols, part int, state, wtails, xtails *float32) {
	b := (*byte)(w)
	switch {
	case isa == AVX512 && f == F32:
		tile4F32AVX512(dst, ldd, r.dnext, r.dstep, b, r.wnext, r.wstep, r.fours, x, ldx, n, cols, part, state, r.ahead)
	case isa == AVX512 && f == F16:
		tile4F16AVX512(dst, ldd, r.dnext, r.dstep, b, r.wnext, r.wstep, r.fours, x, ldx, n, cols, part, state, r.ahead)
	case isa == AVX512:
		tile4BF16AVX512(dst, ldd, r.dnext, r.dstep, b, r.wnext, r.wstep, r.fours, x, ldx, n, cols, part, state, r.ahead)
	case f == F32:
		tile4F32AVX2(dst, ldd, r.dnext, r.dstep, b, r.wnext, r.wstep, r.fours, x, ldx, n, cols, part, state, r.ahead, wtails, xtails)
	case f == F16:
		tile4F16AVX2(dst, ldd, r.dnext, r.dstep, b, r.wnext, r.wstep, r.fours, x, ldx, n, cols, part, state, r.ahead, wtails, xtails)
	default:
		tile4BF16AVX2(dst, ldd, r.dnext, r.dstep, b, r.wnext, r.wstep, r.fours, x, ldx, n, cols, part, state, r.ahead, wtails, xtails)
	}
}
