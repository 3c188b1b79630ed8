//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
)

// sysExit: exit(2), of one thread.
func sysExit(c *CPU, t *Thread) { exitThread(c, t, t.DI&0xff<<8) }

// sysExitGroup: exit_group(2).
func sysExitGroup(c *CPU, t *Thread) {
	if t.ring0() {
		servicesEnded()
	}
	kill(c, t.process, t.DI&0xff<<8)
	t.work &^= workDie
	exitThread(c, t, t.process.code)
}

// exitThread ends t, the current thread. status is the process's wait status
// if it is the last one.
func exitThread(c *CPU, t *Thread, status uint64) {
	p := t.process
	if !p.dying || p.threads > 1 {
		leaveRobust(c, t)
	}
	if t.clearTID != 0 && p.threads > 1 {
		if write32(c, t.clearTID, 0) {
			wakeWord(c, t, t.clearTID)
		}
	}
	delTimer(&t.timer)
	dropWaiters(t)
	flush(&t.queue, ^uint64(0))
	account(c)
	t.work = 0
	if p.threads > 1 {
		_, system := t.split()
		p.deadSystem += min(system, t.sched.Runtime)
		p.deadRuntime += t.sched.Runtime
		p.deadLeaves += t.leaves
		p.switches += t.switches
		p.preempted += t.preempted
		dropThread(t)
		leave(c, t)
		return
	}
	if p.ring0 {
		servicesEnded()
	}
	// The last one: services are told, in the thread's name, and then it is
	// finished.
	if !p.dying {
		p.dying = true
		p.code = status
	}
	endTimers(p)
	t.call, t.AX, t.DI = abi.EventExit, abi.EventExit, p.code
	t.mask = ^uint64(0)
	t.pending, p.pending = 0, 0
	flush(&p.queue, ^uint64(0))
	t.work = workGone
	if nhandlers != 0 {
		t.work = 0
		forward(c, t)
		t.work = workGone
	}
}

// finishExit is what remains to be done for the last thread of a process when
// services have let it go.
func finishExit(c *CPU, t *Thread) {
	p := t.process
	if p.pid == 1 {
		endSystem(p)
	}
	dropThread(t)
	leave(c, t)
	dropProcess(p)
}

// leave switches away from t for good and frees it.
func leave(c *CPU, t *Thread) {
	t.state = stateDead
	t.fp = fpDead
	t.work = 0
	schedule(c)
	freePage(unsafe.Pointer(t))
}

// endSystem ends the run with init's status.
func endSystem(p *Process) {
	if !quiet || accountAll {
		putAccount(p)
	}
	if sig := p.code & 0x7f; sig != 0 {
		exitSignal(sig)
	}
	exitSystem(p.code >> 8 & 0xff)
}

// sysReboot: reboot(2).
func sysReboot(c *CPU, t *Thread) {
	const magic1, magic2 = 0xfee1dead, 672274793
	if !t.capable() {
		t.AX = ePERM
		return
	}
	if uint32(t.DI) != magic1 {
		t.AX = eINVAL
		return
	}
	switch uint32(t.SI) {
	case magic2, 85072278, 369367448, 537993216:
	default:
		t.AX = eINVAL
		return
	}
	switch uint32(t.DX) {
	case 0, 0x89abcdef: // CAD off, on
		t.AX = 0
	default:
		exitSystem(0)
	}
}
