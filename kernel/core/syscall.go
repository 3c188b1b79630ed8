//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// syscall: t's frame holds the registers; the exit path resumes c.cur.
func syscall(c *CPU, t *Thread) {
	if n := t.frame.AX; n < uint64(len(systab)) {
		if f := systab[n]; f != nil {
			f(c, t)
			return
		}
	}
	syscallSlow(c, t)
}

func fwd(c *CPU, t *Thread) {
	if t.frame.CS == kCS {
		svcSyscall(c, t)
		return
	}
	forward(c, t)
}

func syscallSlow(c *CPU, t *Thread) {
	switch t.frame.AX {
	case 0x3000: // switches so far, for the idle test
		t.frame.AX = nswitch
	case 0x2001:
		fwd(c, t)
	case 186:
		t.frame.AX = t.tid
	case 9:
		sysMmap(c, t)
	case 10:
		sysMprotect(c, t)
	case 11:
		sysMunmap(c, t)
	case 12:
		sysBrk(c, t)
	case 25:
		sysMremap(c, t)
	case 26:
		sysMsync(c, t)
	case 27:
		sysMincore(c, t)
	case 28:
		sysMadvise(c, t)
	case 149:
		sysMlock(c, t)
	case 150:
		sysMunlock(c, t)
	case 151:
		sysMlockall(c, t)
	case 152:
		sysMunlockall(c, t)
	case 325:
		sysMlock2(c, t)
	case 202:
		sysFutex(c, t)
	case 56:
		sysClone(c, t)
	case 60:
		exitThread(c, t)
	case 231:
		if t.frame.CS == kCS {
			die("services exited")
		}
		exitSystem(t.frame.DI)
	case 169: // reboot
		exitSystem(0)
	case 24:
		t.frame.AX = 0
		if runHead != nil {
			enqueue(c, t)
			schedule(c)
		}
	case 35, 230:
		p := t.frame.DI
		if t.frame.AX == 230 {
			p = t.frame.DX
		}
		ns, ok := getTimespec(c, t, p)
		if !ok {
			t.frame.AX = neg(14)
			return
		}
		if sigBreak(c, t, neg(4)) {
			return
		}
		t.frame.AX = 0
		t.blocked = bSleep
		timerAdd(c, t, nowNS()+ns)
		schedule(c)
	case 228:
		ns := nowNS()
		if uput64(c, t, t.frame.SI, ns/1000000000) && uput64(c, t, t.frame.SI+8, ns%1000000000) {
			t.frame.AX = 0
		} else {
			t.frame.AX = neg(14)
		}
	case 158: // arch_prctl
		if t.frame.DI == 0x1002 {
			t.fs = t.frame.SI
			x86.WriteFS(t.frame.SI)
			t.frame.AX = 0
		} else {
			t.frame.AX = neg(22)
		}
	case 204: // sched_getaffinity
		uput64(c, t, t.frame.DX, 1<<ncpu-1)
		t.frame.AX = 8
	case 13:
		sysSigaction(c, t)
	case 14:
		sysSigprocmask(c, t)
	case 15:
		sysSigreturn(c, t)
	case 131:
		sysSigaltstack(c, t)
	case 218:
		t.frame.AX = t.tid
	case 273:
		t.frame.AX = 0
	case 234, 200: // tgkill, tkill
		tid, sig := t.frame.SI, t.frame.DX
		if t.frame.AX == 200 {
			tid, sig = t.frame.DI, t.frame.SI
		}
		t.frame.AX = 0
		if x := findThread(tid); x != nil && sig != 0 && sig <= 64 {
			sendSig(c, x, sig)
		} else {
			t.frame.AX = neg(3)
		}
	case 302, 157, 97:
		t.frame.AX = neg(38)
	case 0x1000:
		recv(c, t)
	case 291:
		t.frame.AX = epFD
	case 290:
		t.frame.AX = evFD
	case 233:
		sysEpollCtl(c, t)
	case 281, 232:
		sysEpollWait(c, t)
	default:
		if t.frame.DI == evFD && t.frame.AX <= 1 {
			if t.frame.AX == 1 {
				evWrite(c, t)
			} else {
				evRead(c, t)
			}
			return
		}
		if t.frame.CS == kCS {
			if n := t.frame.AX; n >= 0x1100 && n < 0x1120 || n == abi.HyperMemoryInfo || n == abi.HyperHugePages {
				memoryCall(c, t, n)
				return
			}
			svcSyscall(c, t)
			return
		}
		forward(c, t)
	}
}

var systab [512]func(*CPU, *Thread)

func initSystab() {
	systab[110] = sysGetppid
	systab[39] = sysGetpid
	systab[202] = sysFutex
	systab[5] = fwd
	systab[17] = fwd
	systab[257] = fwd
	systab[3] = fwd
}

func sysGetppid(c *CPU, t *Thread) { t.frame.AX = 1 }
func sysGetpid(c *CPU, t *Thread)  { t.frame.AX = t.pid }

func neg(e uint64) uint64 { return -e }
