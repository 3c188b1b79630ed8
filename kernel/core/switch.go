//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/x86"
)

// In switch_amd64.s.

func switchFP(old, new *Thread)
func saveFull(t *Thread)
func loadFull(t *Thread)
func saveRest(t *Thread)
func forwardFP(t, h *Thread)
func replyFP(t *Thread)
func readGS() uint64
func writeGS(v uint64)

// How much vector state there is, known to switch_amd64.s.
var (
	hasAVX    uint8  // 0: FXSAVE only; 1: upper halves of Y0–Y15; 2: more
	xfeatures uint64 // XCR0
	// xsaveSize is what XSAVE writes with xfeatures, in bytes.
	xsaveSize uint64 = 512
	mxcsrMask uint32 = 0xffbf
	// initialState is an XSAVE image of nothing in use, 64-byte aligned.
	initialState unsafe.Pointer
)

// Bits of XCR0 (SDM vol. 1, 13.1).
const (
	xfeatureX87    = 1 << 0
	xfeatureSSE    = 1 << 1
	xfeatureAVX    = 1 << 2
	xfeatureAVX512 = 7 << 5
)

// initVector switches on what vector state the processor has and core can
// keep. It runs on every processor.
func initVector(c *CPU) {
	if initialState == nil {
		p := allocPage()
		if p == nil {
			die("no memory")
		}
		*(*uint16)(p) = 0x37f
		*(*uint32)(unsafe.Add(p, 24)) = 0x1f80
		initialState = p
	}
	_, _, cx, _ := x86.Cpuid(1, 0)
	const xsave = 1 << 26
	if cx&xsave == 0 {
		return
	}
	x86.WriteCR4(x86.ReadCR4() | 1<<18) // OSXSAVE
	ax, _, _, _ := x86.Cpuid(13, 0)
	want := uint64(xfeatureX87 | xfeatureSSE)
	if ax&xfeatureAVX != 0 {
		want |= xfeatureAVX
	}
	if ax&xfeatureAVX512 == xfeatureAVX512 {
		want |= xfeatureAVX512
	}
	x86.Xsetbv(want)
	xfeatures = want
	_, bx, _, _ := x86.Cpuid(13, 0)
	xsaveSize = uint64(bx)
	switch {
	case want&xfeatureAVX512 != 0 || want&xfeatureAVX == 0:
		hasAVX = 2
	default:
		hasAVX = 1
	}
	if xsaveSize > xsaveMax {
		die("the processor's vector state does not fit a thread")
	}
}
