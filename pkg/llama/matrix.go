package llama

import (
	"fmt"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/internal/simd"
	"github.com/leveret-os/leveret/pkg/checkpoint"
	"github.com/leveret-os/leveret/pkg/quant"
)

// A matrix is a weight matrix as it is stored: rows×cols, where cols is the
// dimension that a product sums over. It is used in place.
type matrix struct {
	rows, cols int
	data       []byte
	float      simd.Float  // the format, if block is 0
	block      blocks.Kind // the block format, or 0
	format     quant.Format
}

// newMatrix returns the tensor as a matrix of the expected shape.
func newMatrix(t checkpoint.Tensor, rows, cols int) (matrix, error) {
	if err := checkShape(t, rows, cols); err != nil {
		return matrix{}, err
	}
	m := matrix{rows: rows, cols: cols, data: t.Data}
	switch t.Type {
	case checkpoint.F32:
		m.float = simd.F32
	case checkpoint.F16:
		m.float = simd.F16
	case checkpoint.BF16:
		m.float = simd.BF16
	case checkpoint.Q8B32:
		m.block, m.format = blocks.Q8B32, quant.Q8B32
	case checkpoint.Q4B32:
		m.block, m.format = blocks.Q4B32, quant.Q4B32
	case checkpoint.Q4B32M:
		m.block, m.format = blocks.Q4B32M, quant.Q4B32M
	default:
		return matrix{}, fmt.Errorf("%w: %s has type %v, which the forward pass does not multiply by", ErrWeights, t.Name, t.Type)
	}
	want := rows * cols * m.float.Bytes()
	if m.block != 0 {
		want = m.block.MatrixBytes(rows, cols)
	}
	if len(t.Data) != want {
		return matrix{}, fmt.Errorf("%w: %s holds %d bytes, expected %d", ErrWeights, t.Name, len(t.Data), want)
	}
	return m, nil
}

func checkShape(t checkpoint.Tensor, want ...int) error {
	same := len(t.Shape) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = t.Shape[i] == want[i]
	}
	if !same {
		return fmt.Errorf("%w: %s has shape %v, expected %v by config.json", ErrWeights, t.Name, t.Shape, want)
	}
	return nil
}

// newVector returns a tensor of n elements as float32, which is exact for
// every float format.
func newVector(t checkpoint.Tensor, n int) ([]float32, error) {
	if err := checkShape(t, n); err != nil {
		return nil, err
	}
	m, err := newMatrix(checkpoint.Tensor{Name: t.Name, Type: t.Type, Shape: []int{1, n}, Data: t.Data}, 1, n)
	if err != nil {
		return nil, err
	}
	v := make([]float32, n)
	m.row(v, 0)
	return v, nil
}

// row decodes row r into dst, which is cols long.
func (m *matrix) row(dst []float32, r int) {
	if m.block != 0 {
		quant.Decode(dst, m.format, m.data, m.rows, m.cols, r)
		return
	}
	size := m.cols * m.float.Bytes()
	simd.Decode(m.float, dst, m.data[r*size:(r+1)*size])
}

// multiply computes dst[j·rows+r] = dot(row r, row j of the activations) for
// the rows of tiles [first, end), each of blocks.TileRows rows. The n rows of
// activations are x, and acts where the matrix is in a block format.
func (m *matrix) multiply(k simd.Kernels, dst []float32, first, end int, x []float32, n int, acts *simd.Acts) {
	m.multiplyTo(k, dst[first*blocks.TileRows:], m.rows, first, end, x, n, acts)
}

// multiplyTo is multiply with the results of row j from dst[j·ldd] on.
func (m *matrix) multiplyTo(k simd.Kernels, dst []float32, ldd, first, end int, x []float32, n int, acts *simd.Acts) {
	r0 := first * blocks.TileRows
	r1 := min(end*blocks.TileRows, m.rows)
	if m.block != 0 {
		k.MatMulBlocks(m.block, dst, ldd, m.data[first*m.block.TileBytes(m.cols):], r1-r0, acts)
		return
	}
	size := m.cols * m.float.Bytes()
	k.MatMul(m.float, dst, ldd, m.data[r0*size:r1*size], r1-r0, m.cols, x, m.cols, n)
}

// tiles returns the number of pieces that a product can be split in.
func (m *matrix) tiles() int { return blocks.Tiles(m.rows) }
