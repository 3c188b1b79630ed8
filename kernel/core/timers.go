//go:build amd64

package main

func timerAdd(c *CPU, t *Thread, dl uint64) {
	t.deadline = dl
	t.sleeping = true
	if timers == nil || timers.deadline > dl {
		t.tnext = timers
		timers = t
	} else {
		p := timers
		for p.tnext != nil && p.tnext.deadline <= dl {
			p = p.tnext
		}
		t.tnext = p.tnext
		p.tnext = t
	}
	if dl < c.armed {
		arm(c, dl)
	}
}

func timerDel(t *Thread) {
	t.sleeping = false
	if timers == t {
		timers = t.tnext
		return
	}
	for p := timers; p != nil; p = p.tnext {
		if p.tnext == t {
			p.tnext = t.tnext
			return
		}
	}
}

const slice = 10000000

func timerIRQ(c *CPU) {
	wr32(lapic+0xb0, 0)
	now := nowNS()
	for timers != nil && timers.deadline <= now {
		t := timers
		timers = t.tnext
		t.sleeping = false
		switch t.blocked {
		case bFutex:
			futexDel(t)
			t.frame.AX = neg(110)
		case bSleep, bEpoll:
			t.frame.AX = 0
		}
		t.blocked = bNone
		enqueue(c, t)
	}
	next := now + slice
	if timers != nil && timers.deadline < next {
		next = timers.deadline
	}
	arm(c, next)
	cur := c.cur
	if cur.pending&^cur.sigmask != 0 {
		sigCheck(c, cur)
	}
	if runHead != nil {
		if cur != c.idleT {
			enqueue(c, cur)
		}
		c.sliceEnd = now + slice
		schedule(c)
	}
}
