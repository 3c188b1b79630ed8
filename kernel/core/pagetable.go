//go:build amd64

package main

// walk returns the directMap address of the leaf PTE for a (or of a 2M PDE), 0 if none.
func walk(pml4, a uint64) uint64 {
	t := directMap + pml4
	for sh := uint(39); ; sh -= 9 {
		e := t + (a >> sh & 511 * 8)
		v := rd64(e)
		if v&pP == 0 {
			return 0
		}
		if sh == 12 || v&0x80 != 0 {
			return e
		}
		t = directMap + v&pPA
	}
}

// pteFor returns the directMap address of the PTE slot, allocating tables.
func pteFor(pml4, a uint64) uint64 {
	fl := uint64(pP | pW | pA)
	if a < userTop {
		fl |= pU
	}
	t := directMap + pml4
	for sh := uint(39); sh > 12; sh -= 9 {
		e := t + (a >> sh & 511 * 8)
		v := rd64(e)
		if v&pP == 0 {
			v = allocZero() | fl
			wr64(e, v)
		}
		t = directMap + v&pPA
	}
	return t + (a >> 12 & 511 * 8)
}

func walkPD(pml4, a uint64) uint64 {
	t := directMap + pml4
	for sh := uint(39); sh > 12; sh -= 9 {
		v := rd64(t + (a >> sh & 511 * 8))
		if v&pP == 0 {
			return 0
		}
		t = directMap + v&pPA
	}
	return t
}

func pteFlags(a, prot uint64) uint64 {
	fl := uint64(pP | pA | pD)
	if a < userTop {
		fl |= pU
	}
	if prot&protW != 0 {
		fl |= pW
	}
	if prot&protX == 0 {
		fl |= pNX
	}
	return fl
}

const (
	pP  = 1
	pW  = 2
	pU  = 4
	pA  = 0x20
	pD  = 0x40
	pNX = 1 << 63
	pPA = 0x000ffffffffff000
)
