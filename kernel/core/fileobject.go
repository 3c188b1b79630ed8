//go:build amd64

package main

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/object"
)

// fileObject returns the memory object behind a descriptor of t's process, for
// mmap, and what the descriptor is open for. EBADF; ENODEV where it is nothing
// that can be mapped.
func fileObject(c *CPU, t *Thread, fd uint64) (o *object.Object, readable, writable bool, errno unix.Errno) {
	x := t.file(fd)
	switch {
	case x == nil || x.Kind == abi.KindPath:
		return nil, false, false, unix.EBADF
	case x.Kind != abi.KindObject || x.Object == 0:
		return nil, false, false, unix.ENODEV
	}
	return objectAt(x.Object), x.canRead(), x.canWrite(), 0
}
