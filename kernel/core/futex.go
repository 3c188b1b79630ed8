//go:build amd64

package main

import (
	"sync/atomic"

	"github.com/leveret-os/leveret/kernel/core/futex"
	"golang.org/x/sys/unix"
)

var futexes futex.Table

// Operations of futex(2).
const (
	futexWait        = 0
	futexWake        = 1
	futexRequeue     = 3
	futexCmpRequeue  = 4
	futexWakeOp      = 5
	futexWaitBitset  = 9
	futexWakeBitset  = 10
	futexPrivate     = 128
	futexRealtime    = 256
	futexWaitersBit  = 0x80000000
	futexOwnerDied   = 0x40000000
	futexTIDMask     = 0x3fffffff
	maxRobustEntries = 2048
)

// futexKey names the word at addr.
func futexKey(c *CPU, t *Thread, addr uint64, private bool) (futex.Key, bool) {
	as := asFor(t, addr)
	if as == nil {
		return futex.Key{}, false
	}
	if !private {
		object, offset, ok := as.futexKey(c, addr)
		if !ok || object != 0 {
			return futex.Key{Space: object, Address: offset}, ok
		}
	}
	return futex.Key{Space: uintptr(addressOf(as)), Address: addr}, true
}

// sysFutex: futex(2).
func sysFutex(c *CPU, t *Thread) {
	addr, op := t.DI, t.SI&0x7f
	if addr&3 == 0 && addr < userTop && t.as != nil {
		// What locks do, on the shortest way.
		switch t.SI {
		case futexWake | futexPrivate:
			if int32(t.DX) == 1 {
				t.AX = 0
				if w := futexes.First(futex.Key{Space: uintptr(addressOf(t.as)), Address: addr}, futex.AnyBits); w != nil {
					o := threadOfFutex(w)
					o.AX = 0
					t.AX = 1
					wake(c, o)
				}
				return
			}
		case futexWait | futexPrivate:
			if t.R10 != 0 || signalPending(t) {
				break
			}
			ok, v := userLoad32(c, addr, 0, 0)
			if ok == 0 {
				break
			}
			if uint32(v) != uint32(t.DX) {
				t.AX = eAGAIN
				return
			}
			t.interrupted = eRESTARTSYS
			futexes.Add(&t.futex, futex.Key{Space: uintptr(addressOf(t.as)), Address: addr}, futex.AnyBits)
			block(c, t, stateFutex)
			return
		}
	}
	private := t.SI&futexPrivate != 0
	if addr&3 != 0 {
		t.AX = eINVAL
		return
	}
	if op == futexWake || op == futexWakeBitset {
		key, ok := futexKey(c, t, addr, private)
		if !ok {
			t.AX = eFAULT
			return
		}
		bits := uint32(futex.AnyBits)
		if op == futexWakeBitset {
			if bits = uint32(t.R9); bits == 0 {
				t.AX = eINVAL
				return
			}
		}
		n := int32(t.DX)
		if n <= 0 {
			n = 1
		}
		t.AX = wakeFutex(c, key, bits, uint64(n))
		return
	}
	futexSlow(c, t, addr, op, private)
}

// wakeFutex wakes at most n waiters of key that share a bit with bits.
func wakeFutex(c *CPU, key futex.Key, bits uint32, n uint64) (woken uint64) {
	s := futexes.Scan(key)
	for woken < n {
		w := futexes.Take(&s, bits)
		if w == nil {
			break
		}
		t := threadOfFutex(w)
		t.AX = 0
		wake(c, t)
		woken++
	}
	return woken
}

func futexSlow(c *CPU, t *Thread, addr, op uint64, private bool) {
	switch op {
	case futexWait, futexWaitBitset:
		waitFutex(c, t, addr, op, private)
	case futexRequeue, futexCmpRequeue:
		requeue(c, t, addr, op, private)
	case futexWakeOp:
		wakeOp(c, t, addr, private)
	default:
		t.AX = eNOSYS
	}
}

func waitFutex(c *CPU, t *Thread, addr, op uint64, private bool) {
	bits := uint32(futex.AnyBits)
	if op == futexWaitBitset {
		if bits = uint32(t.R9); bits == 0 {
			t.AX = eINVAL
			return
		}
	}
	deadline := uint64(0)
	interrupted := eRESTARTSYS
	if t.R10 != 0 {
		ns, e := readTimespec(c, t.R10)
		if e != 0 {
			t.AX = e
			return
		}
		switch {
		case t.retry: // by restart_syscall
			deadline = t.deadline
		case op == futexWait:
			deadline = later(nowNS(), ns)
		case t.SI&futexRealtime != 0:
			deadline = fromRealtime(ns)
		default:
			deadline = max(ns, 1)
		}
		interrupted = eRESTARTBLOCK
	}
	key, ok := futexKey(c, t, addr, private)
	if !ok {
		t.AX = eFAULT
		return
	}
	v, ok := read32(c, addr)
	switch {
	case !ok:
		t.AX = eFAULT
		return
	case v != uint32(t.DX):
		t.AX = eAGAIN
		return
	case signalPending(t):
		t.AX = interrupted
		t.deadline = deadline
		t.work |= workSignal
		return
	}
	t.deadline = deadline
	t.interrupted = interrupted
	futexes.Add(&t.futex, key, bits)
	if deadline != 0 {
		addTimer(c, &t.timer, deadline)
	}
	block(c, t, stateFutex)
}

func requeue(c *CPU, t *Thread, addr, op uint64, private bool) {
	to := t.R8
	nwake, nmove := int32(t.DX), int32(t.R10)
	if to&3 != 0 || nwake < 0 || nmove < 0 {
		t.AX = eINVAL
		return
	}
	key, ok := futexKey(c, t, addr, private)
	key2, ok2 := futexKey(c, t, to, private)
	if !ok || !ok2 {
		t.AX = eFAULT
		return
	}
	if op == futexCmpRequeue {
		v, ok := read32(c, addr)
		if !ok {
			t.AX = eFAULT
			return
		}
		if v != uint32(t.R9) {
			t.AX = eAGAIN
			return
		}
	}
	n := wakeFutex(c, key, futex.AnyBits, uint64(nwake))
	s := futexes.Scan(key)
	for range nmove {
		w := futexes.Take(&s, futex.AnyBits)
		if w == nil {
			break
		}
		futexes.Requeue(w, key2)
		n++
	}
	t.AX = n
}

// wakeOp: FUTEX_WAKE_OP. The word at the second address is changed, and its
// waiters are woken if what it was compares true.
func wakeOp(c *CPU, t *Thread, addr uint64, private bool) {
	to, code := t.R8, uint32(t.R9)
	if to&3 != 0 {
		t.AX = eINVAL
		return
	}
	key, ok := futexKey(c, t, addr, private)
	key2, ok2 := futexKey(c, t, to, private)
	old, ok3 := read32(c, to)
	if !ok || !ok2 || !ok3 {
		t.AX = eFAULT
		return
	}
	arg := uint32(int32(code<<8) >> 20)
	with := int32(code<<20) >> 20
	if code>>28&8 != 0 {
		arg = 1 << (arg & 31)
	}
	if code>>28&7 > 4 {
		t.AX = eNOSYS
		return
	}
	v := combine(code, old, arg)
	// Other processors may write the word meanwhile: compare and swap.
	for {
		a := asFor(t, to).pageFor(c, to, true)
		if a == 0 {
			t.AX = eFAULT
			return
		}
		if atomic.CompareAndSwapUint32((*uint32)(ptr(a)), old, v) {
			break
		}
		old = rd32(a)
		v = combine(code, old, arg)
	}
	hit := false
	switch code >> 24 & 15 {
	case 0:
		hit = int32(old) == with
	case 1:
		hit = int32(old) != with
	case 2:
		hit = int32(old) < with
	case 3:
		hit = int32(old) <= with
	case 4:
		hit = int32(old) > with
	case 5:
		hit = int32(old) >= with
	default:
		t.AX = eNOSYS
		return
	}
	n := wakeFutex(c, key, futex.AnyBits, uint64(max(int32(t.DX), 1)))
	if hit {
		n += wakeFutex(c, key2, futex.AnyBits, uint64(max(int32(t.R10), 1)))
	}
	t.AX = n
}

// combine is what FUTEX_WAKE_OP makes of a word.
func combine(code, old, arg uint32) uint32 {
	switch code >> 28 & 7 {
	case 0:
		return arg
	case 1:
		return old + arg
	case 2:
		return old | arg
	case 3:
		return old &^ arg
	}
	return old ^ arg
}

// sysSetRobustList: set_robust_list(2).
func sysSetRobustList(c *CPU, t *Thread) {
	if t.SI != 24 {
		t.AX = eINVAL
		return
	}
	t.robust = t.DI
	t.AX = 0
}

// sysGetRobustList: get_robust_list(2).
func sysGetRobustList(c *CPU, t *Thread) {
	o := t
	if pid := uint32(t.DI); pid != 0 {
		if o = findThread(pid); o == nil || o.ring0() {
			t.AX = eSRCH
			return
		}
	}
	if !write64(c, t.SI, o.robust) || !write64(c, t.DX, 24) {
		t.AX = eFAULT
		return
	}
	t.AX = 0
}

// leaveRobust marks the robust mutexes that t, the current thread, holds as
// left by a dead owner, and wakes a waiter of each (get_robust_list(2)).
func leaveRobust(c *CPU, t *Thread) {
	head := t.robust
	if head == 0 {
		return
	}
	entry, ok1 := read64(c, head)
	offset, ok2 := read64(c, head+8)
	pending, ok3 := read64(c, head+16)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	for i := 0; i < maxRobustEntries && entry&^1 != head; i++ {
		next, ok := read64(c, entry&^1)
		if entry != pending {
			ownerDied(c, t, entry&^1+offset, false)
		}
		if !ok {
			break
		}
		entry = next
	}
	if pending != 0 {
		ownerDied(c, t, pending&^1+offset, true)
	}
}

func ownerDied(c *CPU, t *Thread, addr uint64, pending bool) {
	if addr&3 != 0 {
		return
	}
	v, ok := read32(c, addr)
	if !ok {
		return
	}
	if v&futexTIDMask != t.TID {
		if pending && v == 0 {
			wakeWord(c, t, addr)
		}
		return
	}
	write32(c, addr, v&futexWaitersBit|futexOwnerDied)
	if v&futexWaitersBit != 0 {
		wakeWord(c, t, addr)
	}
}

// wakeWord wakes one waiter of the word at addr, private or shared.
func wakeWord(c *CPU, t *Thread, addr uint64) {
	private, ok := futexKey(c, t, addr, true)
	if !ok || wakeFutex(c, private, futex.AnyBits, 1) != 0 {
		return
	}
	if shared, ok := futexKey(c, t, addr, false); ok && shared != private {
		wakeFutex(c, shared, futex.AnyBits, 1)
	}
}

// sysRestartSyscall goes on with the call that a signal without a handler had
// interrupted, with the deadline that it had.
func sysRestartSyscall(c *CPU, t *Thread) {
	n := t.restart
	t.restart = 0
	t.retry = true
	t.call = n
	switch n {
	case unix.SYS_FUTEX:
		sysFutex(c, t)
	case unix.SYS_NANOSLEEP:
		sysNanosleep(c, t)
	case unix.SYS_CLOCK_NANOSLEEP:
		sysClockNanosleep(c, t)
	case unix.SYS_POLL:
		sysPoll(c, t)
	default:
		t.AX = eINTR
	}
	t.retry = false
}
