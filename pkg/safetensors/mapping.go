//go:build !nommap && (linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package safetensors

import (
	"fmt"
	"io"
	"math"
	"os"
	"reflect"

	"golang.org/x/sys/unix"
)

// canMap tells whether this system maps files.
const canMap = true

// hugePage is the size and the alignment of a huge page in bytes, as on amd64
// and on arm64 with pages of 4 KiB.
const hugePage = 2 << 20

// region is memory that this package mapped.
type region struct {
	mapped []byte // as unix.Munmap needs it
	used   []byte // the part that holds the file or its data, page-aligned
}

// address returns where b lies.
func address(b []byte) uintptr { return reflect.ValueOf(b).Pointer() }

// mapFile maps the first size bytes of file read-only. The mapping is private:
// that works on file systems that refuse shared ones, and a read-only mapping
// shares its pages with the page cache either way (mmap(2)).
func mapFile(file *os.File, size int64) (*region, error) {
	if size > math.MaxInt {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var mapped []byte
	var mapErr error
	err = conn.Control(func(fd uintptr) {
		mapped, mapErr = unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	})
	if err == nil {
		err = mapErr
	}
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes (Options.Memory Private reads the file instead): %w", size, err)
	}
	adviseHuge(mapped)
	return &region{mapped: mapped, used: mapped}, nil
}

// readRegion reads size bytes from r into anonymous memory, which is made
// read-only. Memory is taken as it is filled, whatever size says.
func readRegion(r io.Reader, size int64, huge bool) (*region, error) {
	if size > math.MaxInt-hugePage {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	length := int(size)
	if huge {
		length += hugePage
	}
	mapped, err := unix.Mmap(-1, 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of anonymous memory: %w", length, err)
	}
	m := &region{mapped: mapped, used: mapped[:size:size]}
	if huge {
		start := int(-address(mapped) & (hugePage - 1))
		m.used = mapped[start : start+int(size) : start+int(size)]
		adviseHuge(mapped[start:])
	}
	if err := m.fill(r); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// fill reads the data in steps and ends writing.
func (m *region) fill(r io.Reader) error {
	const step = 8 << 20
	for at := 0; at < len(m.used); {
		n, err := io.ReadFull(r, m.used[at:min(at+step, len(m.used))])
		at += n
		if err != nil {
			return cutShort(err, int64(at), int64(len(m.used)))
		}
	}
	if err := unix.Mprotect(m.mapped, unix.PROT_READ); err != nil {
		return fmt.Errorf("mprotect: %w", err)
	}
	return nil
}

func (m *region) close() error {
	if err := unix.Munmap(m.mapped); err != nil {
		return fmt.Errorf("munmap: %w", err)
	}
	return nil
}

// pin locks the used part in memory and returns its size in pages. Where that
// fails, nothing stays locked.
func (m *region) pin() (pages int64, err error) {
	if err := unix.Mlock(m.used); err != nil {
		_ = unix.Munlock(m.used) // a failing mlock may leave a part locked
		switch err {
		case unix.ENOMEM, unix.EPERM, unix.EAGAIN:
			return 0, fmt.Errorf("%w: mlock of %d bytes: %w%s", ErrPinLimit, len(m.used), err, lockLimit())
		}
		return 0, fmt.Errorf("mlock of %d bytes: %w", len(m.used), err)
	}
	page := os.Getpagesize()
	return int64((len(m.used) + page - 1) / page), nil
}

// lockLimit returns the limit on locked memory for an error message.
func lockLimit() string {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil || limit.Cur > math.MaxInt64 {
		return ""
	}
	return fmt.Sprintf(" (RLIMIT_MEMLOCK is %d bytes)", limit.Cur)
}
