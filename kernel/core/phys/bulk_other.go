//go:build !amd64

package phys

import "unsafe"

func zero(p unsafe.Pointer, n uintptr) {
	for ; n > 0; n -= 8 {
		*(*uint64)(p) = 0
		p = unsafe.Add(p, 8)
	}
}

func move(dst, src unsafe.Pointer, n uintptr) {
	for ; n > 0; n-- {
		*(*byte)(dst) = *(*byte)(src)
		dst, src = unsafe.Add(dst, 1), unsafe.Add(src, 1)
	}
}
