//go:build amd64

package main

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/object"
)

// fileObject returns the memory object behind a descriptor of t's process, for
// mmap, and what the descriptor is open for. EBADF; ENODEV where it is nothing
// that can be mapped.
func fileObject(c *CPU, t *Thread, fd uint64) (o *object.Object, readable, writable bool, errno unix.Errno) {
	return nil, false, false, unix.EBADF
}
