package image

import (
	"fmt"
	"io"
	"io/fs"
)

// Archive writes an initramfs: a cpio archive of the kind newc (Linux,
// Documentation/driver-api/early-userspace/buffer-format.rst).
type Archive struct {
	w   io.Writer
	off int64
	ino uint32
	err error
}

// NewArchive returns an archive that is written to w.
func NewArchive(w io.Writer) *Archive { return &Archive{w: w} }

func (a *Archive) write(p []byte) {
	if a.err == nil {
		var n int
		n, a.err = a.w.Write(p)
		a.off += int64(n)
	}
}

func (a *Archive) align(n int64) {
	if pad := -a.off & (n - 1); pad > 0 {
		a.write(make([]byte, pad))
	}
}

func (a *Archive) header(name string, mode uint32, size int64, major, minor uint32) {
	a.ino++
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.ino, mode, 0, 0, 1, 0, size, 0, 0, major, minor, len(name)+1, 0, name))
	a.align(4)
}

// Linux's file types in a mode.
const (
	typeDir     = 0o040000
	typeChar    = 0o020000
	typeRegular = 0o100000
)

// Dir adds a folder.
func (a *Archive) Dir(name string, perm fs.FileMode) {
	a.header(name, typeDir|uint32(perm.Perm()), 0, 0, 0)
}

// CharDevice adds a character device.
func (a *Archive) CharDevice(name string, perm fs.FileMode, major, minor uint32) {
	a.header(name, typeChar|uint32(perm.Perm()), 0, major, minor)
}

// File adds a regular file.
func (a *Archive) File(name string, perm fs.FileMode, data []byte) {
	a.header(name, typeRegular|uint32(perm.Perm()), int64(len(data)), 0, 0)
	a.write(data)
	a.align(4)
}

// Close ends the archive and returns the first error of all writes.
func (a *Archive) Close() error {
	a.ino = 0
	a.header("TRAILER!!!", 0, 0, 0, 0)
	a.align(512)
	return a.err
}
