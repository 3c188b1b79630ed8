//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly) || nommap

package checkpoint

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/leveret-os/leveret/pkg/safetensors"
)

// canMap tells whether this system maps files.
const canMap = false

// memory is memory of Go's heap on systems without mmap.
type memory []byte

func mapFile(*os.File, int64) (memory, error) { return nil, safetensors.ErrNotMapped }

func reserve(size int64) (memory, error) {
	if size > math.MaxInt/2 {
		return nil, fmt.Errorf("%w: %d bytes", safetensors.ErrTooLarge, size)
	}
	return make(memory, size), nil
}

// readMemory reads size bytes from r, taking memory as it is filled.
func readMemory(r io.Reader, size int64) (memory, error) {
	var buf bytes.Buffer
	if n, err := io.CopyN(&buf, r, size); err != nil {
		return nil, fmt.Errorf("read %d of %d bytes: %w", n, size, err)
	}
	return buf.Bytes(), nil
}

func (m memory) close() error { return nil }

func (m memory) pin() (pages int64, err error) { return 0, safetensors.ErrNotMapped }

func forget(memory) {}
