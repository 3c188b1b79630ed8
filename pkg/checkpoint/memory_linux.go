//go:build !nommap

package checkpoint

import "golang.org/x/sys/unix"

// noReserve: what is reserved does not count as used (mmap(2)).
const noReserve = unix.MAP_NORESERVE

// adviseHuge asks for huge pages, which the kernel may or may not give
// (madvise(2)).
func adviseHuge(m memory) {
	if len(m) >= 2<<20 {
		_ = unix.Madvise(m, unix.MADV_HUGEPAGE)
	}
}

// forget drops pages of a mapped file from memory; they are read again where
// they are touched again (madvise(2)).
func forget(m memory) {
	if len(m) > 0 {
		_ = unix.Madvise(m, unix.MADV_DONTNEED)
	}
}
