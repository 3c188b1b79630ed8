//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// fault resolves a page fault; false = bad access.
func (as *AddressSpace) fault(c *CPU, a, err uint64) bool {
	v := as.find(a)
	if v == nil || v.prot == 0 {
		return false
	}
	if err&2 != 0 && v.prot&protW == 0 || err&16 != 0 && v.prot&protX == 0 {
		return false
	}
	a &^= 4095
	fl := pteFlags(a, v.prot)
	e := pteFor(as.pml4, a)
	old := rd64(e)
	if old&pP != 0 {
		wr64(e, old&pPA|fl)
		x86.Invlpg(a)
		return true
	}
	if v.src != 0 {
		off := a - v.start
		p := allocFrame()
		n := uint64(0)
		if off < v.srcLen {
			n = v.srcLen - off
			if n > 4096 {
				n = 4096
			}
		}
		if n < 4096 {
			x86.ClearPage(directMap + p)
		}
		x86.CopyForward(directMap+p, v.src+off, n)
		wr64(e, p|fl)
		return true
	}
	// anonymous: map up to faultAround pages of the aligned block inside
	// the VMA, stopping at a page table boundary.
	n := faultAround
	end := a + n*4096
	if end > v.end {
		end = v.end
	}
	if t := (a + 1<<21) &^ (1<<21 - 1); end > t {
		end = t
	}
	for ; a < end; a += 4096 {
		if rd64(e)&pP == 0 {
			p := allocFrame()
			x86.ClearPage(directMap + p)
			wr64(e, p|fl)
		} else {
			break
		}
		e += 8
	}
	return true
}
