//go:build amd64

package ring0

import "unsafe"

// SetupSkeleton is Setup for the first core, which numbers its calls
// otherwise. It goes with it.
func SetupSkeleton() {
	lo, hi, pad := ucopyRange()
	Hyper(0x1001, uint64(lo), uint64(hi), uint64(pad))
	entry, _ := Hyper(0x1006)
	receiveEntry = uint64(entry)
}

// SkeletonInitramfs is where the archive lies.
func SkeletonInitramfs() (at, size uint64) {
	var r [2]uint64
	Hyper(0x1002, uint64(uintptr(unsafe.Pointer(&r))))
	return r[0], r[1]
}
