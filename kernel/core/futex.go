//go:build amd64

package main

func bucket(a uint64) **Thread { return &buckets[(a>>2^a>>9)%nbucket] }

func futexWait(c *CPU, t *Thread, as *AddressSpace, a uint64, dl uint64) {
	if sigBreak(c, t, neg(4)) {
		return
	}
	b := bucket(a)
	t.fuaddr, t.fas = a, as
	t.next = nil
	for *b != nil {
		b = &(*b).next
	}
	*b = t
	t.blocked = bFutex
	if dl != 0 {
		timerAdd(c, t, dl)
	}
	t.frame.AX = 0
	schedule(c)
}

func futexDel(t *Thread) {
	for b := bucket(t.fuaddr); *b != nil; b = &(*b).next {
		if *b == t {
			*b = t.next
			return
		}
	}
}

func futexWake(c *CPU, as *AddressSpace, a, n uint64) uint64 {
	var woken uint64
	b := bucket(a)
	for *b != nil && woken < n {
		t := *b
		if t.fuaddr == a && t.fas == as {
			*b = t.next
			wake(c, t)
			woken++
		} else {
			b = &t.next
		}
	}
	return woken
}

func sysFutex(c *CPU, t *Thread) {
	a := t.frame.DI
	as := asFor(t, a)
	if as == nil {
		t.frame.AX = neg(14)
		return
	}
	switch t.frame.SI & 0x7f {
	case 0, 9:
		p := as.pageFor(c, a, false)
		if p == 0 {
			t.frame.AX = neg(14)
			return
		}
		if rd32(p) != uint32(t.frame.DX) {
			t.frame.AX = neg(11)
			return
		}
		var dl uint64
		if t.frame.R10 != 0 {
			ns, ok := getTimespec(c, t, t.frame.R10)
			if !ok {
				t.frame.AX = neg(14)
				return
			}
			if t.frame.SI&0x7f == 0 {
				ns += nowNS()
			}
			dl = ns
		}
		futexWait(c, t, as, a, dl)
	case 1, 10:
		t.frame.AX = futexWake(c, as, a, t.frame.DX)
	default:
		t.frame.AX = neg(38)
	}
}

const nbucket = 64

var buckets [nbucket]*Thread
