package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// ErrArchive says that something cannot be put into an initramfs.
var ErrArchive = errors.New("image: not for an initramfs")

// Archive writes an initramfs: cpio archives of the kind newc, one after the
// other with zeros between (Linux,
// Documentation/driver-api/early-userspace/buffer-format.rst).
//
// A file of a page or more begins an archive of its own, at a place where its
// data come to lie on a page boundary, one of 8 MiB or more on a boundary of
// 2 MiB, of the initramfs and, by its size, of physical memory: so that a kernel
// can map the file where it is. Smaller ones are not worth the padding, which
// is memory that the machine loses.
type Archive struct {
	w      io.Writer
	off    int64
	ino    uint32
	opened bool // an archive has members and no end yet
	huge   bool // a file lies on a boundary of 2 MiB
	err    error
}

// NewArchive returns an initramfs that is written to w.
func NewArchive(w io.Writer) *Archive { return &Archive{w: w} }

// Linux's file types in a mode.
const (
	typeDir     = 0o040000
	typeChar    = 0o020000
	typeRegular = 0o100000
	typeSymlink = 0o120000

	headerLen = 110
	hugePage  = 2 << 20
	hugeFile  = 8 << 20
)

// Dir adds a folder; folders come before what is in them.
func (a *Archive) Dir(name string, perm fs.FileMode) {
	a.header(name, typeDir|uint32(perm.Perm()), 0, 0, 0)
}

// CharDevice adds a character device.
func (a *Archive) CharDevice(name string, perm fs.FileMode, major, minor uint32) {
	a.header(name, typeChar|uint32(perm.Perm()), 0, major, minor)
}

// Symlink adds a symbolic link to target.
func (a *Archive) Symlink(name, target string) {
	a.header(name, typeSymlink|0o777, int64(len(target)), 0, 0)
	a.write([]byte(target))
	a.align(4)
}

// File adds a regular file of size bytes, which it reads from r.
func (a *Archive) File(name string, perm fs.FileMode, size int64, r io.Reader) error {
	if size < 0 || size > 1<<32-1 {
		return a.fail(fmt.Errorf("%w: %s of %d bytes, at most 4 GiB fit", ErrArchive, name, size))
	}
	switch {
	case size >= hugeFile:
		a.restart(name, hugePage)
		a.huge = true
	case size >= pageSize:
		a.restart(name, pageSize)
	}
	a.header(name, typeRegular|uint32(perm.Perm()), size, 0, 0)
	if a.err == nil {
		n, err := io.CopyN(a.w, r, size)
		a.off += n
		if err != nil {
			return a.fail(fmt.Errorf("image: %s after %d of %d bytes: %w", name, n, size, err))
		}
	}
	a.align(4)
	return a.err
}

// restart ends the archive and begins another where the data of the file name
// will lie on a multiple of boundary.
func (a *Archive) restart(name string, boundary int64) {
	header := (headerLen + int64(len(name)) + 1 + 3) &^ 3
	if (a.off+header)%boundary == 0 {
		return
	}
	a.end()
	a.zeros(-(a.off + header) & (boundary - 1))
}

// end ends the archive, when there is one.
func (a *Archive) end() {
	if a.opened {
		ino := a.ino
		a.ino = ^uint32(0)
		a.header("TRAILER!!!", 0, 0, 0, 0)
		a.ino, a.opened = ino, false
	}
}

// Placement is how an emulator places an initramfs: with its first byte on a
// page boundary, and its end so many bytes below a multiple of 2 MiB, the
// memory's end.
type Placement int64

// Of QEMU, by machine. The PC keeps room for ACPI tables.
const (
	Q35     Placement = 0x28000
	MicroVM Placement = 0
)

// Close ends the initramfs, and returns the first error of all. Where a file lies
// on a boundary of 2 MiB the size is one that brings the first byte to such a
// boundary too.
func (a *Archive) Close(p Placement) error {
	a.opened = true
	a.end()
	if !a.huge {
		return a.err
	}
	// QEMU: (end - below - 1 - size) &^ 4095.
	a.zeros(-(a.off + int64(p) + pageSize) & (hugePage - 1))
	return a.err
}

func (a *Archive) header(name string, mode uint32, size int64, major, minor uint32) {
	if name == "" || len(name) >= 4096 || strings.ContainsRune(name, 0) || strings.HasPrefix(name, "/") {
		a.fail(fmt.Errorf("%w: the name %q", ErrArchive, name))
	}
	a.ino++
	a.opened = true
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.ino, mode, 0, 0, 1, 0, size, 0, 0, major, minor, len(name)+1, 0, name))
	a.align(4)
}

func (a *Archive) fail(err error) error {
	if a.err == nil {
		a.err = err
	}
	return a.err
}

func (a *Archive) write(p []byte) {
	if a.err == nil {
		n, err := a.w.Write(p)
		a.off += int64(n)
		if err != nil {
			a.fail(err)
		}
	}
}

func (a *Archive) align(n int64) { a.zeros(-a.off & (n - 1)) }

var zeros [64 << 10]byte

func (a *Archive) zeros(n int64) {
	for n > 0 && a.err == nil {
		k := min(n, int64(len(zeros)))
		a.write(zeros[:k])
		n -= k
	}
}
