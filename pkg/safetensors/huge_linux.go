//go:build !nommap

package safetensors

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. It is a wish: the kernel may be built or set
// not to give them, and a file system may not have them (madvise(2)). For a
// mapped file it also widens the read-ahead to whole huge pages.
func adviseHuge(b []byte) {
	if len(b) >= hugePage {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
