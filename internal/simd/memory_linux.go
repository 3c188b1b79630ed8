//go:build !nommap

package simd

import "golang.org/x/sys/unix"

// noReserve: what is reserved does not count as used (mmap(2)).
const noReserve = unix.MAP_NORESERVE
