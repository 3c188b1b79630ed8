//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

func enqueue(c *CPU, t *Thread) {
	pokeIdle(c)
	t.next = nil
	if runTail == nil {
		runHead = t
	} else {
		runTail.next = t
	}
	runTail = t
}

// setCur is the bare switch: which thread the exit path restores.
func setCur(c *CPU, t *Thread) {
	c.cur = t
	top := taddr(t) + 176
	wr32(c.tss+0x24, uint32(top))
	wr32(c.tss+0x28, uint32(top>>32))
	if t.as != nil && t.as != c.curAS {
		c.curAS = t.as
		x86.WriteCR3(t.as.pml4)
	}
}

// Thread.fp: 0 dead, 1 XMM in fx and x87 riding in the CPU, 2 in fx with an
// empty x87 stack, 3 all in fx.
func saveFP(c *CPU, t *Thread) {
	full, fs := fpSave(fxaddr(t))
	t.fs = fs
	if full == 0 {
		t.fp = 2
		c.x87Dirty = false
	} else {
		t.fp = 3
		c.x87Dirty = true
		nfull++
	}
}

func loadFP(c *CPU, t *Thread) { // and FS base
	if t.fp == 2 {
		if c.x87Dirty {
			x86.Fninit()
			c.x87Dirty = false
		}
		fpLoad(fxaddr(t), t.fs)
		return
	}
	if t.fp == 3 {
		x86.Fxrstor(fxaddr(t))
		c.x87Dirty = true
	}
	x86.WriteFS(t.fs)
}

// switchTo: full switch, cur's state saved in full.
func switchTo(c *CPU, t *Thread) {
	old := c.cur
	if old == t {
		return
	}
	nswitch++
	if old.how != 2 && old != c.idleT {
		saveFP(c, old)
	}
	if t != c.idleT {
		loadFP(c, t)
	}
	setCur(c, t)
}

func schedule(c *CPU) {
	t := runHead
	if t == nil {
		switchTo(c, c.idleT)
		return
	}
	runHead = t.next
	if runHead == nil {
		runTail = nil
	}
	t.next = nil
	switchTo(c, t)
}

func wake(c *CPU, t *Thread) {
	if t.sleeping {
		timerDel(t)
	}
	t.blocked = bNone
	enqueue(c, t)
}
