//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/x86"
	"golang.org/x/sys/unix"
)

func sysGetpid(c *CPU, t *Thread)  { t.AX = uint64(t.PID) }
func sysGettid(c *CPU, t *Thread)  { t.AX = uint64(t.TID) }
func sysGetppid(c *CPU, t *Thread) { t.AX = uint64(t.parent) }

// sysGetpgid, sysGetsid: of this process or another.
func sysGetpgid(c *CPU, t *Thread) {
	if p := processArg(t, t.DI); p != nil {
		t.AX = uint64(p.group)
	}
}

func sysGetsid(c *CPU, t *Thread) {
	if p := processArg(t, t.DI); p != nil {
		t.AX = uint64(p.session)
	}
}

func sysGetpgrp(c *CPU, t *Thread) { t.AX = uint64(t.process.group) }

// sysSetpgid: setpgid(2).
func sysSetpgid(c *CPU, t *Thread) {
	if int32(t.SI) < 0 {
		t.AX = eINVAL
		return
	}
	p := processArg(t, t.DI)
	if p == nil {
		return
	}
	g := uint32(t.SI)
	if g == 0 {
		g = p.pid
	}
	if p.session == p.pid || g != p.pid {
		t.AX = ePERM
		return
	}
	p.group = g
	t.AX = 0
}

// sysSetsid: setsid(2).
func sysSetsid(c *CPU, t *Thread) {
	p := t.process
	if p.group == p.pid {
		t.AX = ePERM
		return
	}
	p.session, p.group = p.pid, p.pid
	t.AX = uint64(p.pid)
}

// processArg is the process with an id, 0 for t's own; nil and ESRCH in AX
// when there is none.
func processArg(t *Thread, pid uint64) *Process {
	if uint32(pid) == 0 {
		return t.process
	}
	p := findProcess(uint32(pid))
	if p == nil || p.ring0 {
		t.AX = eSRCH
		return nil
	}
	return p
}

// threadArg is the thread with an id, 0 for t itself; nil and ESRCH in AX when
// there is none.
func threadArg(t *Thread, tid uint64) *Thread {
	if uint32(tid) == 0 {
		return t
	}
	o := findThread(uint32(tid))
	if o == nil || o.ring0() != t.ring0() {
		t.AX = eSRCH
		return nil
	}
	return o
}

// sysArchPrctl: arch_prctl(2).
func sysArchPrctl(c *CPU, t *Thread) {
	const (
		setGS = 0x1001
		setFS = 0x1002
		getFS = 0x1003
		getGS = 0x1004
	)
	switch t.DI {
	case setFS:
		if t.SI >= userTop && !t.ring0() {
			t.AX = ePERM
			return
		}
		t.fs = t.SI
		x86.WriteFS(t.SI)
		t.AX = 0
	case getFS:
		t.AX = 0
		if !write64(c, t.SI, x86.ReadFS()) {
			t.AX = eFAULT
		}
	case setGS:
		if t.SI >= userTop || t.ring0() {
			t.AX = ePERM
			return
		}
		writeGS(t.SI)
		t.AX = 0
	case getGS:
		t.AX = 0
		if !write64(c, t.SI, readGS()) {
			t.AX = eFAULT
		}
	default:
		t.AX = eINVAL
	}
}

// sysPrctl: prctl(2).
func sysPrctl(c *CPU, t *Thread) {
	t.AX = 0
	p := t.process
	switch uint32(t.DI) {
	case unix.PR_SET_PDEATHSIG:
		if t.SI > 64 {
			t.AX = eINVAL
			return
		}
		t.pdeathsig = int32(t.SI)
	case unix.PR_GET_PDEATHSIG:
		if !write32(c, t.SI, uint32(t.pdeathsig)) {
			t.AX = eFAULT
		}
	case unix.PR_GET_DUMPABLE:
		t.AX = uint64(p.dumpable)
	case unix.PR_SET_DUMPABLE:
		if t.SI > 1 {
			t.AX = eINVAL
			return
		}
		p.dumpable = uint32(t.SI)
	case unix.PR_SET_NAME:
		var name [16]byte
		for i := range uint64(15) {
			if !copyIn(c, unsafe.Pointer(&name[i]), t.SI+i, 1) {
				t.AX = eFAULT
				return
			}
			if name[i] == 0 {
				break
			}
		}
		copyName(&t.name, &name)
	case unix.PR_GET_NAME:
		if !copyOut(c, t.SI, unsafe.Pointer(&t.name), 16) {
			t.AX = eFAULT
		}
	case unix.PR_SET_TIMERSLACK:
		t.timerslack = t.SI
	case unix.PR_GET_TIMERSLACK:
		t.AX = t.timerslack
		if t.AX == 0 {
			t.AX = 50000
		}
	case unix.PR_SET_NO_NEW_PRIVS:
		if t.SI != 1 || t.DX|t.R10|t.R8 != 0 {
			t.AX = eINVAL
			return
		}
		t.noNewPrivs = true
	case unix.PR_GET_NO_NEW_PRIVS:
		if t.SI|t.DX|t.R10|t.R8 != 0 {
			t.AX = eINVAL
			return
		}
		if t.noNewPrivs {
			t.AX = 1
		}
	case unix.PR_GET_KEEPCAPS, unix.PR_GET_SECCOMP, unix.PR_GET_TIMING, unix.PR_GET_SECUREBITS:
	case unix.PR_SET_CHILD_SUBREAPER:
		p.subreaper = 0
		if t.SI != 0 {
			p.subreaper = 1
		}
	case unix.PR_GET_CHILD_SUBREAPER:
		if !write32(c, t.SI, p.subreaper) {
			t.AX = eFAULT
		}
	case unix.PR_GET_TSC:
		if !write32(c, t.SI, unix.PR_TSC_ENABLE) {
			t.AX = eFAULT
		}
	case unix.PR_CAPBSET_READ:
		t.AX = 1
		if t.SI > 40 {
			t.AX = eINVAL
		}
	default:
		t.AX = eINVAL
	}
}

// sysPrlimit64: prlimit64(2).
func sysPrlimit64(c *CPU, t *Thread) {
	p := processArg(t, t.DI)
	if p == nil {
		return
	}
	if uint32(t.SI) >= 16 {
		t.AX = eINVAL
		return
	}
	l := &p.limits[t.SI&15]
	var n unix.Rlimit
	if t.DX != 0 {
		if !copyIn(c, unsafe.Pointer(&n), t.DX, 16) {
			t.AX = eFAULT
			return
		}
		if n.Cur > n.Max {
			t.AX = eINVAL
			return
		}
		if n.Max > l.Max && !t.capable() || uint32(t.SI) == unix.RLIMIT_NOFILE && n.Max > maxFD {
			t.AX = ePERM
			return
		}
	}
	if t.R10 != 0 && !copyOut(c, t.R10, unsafe.Pointer(l), 16) {
		t.AX = eFAULT
		return
	}
	if t.DX != 0 {
		l.Cur, l.Max = n.Cur, n.Max
		p.limitsChanged()
		if uint32(t.SI) == unix.RLIMIT_CPU {
			p.limitCPU(c)
		}
	}
	t.AX = 0
}

// sysGetrlimit: getrlimit(2).
func sysGetrlimit(c *CPU, t *Thread) {
	t.AX = eINVAL
	if uint32(t.DI) < 16 {
		t.AX = 0
		if !copyOut(c, t.SI, unsafe.Pointer(&t.process.limits[t.DI&15]), 16) {
			t.AX = eFAULT
		}
	}
}

// sysSetrlimit: setrlimit(2).
func sysSetrlimit(c *CPU, t *Thread) {
	var n unix.Rlimit
	switch {
	case uint32(t.DI) >= 16:
		t.AX = eINVAL
	case !copyIn(c, unsafe.Pointer(&n), t.SI, 16):
		t.AX = eFAULT
	case n.Cur > n.Max:
		t.AX = eINVAL
	case n.Max > t.process.limits[t.DI&15].Max && !t.capable() || uint32(t.DI) == unix.RLIMIT_NOFILE && n.Max > maxFD:
		t.AX = ePERM
	default:
		l := &t.process.limits[t.DI&15]
		l.Cur, l.Max = n.Cur, n.Max
		t.process.limitsChanged()
		if uint32(t.DI) == unix.RLIMIT_CPU {
			t.process.limitCPU(c)
		}
		t.AX = 0
	}
}

var rusage [18]uint64

func putTimes(user, system uint64) {
	rusage[0], rusage[1] = user/second, user%second/1000
	rusage[2], rusage[3] = system/second, system%second/1000
}

// sysGetrusage: getrusage(2).
func sysGetrusage(c *CPU, t *Thread) {
	for i := range rusage {
		rusage[i] = 0
	}
	p := t.process
	switch int32(t.DI) {
	case 0: // RUSAGE_SELF
		putTimes(p.split())
		rusage[8] = p.faults
		rusage[16], rusage[17] = p.switches, p.preempted
		for o := p.first; o != nil; o = o.groupNext {
			rusage[16] += o.switches
			rusage[17] += o.preempted
		}
	case 1: // RUSAGE_THREAD
		putTimes(t.split())
		rusage[16], rusage[17] = t.switches, t.preempted
	case -1: // RUSAGE_CHILDREN
	default:
		t.AX = eINVAL
		return
	}
	t.AX = 0
	if !copyOut(c, t.SI, unsafe.Pointer(&rusage), 144) {
		t.AX = eFAULT
	}
}

// sysTimes: times(2), in ticks of 10 ms.
func sysTimes(c *CPU, t *Thread) {
	const tick = second / 100
	if t.DI != 0 {
		user, system := t.process.split()
		tms := [4]uint64{user / tick, system / tick}
		if !copyOut(c, t.DI, unsafe.Pointer(&tms), 32) {
			t.AX = eFAULT
			return
		}
	}
	t.AX = nowNS() / tick
}

// sysinfoBuffer is struct sysinfo of x86_64, 112 bytes.
var sysinfoBuffer [14]uint64

// sysSysinfo: sysinfo(2).
func sysSysinfo(c *CPU, t *Thread) {
	b := &sysinfoBuffer
	for i := range b {
		b[i] = 0
	}
	b[0] = nowNS() / second
	b[4], b[5] = memory.Total()*pageSize, memory.Free()*pageSize
	b[10] = uint64(nthreads) & 0xffff // procs
	b[13] = 1                         // mem_unit
	t.AX = 0
	if !copyOut(c, t.DI, unsafe.Pointer(b), 112) {
		t.AX = eFAULT
	}
}

// sysGetcpu: getcpu(2).
func sysGetcpu(c *CPU, t *Thread) {
	t.AX = 0
	if t.DI != 0 && !write32(c, t.DI, uint32(c.number)) || t.SI != 0 && !write32(c, t.SI, 0) {
		t.AX = eFAULT
	}
}

// sysPersonality: personality(2): PER_LINUX, which may be set and asked for.
func sysPersonality(c *CPU, t *Thread) {
	t.AX = uint64(t.process.personality)
	if uint32(t.DI) != 0xffffffff {
		t.process.personality = uint32(t.DI)
	}
}
