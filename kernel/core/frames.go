//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/space"
)

var (
	// memory is the allocator of physical memory.
	memory frames.Allocator
	// mem is what all address spaces share.
	mem space.Memory
)

// initSpaces is called once the allocator has its memory.
func initSpaces() {
	// programs and files leave the kernel and services 1/32 of the memory, 4 to
	// 32 MiB
	memory.SetReserve(min(max(memory.Total()/32, 1024), 8192))
	if !mem.Init(&memory) {
		die("no memory")
	}
	mem.Invalidate = invalidate
	// for measurements: how many pages a fault of anonymous memory maps
	if n, given := cmdlineNumber("faultaround"); given && n <= 16 && n != 0 && n&(n-1) == 0 {
		mem.FaultAround = n
	}
}

// allocPage returns a cleared frame where it can be accessed, or nil.
func allocPage() unsafe.Pointer {
	p := memory.AllocZero()
	if p == 0 {
		return nil
	}
	return phys.Pointer(p)
}

// freePage takes back what allocPage returned.
func freePage(p unsafe.Pointer) { memory.Release(phys.Address(p)) }
