//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// memory is the allocator of physical memory.
var memory frames.Allocator

func allocFrame() uint64 {
	p := memory.Alloc(0)
	if p == 0 {
		die("out of memory")
	}
	return p
}

func allocZero() uint64 {
	p := allocFrame()
	x86.ClearPage(directMap + p)
	return p
}

func allocContig(n uint64) uint64 {
	order := uint64(0)
	for 1<<order < n {
		order++
	}
	p := memory.Alloc(order)
	if p == 0 {
		die("out of memory")
	}
	for i := range n {
		x86.ClearPage(directMap + p + i*4096)
	}
	return p
}

func freeFrame(p uint64) { memory.Put(p) }

const kernPML4 = pml4Phys

var faultAround uint64 = 16
