package quant

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/leveret-os/leveret/internal/blocks"
)

// Encode writes a matrix of rows×cols weights to dst, f.Bytes(rows, cols) long,
// with the scales (and minimums) of the least squared error it finds. The same
// weights give the same bytes.
//
// row sets dst, cols long, to row r; Encode calls it once for each row, from
// several goroutines at once. Encode stops at the first row that fails:
// ErrNonFinite names the row and the index of the weight, ErrOverflow the row
// and the block, ErrRowLength and ErrSize the sizes; an error of row is
// returned as it is.
func Encode(dst []byte, f Format, rows, cols int, row func(r int, dst []float32) error) error {
	if err := f.check(rows, cols, len(dst)); err != nil {
		return err
	}
	tileBytes := f.kind().TileBytes(cols)
	return eachTile(rows, func() func(tile int) (int, error) {
		x := make([]float32, cols)
		return func(t int) (int, error) {
			tile := dst[t*tileBytes : (t+1)*tileBytes]
			clear(tile)
			for lane := range min(TileRows, rows-t*TileRows) {
				r := t*TileRows + lane
				if err := row(r, x); err != nil {
					return r, err
				}
				if err := encodeRow(tile, f.kind(), lane, x); err != nil {
					return r, fmt.Errorf("row %d, %w", r, err)
				}
			}
			return 0, nil
		}
	})
}

// eachTile calls the functions that worker makes, one a goroutine, for each
// tile once, and returns the error of the first row that has one.
func eachTile(rows int, worker func() func(tile int) (row int, err error)) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		wait   sync.WaitGroup
		mu     sync.Mutex
		first  error
		at     int
	)
	tiles := blocks.Tiles(rows)
	for range min(tiles, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			do := worker()
			// Tiles are taken in order, so that none before a failed one is left out.
			for !failed.Load() {
				t := int(next.Add(1)) - 1
				if t >= tiles {
					return
				}
				if row, err := do(t); err != nil {
					failed.Store(true)
					mu.Lock()
					if first == nil || row < at {
						first, at = err, row
					}
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	return first
}

// A block is the parameters and quants of 32 weights; quants are as stored,
// biased by 128 in Q8B32.
type block struct {
	scale, minimum uint16
	quants         [BlockSize]uint8
}

func encodeRow(tile []byte, kind blocks.Kind, lane int, row []float32) error {
	var blk block
	for b := range len(row) / BlockSize {
		x := (*[BlockSize]float32)(row[b*BlockSize:])
		for i, v := range x {
			if v-v != 0 {
				return fmt.Errorf("index %d: %w: %v", b*BlockSize+i, ErrNonFinite, v)
			}
		}
		var ok bool
		switch kind {
		case blocks.Q8B32:
			ok = fitQ8(&blk, x)
		case blocks.Q4B32:
			ok = fitQ4(&blk, x)
		case blocks.Q4B32M:
			ok = fitQ4M(&blk, x)
		}
		if !ok {
			lo, hi := limits(x)
			return fmt.Errorf("weights %d to %d: %w: they lie between %v and %v", b*BlockSize, (b+1)*BlockSize-1, ErrOverflow, lo, hi)
		}
		blk.put(tile, kind, lane, b, len(row))
	}
	return nil
}

// put stores block b of a lane in its tile, whose bytes are zero there.
func (blk *block) put(tile []byte, kind blocks.Kind, lane, b, cols int) {
	binary.LittleEndian.PutUint16(tile[kind.ScaleOffset(lane, b):], blk.scale)
	first, _ := kind.QuantOffset(lane, b*BlockSize, cols)
	quants := tile[first:]
	switch kind {
	case blocks.Q8B32:
		for i, q := range blk.quants {
			quants[16*(i&^3)+i&3] = q
		}
	case blocks.Q4B32M:
		binary.LittleEndian.PutUint16(tile[blocks.MinOffset(lane, b):], blk.minimum)
		fallthrough
	case blocks.Q4B32:
		for i, q := range blk.quants {
			quants[8*(i&^7)+i&3] |= q << (i & 4)
		}
	}
}

// limits returns the least and the greatest weight.
func limits(x *[BlockSize]float32) (lo, hi float32) {
	lo, hi = x[0], x[0]
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi
}

// round returns the integer nearest to v, for |v| < 2²²: adding 1.5·2²³ leaves
// no bits for a fraction.
func round(v float32) int32 {
	const c = 0x1.8p23
	return int32(math.Float32bits(v+c)) - 0x4b400000
}
