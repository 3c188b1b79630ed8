//go:build amd64

package main

func sysMmap(c *CPU, t *Thread, addr, n, prot, flags uint64) uint64 {
	as := asOf(t)
	n = (n + 4095) &^ 4095
	if flags&0x20 == 0 || n == 0 {
		return neg(19)
	}
	if flags&0x10 == 0 { // not MAP_FIXED
		ok := addr != 0 && addr&4095 == 0 && addr >= as.lo && addr+n <= as.hi && addr+n > addr
		if ok {
			i := as.findIdx(addr)
			if i < as.n && as.v[i].start < addr+n {
				ok = false
			}
		}
		if !ok {
			a := as.next
			if n >= 1<<26 {
				a = (a + 1<<26 - 1) &^ (1<<26 - 1)
			}
			for {
				i := as.findIdx(a)
				if i >= as.n || as.v[i].start >= a+n {
					break
				}
				a = as.v[i].end
				if n >= 1<<26 {
					a = (a + 1<<26 - 1) &^ (1<<26 - 1)
				}
			}
			if a+n > as.hi {
				return neg(12)
			}
			addr = a
			as.next = a + n
		}
	}
	as.mapRegion(c, addr, addr+n, prot&7, 0, 0)
	return addr
}
