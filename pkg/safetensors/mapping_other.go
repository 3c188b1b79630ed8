//go:build nommap || !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package safetensors

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
)

// This file serves systems without mmap, and the tests of it elsewhere
// (-tags nommap).

// canMap tells whether this system maps files.
const canMap = false

// region is memory of the Go heap.
type region struct{ used []byte }

func mapFile(*os.File, int64) (*region, error) { return nil, ErrNotMapped }

// readRegion reads size bytes from r. Memory grows as it is filled, whatever
// size says.
func readRegion(r io.Reader, size int64, _ bool) (*region, error) {
	if size > math.MaxInt-bytes.MinRead {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	var buf bytes.Buffer
	n, err := io.CopyN(&buf, r, size)
	if err != nil {
		return nil, cutShort(err, n, size)
	}
	return &region{used: buf.Bytes()[:size:size]}, nil
}

func (m *region) close() error { return nil }

func (m *region) pin() (pages int64, err error) { return 0, ErrNotMapped }
