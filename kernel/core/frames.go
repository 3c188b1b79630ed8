//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

func allocFrame() uint64 {
	framesUsed++
	if freeN > 0 {
		freeN--
		return uint64(rd32(freeStk+freeN*4)) << 12
	}
	if frameNext < frameEnd {
		p := frameNext
		frameNext += 4096
		return p
	}
	die("out of memory")
	return 0
}

func allocZero() uint64 {
	p := allocFrame()
	x86.ClearPage(directMap + p)
	return p
}

func allocContig(n uint64) uint64 {
	p := frameNext
	frameNext += n * 4096
	framesUsed += n
	if frameNext > frameEnd {
		die("out of memory (contig)")
	}
	for i := uint64(0); i < n; i++ {
		x86.ClearPage(directMap + p + i*4096)
	}
	return p
}

func freeFrame(p uint64) {
	framesUsed--
	wr32(freeStk+freeN*4, uint32(p>>12))
	freeN++
}

var (
	frameNext, frameEnd uint64 // bump region (physical)
	freeStk             uint64 // direct-map address of a stack of uint32 frame numbers
	freeN               uint64
	framesUsed          uint64
	kernPML4            uint64
	faultAround         uint64 = 16
)
