//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/ready"
	"golang.org/x/sys/unix"
)

// pollFD is struct pollfd.
type pollFD struct {
	fd              int32
	events, revents uint16
}

// sysPoll: poll(2).
func sysPoll(c *CPU, t *Thread) {
	poll(c, t, millisecondDeadline(t, int32(t.DX)), eRESTARTBLOCK)
}

// sysPpoll: ppoll(2).
func sysPpoll(c *CPU, t *Thread) {
	deadline := uint64(0)
	if t.DX != 0 {
		ns, e := readTimespec(c, t.DX)
		if e != 0 {
			t.AX = e
			return
		}
		deadline = t.timespecDeadline(ns)
	}
	if !pollMask(c, t, t.R10, t.R8) {
		return
	}
	poll(c, t, deadline, eRESTARTNOHAND)
	endPollMask(c, t)
	if t.DX != 0 && c.cur == t && t.state == stateRun {
		writeLeft(c, t.DX, deadline)
	}
}

// writeLeft stores how much of a timeout is left.
func writeLeft(c *CPU, addr, deadline uint64) {
	left := uint64(0)
	if now := nowNS(); deadline > now {
		left = deadline - now
	}
	writeTimespec(c, addr, left)
}

// current is the poll bits of a file.
func (x *File) current() uint32 {
	if x.ready == nil {
		return ready.In | ready.Out | 0x40 | 0x100 // RDNORM, WRNORM
	}
	bits := x.ready.Current()
	if bits&ready.In != 0 {
		bits |= 0x40
	}
	if bits&ready.Out != 0 {
		bits |= 0x100
	}
	return bits
}

// poll looks at the files of a poll(2) and blocks when none is ready. Looking
// and waiting are two passes, so that the usual poll costs one.
func poll(c *CPU, t *Thread, deadline, interrupted uint64) {
	base, n := t.DI, uint64(uint32(t.SI))
	if n > t.process.limits[unix.RLIMIT_NOFILE].Cur {
		t.AX = eINVAL
		return
	}
	ready1 := uint64(0)
	for i := range n {
		var f pollFD
		if !copyIn(c, unsafe.Pointer(&f), base+i*8, 8) {
			t.AX = eFAULT
			return
		}
		f.revents = 0
		if f.fd >= 0 {
			if x := t.file(uint64(f.fd)); x == nil {
				f.revents = ready.Nval
			} else {
				f.revents = uint16(x.current()) & (f.events | ready.Always)
			}
		}
		if f.revents != 0 {
			ready1++
		}
		if !copyOut(c, base+i*8, unsafe.Pointer(&f), 8) {
			t.AX = eFAULT
			return
		}
	}
	t.AX = ready1
	if ready1 != 0 || deadline == noWait || t.timedOut {
		return
	}
	if signalPending(t) {
		t.AX = interrupted
		t.deadline = deadline
		t.work |= workSignal
		return
	}
	for i := range n {
		var f pollFD
		copyIn(c, unsafe.Pointer(&f), base+i*8, 8)
		if f.fd < 0 {
			continue
		}
		if x := t.file(uint64(f.fd)); x != nil && x.ready != nil && !waitAlso(t, x.ready, uint32(f.events)) {
			dropWaiters(t)
			t.AX = eNOMEM
			return
		}
	}
	waitMany(c, t, deadline, interrupted)
}

// waitMany blocks t, whose waiters are in place.
func waitMany(c *CPU, t *Thread, deadline, interrupted uint64) {
	t.interrupted = interrupted
	t.deadline = deadline
	if deadline != 0 {
		addTimer(c, &t.timer, deadline)
	}
	block(c, t, stateReady)
}

// sysSelect: select(2).
func sysSelect(c *CPU, t *Thread) {
	deadline := uint64(0)
	if t.R8 != 0 {
		ns, e := readTimeval(c, t.R8)
		if e != 0 {
			t.AX = e
			return
		}
		deadline = t.timespecDeadline(ns)
	}
	selectFiles(c, t, deadline)
	if t.R8 != 0 && c.cur == t && t.state == stateRun {
		left := uint64(0)
		if now := nowNS(); deadline > now {
			left = deadline - now
		}
		writeTimeval(c, t.R8, left)
	}
}

// sysPselect6: pselect6(2).
func sysPselect6(c *CPU, t *Thread) {
	deadline := uint64(0)
	if t.R8 != 0 {
		ns, e := readTimespec(c, t.R8)
		if e != 0 {
			t.AX = e
			return
		}
		deadline = t.timespecDeadline(ns)
	}
	if t.R9 != 0 {
		addr, ok := read64(c, t.R9)
		size, ok2 := read64(c, t.R9+8)
		if !ok || !ok2 {
			t.AX = eFAULT
			return
		}
		if !pollMask(c, t, addr, size) {
			return
		}
	}
	selectFiles(c, t, deadline)
	endPollMask(c, t)
	if t.R8 != 0 && c.cur == t && t.state == stateRun {
		writeLeft(c, t.R8, deadline)
	}
}

// selectBits are what each of select's sets looks for.
var selectBits = [3]uint32{ready.In | ready.Hup | ready.Err, ready.Out | ready.Err, ready.Pri}

// maxSelect is how many descriptors select looks at (FD_SETSIZE).
const maxSelect = 1024

func selectFiles(c *CPU, t *Thread, deadline uint64) {
	n := int32(t.DI)
	if n < 0 {
		t.AX = eINVAL
		return
	}
	n = int32(min(uint64(n), maxSelect, t.process.files.capacity()))
	addrs := [3]uint64{t.SI, t.DX, t.R10}
	words := uint64(n+63) / 64
	count := uint64(0)
	for pass := range 2 {
		for s := range addrs {
			if addrs[s] == 0 {
				continue
			}
			for w := range words {
				in, ok := read64(c, addrs[s]+w*8)
				if !ok {
					t.AX = eFAULT
					return
				}
				for b := range uint64(64) {
					fd := w*64 + b
					if in>>b&1 == 0 || fd >= uint64(n) {
						continue
					}
					x := t.file(fd)
					if x == nil {
						dropWaiters(t)
						t.AX = eBADF
						return
					}
					if pass == 0 {
						if x.current()&selectBits[s] != 0 {
							count++
						}
					} else if x.ready != nil && !waitAlso(t, x.ready, selectBits[s]) {
						dropWaiters(t)
						t.AX = eNOMEM
						return
					}
				}
			}
		}
		if pass == 0 && (count != 0 || deadline == noWait || t.timedOut) {
			break
		}
		if pass == 0 && signalPending(t) {
			t.AX = eRESTARTNOHAND
			t.work |= workSignal
			return
		}
		if pass == 1 {
			waitMany(c, t, deadline, eRESTARTNOHAND)
			return
		}
	}
	for s := range addrs {
		if addrs[s] == 0 {
			continue
		}
		for w := range words {
			in, _ := read64(c, addrs[s]+w*8)
			out := uint64(0)
			for b := range uint64(64) {
				if in>>b&1 != 0 && w*64+b < uint64(n) {
					if x := t.file(w*64 + b); x != nil && x.current()&selectBits[s] != 0 {
						out |= 1 << b
					}
				}
			}
			if !write64(c, addrs[s]+w*8, out) {
				t.AX = eFAULT
				return
			}
		}
	}
	t.AX = count
}
