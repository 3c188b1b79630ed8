//go:build !noasm

package simd

import "unsafe"

//go:generate go -C gen run ./floats -out ../floats_amd64.s -stubs ../floats_stubs_amd64.go -pkg simd

// Products are computed in blocks: rows of weights that stay in the
// second-level cache, against few enough rows of activations that those stay in
// the first-level cache, or in the second for long rows.
const (
	weightsInCache = 512 << 10
	actsAtOnce     = 12
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
	p := unsafe.Pointer(unsafe.SliceData(w))
	if isa == AVX2 && f != F32 && cols%lanes != 0 {
		matMulTails(f, dst, ldd, w, rows, cols, x, ldx, n)
		return
	}
	matrixProduct(isa, f, dst, ldd, p, size, rows, cols, x, ldx, n)
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
	matrixProduct(isa, F32, dst, ldd, unsafe.Pointer(unsafe.SliceData(w)), 4*ldw, rows, cols, x, ldx, n)
}

// matrixProduct computes dst[j·ldd+r] = dot(row r of w, row j of x). Rows of w are
// stride bytes apart.
func matrixProduct(isa ISA, f Float, dst []float32, ldd int, w unsafe.Pointer, stride, rows, cols int, x []float32, ldx, n int) {
	// The kernels check nothing: these do.
	dst = dst[:(n-1)*ldd+rows]
	x = x[:(n-1)*ldx+cols]
	d, a := unsafe.SliceData(dst), unsafe.SliceData(x)
	if n == 1 {
		fours := rows / 4
		matvec(isa, f, 4, d, w, stride, fours, a, cols)
		if done := 4 * fours; done < rows {
			matvec(isa, f, 1, at(d, done), unsafe.Add(w, done*stride), stride, rows-done, a, cols)
		}
		return
	}
	block := max(weightsInCache/max(stride, 1)&^3, 4)
	for r0 := 0; r0 < rows; r0 += block {
		fours := min(block, rows-r0) / 4
		for j := 0; j < n; j += actsAtOnce {
			for r := r0; r < r0+fours; r++ {
				tile(isa, f, at(d, j*ldd+r), ldd, fours, unsafe.Add(w, r*stride), fours*stride,
					at(a, j*ldx), ldx, min(actsAtOnce, n-j), cols)
			}
		}
	}
	if done := rows &^ 3; done < rows {
		for j := range n {
			matvec(isa, f, 1, at(d, j*ldd+done), unsafe.Add(w, done*stride), stride, rows-done, at(a, j*ldx), cols)
		}
	}
}

// matMulTails is matMul for 16-bit weights in rows that are no multiple of 16,
// with AVX2, which cannot load a part of such a step.
func matMulTails(f Float, dst []float32, ldd int, w []byte, rows, cols int, x []float32, ldx, n int) {
	dst = dst[:(n-1)*ldd+rows]
	x = x[:(n-1)*ldx+cols]
	size := cols * f.Bytes()
	whole := cols &^ (lanes - 1)
	for r := 0; r < rows; {
		count, step := 4, 1
		if rows-r < 4 { // the same row four times
			count, step = 1, 0
		}
		var tails [4][lanes]float32
		for i := range tails {
			decodeRow(f, tails[i][:cols-whole], w[(r+i*step)*size+whole*f.Bytes():])
		}
		if f == F16 {
			tile4F16AVX2(&dst[r], ldd, step, &w[r*size], step*size, &x[0], ldx, n, cols, &tails[0][0])
		} else {
			tile4BF16AVX2(&dst[r], ldd, step, &w[r*size], step*size, &x[0], ldx, n, cols, &tails[0][0])
		}
		r += count
	}
}

// at returns the address i elements after p.
func at(p *float32, i int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), 4*i))
}

// matvec and tile choose a kernel. Plain calls, and not a table of functions,
// so that the compiler sees that no argument escapes.

func matvec(isa ISA, f Float, group int, dst *float32, w unsafe.Pointer, stride, rows int, x *float32, cols int) {
	b := (*byte)(w)
	switch {
	case isa == AVX512 && f == F32 && group == 4:
		matvec4F32AVX512(dst, b, stride, rows, x, cols)
	case isa == AVX512 && f == F16 && group == 4:
		matvec4F16AVX512(dst, b, stride, rows, x, cols)
	case isa == AVX512 && f == BF16 && group == 4:
		matvec4BF16AVX512(dst, b, stride, rows, x, cols)
	case isa == AVX512 && f == F32:
		matvec1F32AVX512(dst, b, stride, rows, x, cols)
	case isa == AVX512 && f == F16:
		matvec1F16AVX512(dst, b, stride, rows, x, cols)
	case isa == AVX512:
		matvec1BF16AVX512(dst, b, stride, rows, x, cols)
	case f == F32 && group == 4:
		matvec4F32AVX2(dst, b, stride, rows, x, cols)
	case f == F16 && group == 4:
		matvec4F16AVX2(dst, b, stride, rows, x, cols)
	case f == BF16 && group == 4:
		matvec4BF16AVX2(dst, b, stride, rows, x, cols)
	case f == F32:
		matvec1F32AVX2(dst, b, stride, rows, x, cols)
	case f == F16:
		matvec1F16AVX2(dst, b, stride, rows, x, cols)
	default:
		matvec1BF16AVX2(dst, b, stride, rows, x, cols)
	}
}

func tile(isa ISA, f Float, dst *float32, ldd, dstep int, w unsafe.Pointer, wstep int, x *float32, ldx, n, cols int) {
	b := (*byte)(w)
	switch {
	case isa == AVX512 && f == F32:
		tile4F32AVX512(dst, ldd, dstep, b, wstep, x, ldx, n, cols)
	case isa == AVX512 && f == F16:
		tile4F16AVX512(dst, ldd, dstep, b, wstep, x, ldx, n, cols)
	case isa == AVX512:
		tile4BF16AVX512(dst, ldd, dstep, b, wstep, x, ldx, n, cols)
	case f == F32:
		tile4F32AVX2(dst, ldd, dstep, b, wstep, x, ldx, n, cols)
	case f == F16: // rows of whole steps
		tile4F16AVX2(dst, ldd, dstep, b, wstep, x, ldx, n, cols, nil)
	default:
		tile4BF16AVX2(dst, ldd, dstep, b, wstep, x, ldx, n, cols, nil)
	}
}
