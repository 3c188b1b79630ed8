// Package initramfs reads the archive that a kernel is booted with: cpio in
// the "newc" form (Documentation/driver-api/early-userspace/buffer-format.rst
// of Linux), without compression.
package initramfs

import (
	"errors"
	"fmt"
	"iter"
)

// ErrFormat is wrapped with the offset and what was wrong there.
var ErrFormat = errors.New("initramfs: not a newc archive")

// An Entry is one member. Name and Data are parts of the archive.
type Entry struct {
	Name           []byte
	Ino            uint32
	Mode, UID, GID uint32
	Nlink          uint32
	Mtime          uint32 // s since 1970
	Major, Minor   uint32 // of the device that it lay on
	RMajor, RMinor uint32 // of the device that it is
	Data           []byte
}

const (
	headerSize = 110
	trailer    = "TRAILER!!!"
	maxName    = 4096
)

// Entries lists the members of one or more archives that lie one after the
// other, with zeroes between. It ends after the first error.
func Entries(b []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for at := 0; ; {
			for at < len(b) && b[at] == 0 {
				at++
			}
			if at == len(b) {
				return
			}
			e, next, err := entry(b, at)
			if err != nil {
				yield(e, err)
				return
			}
			at = next
			if string(e.Name) != trailer && !yield(e, nil) {
				return
			}
		}
	}
}

func entry(b []byte, at int) (e Entry, next int, err error) {
	if len(b)-at < headerSize || string(b[at:at+6]) != "070701" && string(b[at:at+6]) != "070702" {
		return e, 0, fmt.Errorf("%w: no header at byte %d", ErrFormat, at)
	}
	var f [13]uint32
	for i := range f {
		v, ok := hex(b[at+6+8*i : at+14+8*i])
		if !ok {
			return e, 0, fmt.Errorf("%w: field %d of the header at byte %d is not hexadecimal", ErrFormat, i, at)
		}
		f[i] = v
	}
	size, nameSize := int64(f[6]), int64(f[11])
	name := int64(at) + headerSize
	data := (name + nameSize + 3) &^ 3
	if nameSize < 1 || nameSize > maxName || data+size > int64(len(b)) {
		return e, 0, fmt.Errorf("%w: member at byte %d: %d bytes of name and %d of data do not fit", ErrFormat, at, nameSize, size)
	}
	e = Entry{Ino: f[0], Mode: f[1], UID: f[2], GID: f[3], Nlink: f[4], Mtime: f[5], Major: f[7], Minor: f[8], RMajor: f[9], RMinor: f[10],
		Name: b[name : name+nameSize-1], Data: b[data : data+size : data+size]}
	return e, int(min((data+size+3)&^3, int64(len(b)))), nil
}

func hex(b []byte) (v uint32, ok bool) {
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint32(c)
	}
	return v, true
}
