//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

func loadELF(c *CPU, as *AddressSpace, f uint64) (entry uint64) {
	if rd32(f) != 0x464c457f || rd16(f+18) != 62 {
		die("not an ELF")
	}
	ph := f + rd64(f+32)
	n := uint64(rd16(f + 56))
	for i := uint64(0); i < n; i++ {
		p := ph + i*56
		if rd32(p) != 1 {
			continue
		}
		fl := rd32(p + 4)
		off, va, fsz, msz := rd64(p+8), rd64(p+16), rd64(p+32), rd64(p+40)
		prot := uint64(protR)
		if fl&2 != 0 {
			prot |= protW
		}
		if fl&1 != 0 {
			prot |= protX
		}
		o := va & 4095
		as.mapRegion(c, va-o, (va+msz+4095)&^4095, prot, f+off-o, fsz+o)
	}
	return rd64(f + 24)
}

func push64(c *CPU, as *AddressSpace, sp *uint64, v uint64) {
	*sp -= 8
	as.put64(c, *sp, v)
}

func pushStr(c *CPU, as *AddressSpace, sp *uint64, s string) uint64 {
	*sp -= uint64(len(s)) + 1
	as.copyout(c, *sp, s)
	return *sp
}

func start(c *CPU, as *AddressSpace, f, top, size uint64, arg0, env0, env1 string, ring0 bool) *Thread {
	entry := loadELF(c, as, f)
	as.mapRegion(c, top-size, top, protR|protW, 0, 0)
	sp := top - 64
	rnd := sp
	as.put64(c, rnd, x86.Rdtsc()*0x9e3779b97f4a7c15)
	as.put64(c, rnd+8, x86.Rdtsc()*0xc2b2ae3d27d4eb4f)
	a0 := pushStr(c, as, &sp, arg0)
	e0 := pushStr(c, as, &sp, env0)
	e1 := pushStr(c, as, &sp, env1)
	sp &^= 15
	push64(c, as, &sp, 0)
	push64(c, as, &sp, 0)
	push64(c, as, &sp, rnd)
	push64(c, as, &sp, 25)
	push64(c, as, &sp, 4096)
	push64(c, as, &sp, 6)
	push64(c, as, &sp, 0)
	push64(c, as, &sp, e1)
	push64(c, as, &sp, e0)
	push64(c, as, &sp, 0)
	push64(c, as, &sp, a0)
	push64(c, as, &sp, 1)
	if sp&15 != 0 {
		die("stack misaligned")
	}
	tas := as
	if ring0 {
		tas = nil
	}
	t := newThread(c, tas, ring0)
	t.frame.IP, t.frame.SP = entry, sp
	enqueue(c, t)
	return t
}
