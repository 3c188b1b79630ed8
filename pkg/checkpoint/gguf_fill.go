package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/pkg/quant"
)

// fill sets dst to the tensor, in its new type and order of rows.
func (e *ggufEntry) fill(dst []byte) error {
	rows, cols := rowsCols(e.shape)
	if e.heads > 0 && len(e.shape) == 1 {
		rows, cols = cols, 1 // a bias is permuted by elements
	}
	var err error
	switch {
	case e.to.Blocks():
		err = e.repack(dst, rows, cols)
	case e.to.size() == e.from.BlockBytes() && e.from.BlockSize() == 1:
		e.copyRows(dst, rows, cols)
	default:
		err = e.dequantise(dst, rows, cols)
	}
	if err != nil {
		return fmt.Errorf("checkpoint: tensor %q (GGUF tensor %q): %w", e.hf, e.gguf, err)
	}
	return nil
}

// sourceRow returns the row of the file that is row r of the tensor. In a
// head of n rows llama.cpp's converter puts pair i of Hugging Face's rotary
// embedding, rows i and n/2+i, at 2i and 2i+1.
func (e *ggufEntry) sourceRow(r, rows int) int {
	if e.heads == 0 {
		return r
	}
	n := rows / e.heads
	head, r := r/n*n, r%n
	return head + 2*(r%(n/2)) + r/(n/2)
}

// copyRows copies rows whose type does not change.
func (e *ggufEntry) copyRows(dst []byte, rows, cols int) {
	size := cols * e.to.size()
	_ = inParallel(rows, size, func(lo, hi int) error {
		for r := lo; r < hi; r++ {
			copy(dst[r*size:(r+1)*size], e.raw[e.sourceRow(r, rows)*size:])
		}
		return nil // copying cannot fail
	})
}

// dequantise turns rows of blocks into float32.
func (e *ggufEntry) dequantise(dst []byte, rows, cols int) error {
	if cols%e.from.BlockSize() != 0 {
		return fmt.Errorf("%w: rows of %d in blocks of %d", ErrUnsupported, cols, e.from.BlockSize())
	}
	size := cols / e.from.BlockSize() * e.from.BlockBytes()
	return inParallel(rows, 4*cols, func(lo, hi int) error {
		row := make([]float32, cols)
		for r := lo; r < hi; r++ {
			if err := ggml.Dequantize(e.from, row, e.raw[e.sourceRow(r, rows)*size:][:size]); err != nil {
				return err
			}
			putFloat32s(dst[4*r*cols:], row)
		}
		return nil
	})
}

func putFloat32s(dst []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
	}
}

// inParallel calls f for ranges that make up 0 to n, on as many processors as
// there are where the whole takes long: an element takes size bytes.
func inParallel(n, size int, f func(lo, hi int) error) error {
	const worth = 1 << 20 // bytes for which a second goroutine pays
	parts := min(n, runtime.GOMAXPROCS(0), n*size/worth)
	if parts <= 1 {
		return f(0, n)
	}
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { errs[i] = f(i*n/parts, (i+1)*n/parts) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// repackedType returns the block format that holds the same numbers as a GGUF
// type, Keep for none.
func repackedType(t ggml.Type) Type {
	switch t {
	case ggml.Q8_0:
		return Q8B32
	case ggml.Q4_0:
		return Q4B32
	case ggml.Q4_1:
		return Q4B32M
	}
	return Keep
}

// repack turns blocks of the file into the block format of the same numbers.
func (e *ggufEntry) repack(dst []byte, rows, cols int) error {
	order := func(r int) int { return e.sourceRow(r, rows) }
	switch e.from {
	case ggml.Q8_0:
		return quant.FromQ8_0(dst, rows, cols, e.raw, order)
	case ggml.Q4_0:
		return quant.FromQ4_0(dst, rows, cols, e.raw, order)
	default:
		return quant.FromQ4_1(dst, rows, cols, e.raw, order)
	}
}
