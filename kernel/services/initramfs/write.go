package initramfs

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Write writes the files at paths, and all that lies below them, as an archive
// that Entries reads: directories, regular files and symbolic links, each under
// its path without the first slash. What is not there is left out. It returns
// the first error of w, or of a file that cannot be read.
func Write(w io.Writer, ns *vfs.Namespace, c *vfs.Caller, paths ...string) error {
	a := writer{w: w}
	for _, path := range paths {
		var walk vfs.Walk
		e, errno := walk.Lookup(ns, c, nil, []byte(path), 0)
		if errno != 0 {
			continue
		}
		ns.Tree(e, string(ns.Path(nil, e, nil)), func(name string, i *vfs.Inode) bool {
			a.member(name[1:], i)
			return a.err == nil
		})
	}
	a.header(trailer, 0, 0)
	return a.err
}

type writer struct {
	w   io.Writer
	err error
	buf [64 << 10]byte
}

func (a *writer) write(p []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(p)
	}
}

func (a *writer) pad(n int64) { a.write(make([]byte, -n&3)) }

func (a *writer) header(name string, mode uint32, size int64) {
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		0, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, len(name)+1, 0, name))
	a.pad(headerSize + int64(len(name)) + 1)
}

func (a *writer) member(name string, i *vfs.Inode) {
	switch size := i.Size(); {
	case name == "":
	case i.IsDir():
		a.header(name, i.Mode(), 0)
	case i.IsLink():
		a.header(name, i.Mode(), size)
		a.write(i.LinkTarget())
		a.pad(size)
	case i.IsRegular() && i.Data != nil && size < 1<<32:
		a.header(name, i.Mode(), size)
		for off := int64(0); off < size && a.err == nil; {
			n, e := i.Data.ReadAt(a.buf[:min(size-off, int64(len(a.buf)))], off)
			if e != 0 || n == 0 {
				a.err = fmt.Errorf("%s at byte %d of %d: %w", name, off, size, errnoOr(e))
				return
			}
			a.write(a.buf[:n])
			off += int64(n)
		}
		a.pad(size)
	}
}

// errnoOr makes an error of what ended a read too early.
func errnoOr(e vfs.Errno) error {
	if e != 0 {
		return e
	}
	return unix.EIO
}
