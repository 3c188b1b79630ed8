package simd

import (
	"errors"
	"fmt"
	"runtime"
)

// ErrMemory means that the system gives no memory of that size.
var ErrMemory = errors.New("simd: no memory")

// maxMemory bounds a request: more than any address space holds.
const maxMemory = 1 << 46

// Memory is float32 values outside Go's heap: zeros that take memory only where
// they are written to, and that go back to the system at once when they are no
// longer needed. Go's own would be cleared, and so touched, each time that it
// is used again, and running out of it would end the program.
type Memory struct {
	bytes   []byte
	floats  []float32
	cleanup runtime.Cleanup
}

// Reserve returns memory for count values. Errors wrap ErrMemory.
func Reserve(count int) (*Memory, error) {
	m := &Memory{}
	if count == 0 {
		return m, nil
	}
	if count < 0 || uint64(count) > maxMemory/4 {
		return nil, fmt.Errorf("%w: %d values of 4 bytes", ErrMemory, count)
	}
	if err := m.reserve(count); err != nil {
		return nil, fmt.Errorf("%w: %d bytes: %w", ErrMemory, 4*uint64(count), err)
	}
	if m.bytes != nil {
		m.cleanup = runtime.AddCleanup(m, unmap, m.bytes)
	}
	return m, nil
}

// Floats returns the values. They must not be used after Free, nor once nothing
// refers to m any more.
func (m *Memory) Floats() []float32 { return m.floats }

// Free gives the memory back. A second call does nothing.
func (m *Memory) Free() {
	if m.bytes != nil {
		m.cleanup.Stop()
		unmap(m.bytes)
	}
	m.bytes, m.floats = nil, nil
}
