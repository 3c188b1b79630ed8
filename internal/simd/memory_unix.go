//go:build unix && !aix && !solaris && !nommap

package simd

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func (m *Memory) reserve(count int) error {
	b, err := unix.Mmap(-1, 0, 4*count, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return err
	}
	m.bytes = b
	m.floats = unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), count) // pages are aligned
	return nil
}

// unmap cannot fail for what reserve mapped.
func unmap(b []byte) { _ = unix.Munmap(b) }
