//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/x86"
)

type VMA struct {
	start, end uint64
	prot       uint64
	src        uint64 // directMap address of file bytes for start, 0 = anonymous
	srcLen     uint64
}

const maxVMA = 1600

type AddressSpace struct {
	pml4            uint64
	n               uint64
	next            uint64 // bump for mmap
	lo              uint64
	hi              uint64
	brk0            uint64
	brk             uint64
	hint            uint64 // last vma index
	exe             uint64
	sig             [64]sigAct
	evData, evCount uint64
	evWaiter        *Thread
	cva, cka        uint64 // last page looked up by pageFor
	v               [maxVMA]VMA
}

func newAddressSpace(lo, hi, next uint64, pml4 uint64) *AddressSpace {
	p := allocContig((uint64(unsafe.Sizeof(AddressSpace{})) + 4095) / 4096)
	as := (*AddressSpace)(ptr(directMap + p))
	as.lo, as.hi, as.next = lo, hi, next
	if pml4 == 0 {
		pml4 = allocZero()
		for i := uint64(256); i < 512; i++ {
			wr64(directMap+pml4+i*8, rd64(directMap+kernPML4+i*8))
		}
	}
	as.pml4 = pml4
	return as
}

// findIdx: index of first VMA with end > a.
func (as *AddressSpace) findIdx(a uint64) uint64 {
	lo, hi := uint64(0), as.n
	for lo < hi {
		m := (lo + hi) / 2
		if as.v[m].end <= a {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

func (as *AddressSpace) find(a uint64) *VMA {
	h := as.hint
	if h < as.n {
		v := &as.v[h]
		if a >= v.start && a < v.end {
			return v
		}
	}
	i := as.findIdx(a)
	if i < as.n && a >= as.v[i].start {
		as.hint = i
		return &as.v[i]
	}
	return nil
}

func cpVMA(d, s *VMA) {
	d.start, d.end, d.prot, d.src, d.srcLen = s.start, s.end, s.prot, s.src, s.srcLen
}

func (as *AddressSpace) insertAt(i uint64, start, end, prot, src, srcLen uint64) {
	if as.n >= maxVMA {
		die("too many VMAs")
	}
	for j := as.n; j > i; j-- {
		cpVMA(&as.v[j], &as.v[j-1])
	}
	as.n++
	v := &as.v[i]
	v.start, v.end, v.prot, v.src, v.srcLen = start, end, prot, src, srcLen
}

func (as *AddressSpace) removeAt(i uint64) {
	for j := i; j+1 < as.n; j++ {
		cpVMA(&as.v[j], &as.v[j+1])
	}
	as.n--
}

// split so that a is a VMA boundary.
func (as *AddressSpace) split(a uint64) {
	i := as.findIdx(a)
	if i >= as.n || as.v[i].start >= a {
		return
	}
	v := &as.v[i]
	end, prot, src, sl := v.end, v.prot, v.src, v.srcLen
	off := a - v.start
	v.end = a
	if src != 0 {
		if sl > off {
			v.srcLen = off
			as.insertAt(i+1, a, end, prot, src+off, sl-off)
			return
		}
		src, sl = 0, 0
	}
	as.insertAt(i+1, a, end, prot, src, sl)
}

func (as *AddressSpace) mergeAt(i uint64) {
	if i+1 >= as.n || i >= as.n {
		return
	}
	a, b := &as.v[i], &as.v[i+1]
	if a.end == b.start && a.prot == b.prot && a.src == 0 && b.src == 0 {
		a.end = b.end
		as.removeAt(i + 1)
	}
}

func (as *AddressSpace) unmap(c *CPU, start, end uint64) {
	as.split(start)
	as.split(end)
	i := as.findIdx(start)
	for i < as.n && as.v[i].start < end {
		as.removeAt(i)
	}
	as.hint = 0
	as.zap(c, start, end)
}

func (as *AddressSpace) zap(c *CPU, start, end uint64) {
	cnt := 0
	as.cva = 0
	for a := start; a < end; {
		e := walk(as.pml4, a)
		if e == 0 {
			// skip to the next page table
			if walkPD(as.pml4, a) == 0 {
				a = (a + 1<<21) &^ (1<<21 - 1)
			} else {
				a += 4096
			}
			if a == 0 {
				break
			}
			continue
		}
		freeFrame(rd64(e) & pPA)
		wr64(e, 0)
		cnt++
		if cnt <= 64 {
			x86.Invlpg(a)
		}
		a += 4096
	}
	if cnt > 64 {
		x86.WriteCR3(x86.ReadCR3())
	}
	if cnt > 0 {
		flushOthers(c, as, start, end)
	}
}

func (as *AddressSpace) mapRegion(c *CPU, start, end, prot, src, srcLen uint64) {
	as.unmap(c, start, end)
	i := as.findIdx(start)
	as.insertAt(i, start, end, prot, src, srcLen)
	if src == 0 {
		as.mergeAt(i)
		if i > 0 {
			as.mergeAt(i - 1)
		}
	}
}

func (as *AddressSpace) protect(c *CPU, start, end, prot uint64) {
	as.cva = 0
	as.split(start)
	as.split(end)
	i := as.findIdx(start)
	first := i
	for i < as.n && as.v[i].start < end {
		as.v[i].prot = prot
		i++
	}
	for j := i; j > first; j-- {
		as.mergeAt(j)
		as.mergeAt(j - 1)
	}
	if first > 0 {
		as.mergeAt(first - 1)
	}
	as.hint = 0
	for a := start; a < end; a += 4096 {
		e := walk(as.pml4, a)
		if e == 0 {
			if walkPD(as.pml4, a) == 0 {
				a = (a+1<<21)&^(1<<21-1) - 4096
			}
			continue
		}
		if prot == 0 {
			freeFrame(rd64(e) & pPA) // spike: PROT_NONE drops the page (Go never relies on keeping it)
			wr64(e, 0)
		} else {
			wr64(e, rd64(e)&pPA|pteFlags(a, prot))
		}
		x86.Invlpg(a)
	}
	flushOthers(c, as, start, end)
}

func asOf(t *Thread) *AddressSpace {
	if t.frame.CS == kCS {
		return servicesSpace
	}
	return t.as
}

func asFor(t *Thread, a uint64) *AddressSpace {
	if a >= userTop {
		if t.frame.CS == kCS {
			return servicesSpace
		}
		return nil
	}
	return t.as
}

const (
	protR = 1
	protW = 2
	protX = 4
)
