//go:build !unix || aix || solaris || nommap

package simd

import "errors"

// maxHeap bounds what is taken from Go's heap: beyond what a machine has it
// would end the program.
const maxHeap = 1 << 34

func (m *Memory) reserve(count int) error {
	if uint64(count) > maxHeap/4 {
		return errors.New("more than this system is asked for")
	}
	m.floats = make([]float32, count)
	return nil
}

func unmap([]byte) {}
