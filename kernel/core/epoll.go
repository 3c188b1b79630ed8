//go:build amd64

package main

// The one epoll instance + eventfd that each Go runtime makes for itself.
const (
	epFD = 1000
	evFD = 1001
)

func epollEvent(c *CPU, as *AddressSpace, p uint64) bool {
	return as.put32(c, p, 1) && as.put32(c, p+4, uint32(as.evData)) && as.put32(c, p+8, uint32(as.evData>>32))
}

func sysEpollCtl(c *CPU, t *Thread) {
	as := asOf(t)
	if t.frame.DX != evFD {
		t.frame.AX = neg(1)
		return
	}
	o := asFor(t, t.frame.R10)
	if o == nil {
		t.frame.AX = neg(14)
		return
	}
	lo, hi := o.pageFor(c, t.frame.R10+4, false), o.pageFor(c, t.frame.R10+8, false)
	if lo == 0 || hi == 0 {
		t.frame.AX = neg(14)
		return
	}
	as.evData = uint64(rd32(lo)) | uint64(rd32(hi))<<32
	t.frame.AX = 0
}

func sysEpollWait(c *CPU, t *Thread) {
	as := asOf(t)
	if as.evCount != 0 {
		t.frame.AX = neg(14)
		if o := asFor(t, t.frame.SI); o != nil {
			o.evData = as.evData
			if epollEvent(c, o, t.frame.SI) {
				t.frame.AX = 1
			}
		}
		return
	}
	t.frame.AX = 0
	ms := int64(int32(t.frame.R10))
	if ms == 0 {
		return
	}
	if sigBreak(c, t, neg(4)) {
		return
	}
	t.blocked = bEpoll
	as.evWaiter = t
	if ms > 0 {
		timerAdd(c, t, nowNS()+uint64(ms)*1000000)
	}
	schedule(c)
}

func evWrite(c *CPU, t *Thread) {
	as := asOf(t)
	as.evCount++
	t.frame.AX = 8
	if w := as.evWaiter; w != nil && w.blocked == bEpoll {
		as.evWaiter = nil
		if o := asFor(w, w.frame.SI); o != nil && epollEvent(c, o, w.frame.SI) {
			w.frame.AX = 1
		}
		wake(c, w)
	}
}

func evRead(c *CPU, t *Thread) {
	as := asOf(t)
	if as.evCount == 0 {
		t.frame.AX = neg(11)
		return
	}
	if o := asFor(t, t.frame.SI); o != nil {
		o.put64(c, t.frame.SI, as.evCount)
	}
	as.evCount = 0
	t.frame.AX = 8
}
