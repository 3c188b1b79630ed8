// Package usermem is how services read and write the memory of the program
// that made a call. Nothing else touches it: an address that a user gave is a
// number, and only a Memory turns it into bytes.
package usermem

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Errno is 0 for success, or why a call failed.
type Errno = unix.Errno

// A Memory copies from and to the address space of the calling program. Both
// methods return how many bytes they copied; fewer than asked means that the
// next page is not there, or not open for the access.
type Memory interface {
	In(dst []byte, addr uint64) int
	Out(addr uint64, src []byte) int
}

// Limits of x86_64 Linux.
const (
	// Top is the first address that no user can map.
	Top = 0x7ffffffff000
	// PathMax is the longest path with its final NUL, in bytes.
	PathMax = 4096
	// MaxTransfer is the most bytes that one call moves: MAX_RW_COUNT.
	MaxTransfer = 0x7ffff000
	// MaxVectors is the most parts of a vector: UIO_MAXIOV.
	MaxVectors = 1024
)

// Valid reports whether n bytes at addr lie where users may map.
func Valid(addr, n uint64) bool { return n <= Top && addr <= Top-n }

// In copies exactly len(dst) bytes: EFAULT when it cannot.
func In(m Memory, dst []byte, addr uint64) Errno {
	if m.In(dst, addr) != len(dst) {
		return unix.EFAULT
	}
	return 0
}

// Out copies exactly len(src) bytes: EFAULT when it cannot.
func Out(m Memory, addr uint64, src []byte) Errno {
	if m.Out(addr, src) != len(src) {
		return unix.EFAULT
	}
	return 0
}

// String reads a string with a final NUL into buf and returns it without.
// EFAULT; long when no NUL is in len(buf) bytes.
func String(m Memory, buf []byte, addr uint64, long Errno) ([]byte, Errno) {
	n := 0
	for n < len(buf) {
		// To the end of a line of memory, so that a string in the last bytes
		// of a mapping can be read.
		step := min(64-int((addr+uint64(n))&63), len(buf)-n)
		got := m.In(buf[n:n+step], addr+uint64(n))
		if i := bytes.IndexByte(buf[n:n+got], 0); i >= 0 {
			return buf[:n+i], 0
		}
		if got < step {
			return nil, unix.EFAULT
		}
		n += step
	}
	return nil, long
}

// Uint64 reads a word.
func Uint64(m Memory, buf []byte, addr uint64) (uint64, Errno) {
	if e := In(m, buf[:8], addr); e != 0 {
		return 0, e
	}
	return binary.LittleEndian.Uint64(buf), 0
}

// PutUint64 writes a word, by way of buf.
func PutUint64(m Memory, buf []byte, addr, v uint64) Errno {
	binary.LittleEndian.PutUint64(buf[:8], v)
	return Out(m, addr, buf[:8])
}

// PutUint32 writes half a word, by way of buf.
func PutUint32(m Memory, buf []byte, addr uint64, v uint32) Errno {
	binary.LittleEndian.PutUint32(buf[:4], v)
	return Out(m, addr, buf[:4])
}

// Own is a buffer of services themselves in the place of user memory, for
// what moves bytes from one file to another; addresses count from its begin.
type Own struct{ B []byte }

// In implements Memory.
func (o *Own) In(dst []byte, addr uint64) int { return copy(dst, o.B[min(addr, uint64(len(o.B))):]) }

// Out implements Memory.
func (o *Own) Out(addr uint64, src []byte) int { return copy(o.B[min(addr, uint64(len(o.B))):], src) }
