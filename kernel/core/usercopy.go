//go:build amd64

package main

// pageFor: kernel address of user byte a, faulting it in; 0 = EFAULT.
func (as *AddressSpace) pageFor(c *CPU, a uint64, write bool) uint64 {
	if !write && a>>12 == as.cva {
		return as.cka + a&4095
	}
	var err uint64 = 4
	if write {
		err |= 2
	}
	e := walk(as.pml4, a)
	if e == 0 || write && rd64(e)&pW == 0 {
		if !as.fault(c, a, err) {
			return 0
		}
		e = walk(as.pml4, a)
	}
	as.cva, as.cka = a>>12, directMap+rd64(e)&pPA
	return as.cka + a&4095
}

func (as *AddressSpace) put64(c *CPU, a, v uint64) bool {
	p := as.pageFor(c, a, true)
	if p == 0 {
		return false
	}
	wr64(p, v)
	return true
}

func (as *AddressSpace) put32(c *CPU, a uint64, v uint32) bool {
	p := as.pageFor(c, a, true)
	if p == 0 {
		return false
	}
	wr32(p, v)
	return true
}

func (as *AddressSpace) copyout(c *CPU, a uint64, s string) {
	for i := 0; i < len(s); i++ {
		if p := as.pageFor(c, a+uint64(i), true); p != 0 {
			wr8(p, s[i])
		}
	}
}

func (as *AddressSpace) get64(c *CPU, a uint64) (uint64, bool) {
	p := as.pageFor(c, a, false)
	if p == 0 {
		return 0, false
	}
	return rd64(p), true
}

func uput64(c *CPU, t *Thread, a, v uint64) bool {
	as := asFor(t, a)
	if as == nil {
		return false
	}
	return as.put64(c, a, v)
}
