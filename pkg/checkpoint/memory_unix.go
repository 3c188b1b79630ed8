//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !nommap

package checkpoint

import (
	"fmt"
	"io"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/pkg/safetensors"
)

// canMap tells whether this system maps files.
const canMap = true

// memory is memory outside Go's heap: a mapped file, or anonymous memory.
type memory []byte

// mapFile maps a file read-only. The mapping is private: that works on file
// systems that refuse shared ones, and shares its pages with the page cache
// all the same (mmap(2)).
func mapFile(file *os.File, size int64) (memory, error) {
	if size > math.MaxInt {
		return nil, fmt.Errorf("%w: %d bytes", safetensors.ErrTooLarge, size)
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var m memory
	var mapErr error
	err = conn.Control(func(fd uintptr) {
		m, mapErr = unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	})
	if err == nil {
		err = mapErr
	}
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, err)
	}
	adviseHuge(m)
	return m, nil
}

// reserve returns size bytes of zeros, which take memory only where they are
// written to.
func reserve(size int64) (memory, error) {
	if size > math.MaxInt {
		return nil, fmt.Errorf("%w: %d bytes", safetensors.ErrTooLarge, size)
	}
	m, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of anonymous memory: %w", size, err)
	}
	adviseHuge(m)
	return m, nil
}

// readMemory reads size bytes from r.
func readMemory(r io.Reader, size int64) (memory, error) {
	m, err := reserve(size)
	if err != nil {
		return nil, err
	}
	if n, err := io.ReadFull(r, m); err != nil {
		_ = m.close()
		return nil, fmt.Errorf("read %d of %d bytes: %w", n, size, err)
	}
	return m, nil
}

func (m memory) close() error {
	if m == nil {
		return nil
	}
	if err := unix.Munmap(m); err != nil {
		return fmt.Errorf("munmap: %w", err)
	}
	return nil
}

// pin locks the memory and returns its size in pages. Where that fails, none
// of it is locked.
func (m memory) pin() (pages int64, err error) {
	if err := unix.Mlock(m); err != nil {
		_ = unix.Munlock(m) // a failing mlock may leave a part locked
		switch err {
		case unix.ENOMEM, unix.EPERM, unix.EAGAIN:
			return 0, fmt.Errorf("%w: mlock of %d bytes: %w", safetensors.ErrPinLimit, len(m), err)
		}
		return 0, fmt.Errorf("mlock of %d bytes: %w", len(m), err)
	}
	page := os.Getpagesize()
	return int64((len(m) + page - 1) / page), nil
}
